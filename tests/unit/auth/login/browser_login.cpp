/// Logging in: what is opened, what comes back, and what does not count.
#include "auth/login/browser_login.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace {

using hondana::errc;
using hondana::login::browser_login_options;
using hondana::login::browser_program;
using hondana::login::is_browser_safe;
using hondana::login::make_browser_login;
using hondana::login::open_browser;

constexpr const char* page = "https://auth.example/authorize?state=s&x=1";

TEST(browser, is_shown_plain_addresses_of_https_or_this_machine_only) {
  for (const auto* good : {page, "https://a.example", "http://127.0.0.1:4000/x?y=(1)&z=;", "http://localhost/",
                           "http://as.localhost:1/", "http://[::1]:1/#f"})
    EXPECT_TRUE(is_browser_safe(good)) << good;
  for (const auto* bad : {"",
                          "https://",
                          "http://a.example/",
                          "http://127.0.0.1.evil.example/",
                          "http://127.0.0.1:80@evil.example/",
                          "http://localhost:x/",
                          "javascript:alert(1)",
                          "file:///etc/passwd",
                          "HTTPS://a.example/",
                          "-https://a.example/",
                          "--help",
                          " https://a.example/",
                          "https://a.example/\n",
                          "https://a.example/ b",
                          "https://a.example/$(calc.exe)",
                          "https://a.example/`id`",
                          "https://a.example/'",
                          "https://a.example/\"",
                          "https://a.example/\\",
                          "https://a.example/|x",
                          "https://a.example/\xC3\xA4",
                          "https://user@a.example/",
                          "a:$(cmd.exe /c whoami)"})
    EXPECT_FALSE(is_browser_safe(bad)) << bad;
  EXPECT_FALSE(is_browser_safe("https://a.example/" + std::string(20'000, 'x')));
}

TEST(browser, is_the_named_program_or_xdg_open_and_none_where_no_page_is_seen) {
  using all = std::map<std::string, std::string>;
  const auto chosen = [](const all& set, bool is_root = false) {
    const auto of = [&set](const char* name) {
      const auto found = set.find(name);
      return found == set.end() ? std::string() : found->second;
    };
    return browser_program(of, is_root).value_or("none");
  };
  EXPECT_EQ(chosen({}), "none");
  EXPECT_EQ(chosen({{"BROWSER", "firefox"}}), "none");
  EXPECT_EQ(chosen({{"DISPLAY", ":0"}}), "xdg-open");
  EXPECT_EQ(chosen({{"WAYLAND_DISPLAY", "wayland-0"}}), "xdg-open");
  EXPECT_EQ(chosen({{"DISPLAY", ":0"}, {"BROWSER", "firefox"}}), "firefox");
  EXPECT_EQ(chosen({{"DISPLAY", ":0"}, {"BROWSER", "/usr/bin/my-browser"}}), "/usr/bin/my-browser");
  for (const auto* odd : {"firefox %s", "a:b", "-x", "$(id)", "a;b", "sh -c x"})
    EXPECT_EQ(chosen({{"DISPLAY", ":0"}, {"BROWSER", odd}}), "xdg-open") << odd;
  EXPECT_EQ(chosen({{"DISPLAY", ":0"}}, true), "none");
  EXPECT_EQ(chosen({{"DISPLAY", ":0"}, {"BROWSER", "firefox"}}, true), "firefox");
}

/// A folder that goes with the test.
struct own_folder {
  own_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "login-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  ~own_folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// A program that writes down how it was called, through a pipe that the test reads.
std::string called_with(const std::string& url) {
  const own_folder folder;
  const auto pipe = (folder.path / "heard").string();
  const auto program = (folder.path / "browser").string();
  std::ofstream(program) << "#!/bin/sh\nfor one in \"$#\" \"$@\"; do printf '%s|' \"$one\"; done > " << pipe << "\n";
  ::chmod(program.c_str(), 0700);
  if (::mkfifo(pipe.c_str(), 0600) != 0) return "no pipe";
  if (const auto opened = open_browser(program, url); !opened) return opened.error().public_text;
  std::stringstream out;
  out << std::ifstream(pipe).rdbuf();
  return out.str();
}

TEST(browser, gets_the_address_as_its_one_argument_whatever_it_looks_like) {
  EXPECT_EQ(called_with("https://a.example/?a=b&c=(d)&e=;f&g=*&h=~&i=!x"), "1|https://a.example/?a=b&c=(d)&e=;f&g=*&h=~&i=!x|");
  EXPECT_NE(called_with("https://a.example/$(id)").find("not opened"), std::string::npos);
}

TEST(browser, that_is_not_there_is_named) {
  const auto opened = open_browser("/nowhere/browser", page);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::source_unavailable);
  EXPECT_NE(opened.error().public_text.find("/nowhere/browser"), std::string::npos);
  EXPECT_FALSE(open_browser("sh -c", page));
}

/// What a log-in says, line by line.
struct said_lines {
  void add(std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
    changed.notify_all();
  }
  bool has(const std::string& words) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, hondana_test::event_deadline, [&] {
      return std::any_of(lines.begin(), lines.end(), [&](const auto& one) { return one.find(words) != std::string::npos; });
    });
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
};

/// A log-in under way.
struct login_under_way {
  explicit login_under_way(browser_login_options options = {}) {
    options.print = [this](std::string_view line) { said.add(line); };
    login = make_browser_login(std::move(options));
    url = login->listen("").value_or("");
    came = std::async(std::launch::async, [this] { return login->visit(page, stop.get_token()); });
  }
  [[nodiscard]] int port() const { return std::stoi(url.substr(url.rfind(':') + 1)); }

  said_lines said;
  std::stop_source stop;
  std::unique_ptr<hondana::login_handler> login;
  std::string url;
  std::future<hondana::result<std::string>> came;
};

int connected_to(int port) {
  const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(out, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return -1;
  return out;
}

/// Asks, and gives the whole answer.
std::string asked(int port, const std::string& target, std::string host = {}) {
  if (host.empty()) host = "127.0.0.1:" + std::to_string(port);
  const int socket = connected_to(port);
  const auto request = "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  std::string out;
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(socket, buffer, sizeof buffer, 0)) > 0;)
      out.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(socket);
  return out;
}

TEST(browser_login, gives_the_address_that_the_browser_comes_back_to) {
  login_under_way one;
  EXPECT_EQ(one.url, "http://127.0.0.1:" + std::to_string(one.port()) + "/callback");
  EXPECT_TRUE(one.said.has(page));
  const auto answer = asked(one.port(), "/callback?code=c&state=s");
  EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(answer.find("text/plain"), std::string::npos);
  const auto came = one.came.get();
  ASSERT_TRUE(came);
  EXPECT_EQ(*came, one.url + "?code=c&state=s");
  // Nobody listens any more.
  EXPECT_EQ(connected_to(one.port()), -1);
}

TEST(browser_login, is_not_ended_by_other_requests_or_by_silence) {
  // No guest takes too long.
  const hondana::manual_clock clock;
  login_under_way one;
  std::array<int, 20> silent{};
  for (int& socket : silent) socket = connected_to(one.port());
  EXPECT_EQ(asked(one.port(), "/favicon.ico").substr(9, 3), "404");
  EXPECT_EQ(asked(one.port(), "/callback?code=evil&state=s", "evil.example").substr(9, 3), "421");
  EXPECT_EQ(asked(one.port(), "/callback").substr(9, 3), "400");
  EXPECT_EQ(asked(one.port(), "/callback?code=evil&state=guess").substr(9, 3), "400");
  EXPECT_EQ(asked(one.port(), "/callback?error=access_denied&state=guess").substr(9, 3), "400");
  EXPECT_EQ(one.came.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(asked(one.port(), "/callback?error=access_denied&state=s").substr(9, 3), "200");
  EXPECT_EQ(one.came.get().value_or(""), one.url + "?error=access_denied&state=s");
  for (const int socket : silent) ::close(socket);
}

TEST(browser_login, comes_back_to_the_port_it_was_registered_with_unless_that_is_taken) {
  // Another process may have got the port meanwhile, but not each time.
  std::string before;
  std::string url_again;
  std::unique_ptr<hondana::login_handler> again;
  for (int i = 0; i < 20 && (before.empty() || url_again != before); ++i) {
    before = make_browser_login({})->listen("").value_or("none");
    again = make_browser_login({});
    url_again = again->listen(before).value_or("");
  }
  EXPECT_EQ(url_again, before);
  const auto other = make_browser_login({});
  const auto url = other->listen(before).value_or("");
  EXPECT_NE(url, before);
  EXPECT_EQ(url.find("http://127.0.0.1:"), 0u);
  EXPECT_EQ(make_browser_login({})->listen("http://evil.example:80/callback").value_or("").find("http://127.0.0.1:"), 0u);
}

TEST(browser_login, comes_back_to_the_port_that_is_named_or_says_that_it_is_taken) {
  // Another process may have got the port meanwhile, but not each time.
  std::uint16_t port = 0;
  std::string here;
  std::string got;
  std::unique_ptr<hondana::login_handler> named;
  for (int i = 0; i < 20 && (here.empty() || got != here); ++i) {
    const auto url = make_browser_login({})->listen("").value_or("http://127.0.0.1:0/");
    port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    here = "http://127.0.0.1:" + std::to_string(port) + "/callback";
    named = make_browser_login({.port = port});
    got = named->listen("http://127.0.0.1:1/callback").value_or("");
  }
  EXPECT_EQ(got, here);
  const auto taken = make_browser_login({.port = port})->listen("");
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().public_text.find(std::to_string(port)), std::string::npos);
}

TEST(browser_login, takes_an_address_that_is_pasted) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  login_under_way one({.terminal = ends[0]});
  const std::string lines = "\nhttp://evil.example/callback?code=c\n  " + one.url + "?code=c&state=s \r\n";
  ASSERT_EQ(::write(ends[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  EXPECT_EQ(one.came.get().value_or(""), one.url + "?code=c&state=s");
  EXPECT_TRUE(one.said.has("not the expected address"));
  EXPECT_TRUE(one.said.has("another machine"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(browser_login, goes_on_when_the_terminal_is_closed_and_stops_when_it_is_told_to) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  login_under_way one({.terminal = ends[0]});
  EXPECT_TRUE(one.said.has("another machine"));
  one.stop.request_stop();
  const auto came = one.came.get();
  ASSERT_FALSE(came);
  EXPECT_EQ(came.error().code, errc::cancelled);
  ::close(ends[0]);
}

TEST(browser_login, does_not_wait_for_ever) {
  login_under_way one({.timeout = std::chrono::milliseconds(30)});
  const auto came = one.came.get();
  ASSERT_FALSE(came);
  EXPECT_EQ(came.error().code, errc::timed_out);
}

TEST(browser_login, shows_no_page_that_may_not_be_shown) {
  for (const auto* bad : {"javascript:alert(1)", "https://a.example/$(id)", "-x", "file:///etc/passwd"}) {
    said_lines said;
    const auto login = make_browser_login({.print = [&](std::string_view line) { said.add(line); }});
    ASSERT_TRUE(login->listen(""));
    const auto came = login->visit(bad, {});
    ASSERT_FALSE(came) << bad;
    EXPECT_TRUE(said.lines.empty());
  }
}

TEST(browser_login, tells_the_address_when_the_browser_cannot_be_opened) {
  login_under_way one({.program = "/nowhere/browser"});
  EXPECT_TRUE(one.said.has("/nowhere/browser"));
  EXPECT_TRUE(one.said.has(page));
  one.stop.request_stop();
  EXPECT_FALSE(one.came.get());
}

}  // namespace

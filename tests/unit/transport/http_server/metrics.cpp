/// The figures of a server, as Prometheus and its tools take them.
#include "transport/http_server/status_pages.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_server/request_head.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

extern char** environ;

namespace {

using hondana_test::client;
using hondana_test::eventually;
using hondana_test::get;
using hondana_test::library;
using hondana_test::post;
namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;

const std::string any_port = "127.0.0.1:0";

/// What a whole line of the page says; -1 when there is no such line.
double value_on(const std::string& page, const std::string& series) {
  const auto at = page.find('\n' + series + ' ');
  return at == std::string::npos ? -1 : std::strtod(page.c_str() + at + series.size() + 2, nullptr);
}

std::string page_of(std::uint16_t port, const std::string& more = {}) {
  client peer(port);
  peer.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  return got.body;
}

/// A program with pipes to what it reads and from what it writes; ended by its process id.
class child_program {
 public:
  explicit child_program(std::vector<std::string> words) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, out[1], 2);
    std::vector<char*> arguments;
    for (auto& one : words) arguments.push_back(one.data());
    arguments.push_back(nullptr);
    const int failed = ::posix_spawnp(&process_, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    if (failed != 0) throw std::runtime_error("cannot start " + words.front());
  }
  ~child_program() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(from_);
    if (to_ >= 0) ::close(to_);
  }
  child_program(const child_program&) = delete;
  child_program& operator=(const child_program&) = delete;

  /// What it reads in all.
  void give(std::string_view text) {
    while (!text.empty()) {
      const auto count = ::write(to_, text.data(), text.size());
      if (count <= 0) throw std::runtime_error("it does not read");
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    ::close(std::exchange(to_, -1));
  }
  /// Waits until it says so; false at its end, or when it takes too long.
  bool says(std::string_view what) {
    const auto until = steady::now() + hondana_test::event_deadline;
    while (said.find(what) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady::now()).count();
      pollfd events{from_, POLLIN, 0};
      char some[4096];
      if (left <= 0 || ::poll(&events, 1, static_cast<int>(left)) <= 0) return false;
      const auto count = ::read(from_, some, sizeof some);
      if (count <= 0) return false;
      said.append(some, static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Its exit code, with all it says in `said`.
  int ends() {
    (void)says(std::string_view("\0\0", 2));
    int how = 0;
    ::waitpid(std::exchange(process_, -1), &how, 0);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  }
  std::string said;

 private:
  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
};

std::string checked_by_promtool(const std::string& page) {
  child_program tool({"promtool", "check", "metrics"});
  tool.give(page);
  const auto code = tool.ends();
  return code == 0 ? tool.said : "exit " + std::to_string(code) + ": " + tool.said;
}

TEST(metrics_page, has_what_the_server_counts_of_itself) {
  library with({}, {}, any_port);
  const auto before = page_of(with.service->admin_port());
  client peer(with.port());
  for (int i = 0; i < 3; ++i) {
    peer.send(post(library::read("memo:///a", std::to_string(i))));
    EXPECT_EQ(peer.receive().status, 200);
  }
  peer.send(post(library::read("memo:///zzz", "9")));
  (void)peer.receive();
  const auto after = page_of(with.service->admin_port());
  const auto more = [&](const std::string& series) {
    return value_on(after, series) - std::max(value_on(before, series), 0.0);
  };
  EXPECT_EQ(more(R"(hondana_requests_total{method="resources/read",outcome="ok",protocol="modern"})"), 3);
  EXPECT_EQ(more(R"(hondana_requests_total{method="resources/read",outcome="-32602",protocol="modern"})"), 1);
  EXPECT_EQ(more(R"(hondana_request_duration_seconds_count{method="resources/read"})"), 4);
  EXPECT_EQ(more(R"(hondana_request_duration_seconds_bucket{le="+Inf",method="resources/read"})"), 4);
  EXPECT_EQ(more(R"(hondana_source_calls_total{call="read",outcome="ok",source="shelf"})"), 3);
  EXPECT_EQ(more(R"(hondana_source_calls_total{call="read",outcome="resource_not_found",source="shelf"})"), 1);
  EXPECT_EQ(value_on(after, R"(hondana_source_up{source="shelf"})"), 1);
  EXPECT_EQ(value_on(after, "hondana_http_connections"), 1);
  EXPECT_EQ(value_on(after, R"(hondana_pool_threads{pool="shelf"})"), 1);
  EXPECT_GT(more(R"(hondana_received_bytes_total{transport="http"})"), 400);
  EXPECT_GT(more(R"(hondana_sent_bytes_total{transport="http"})"), 400);
  EXPECT_GT(value_on(after, "process_resident_memory_bytes"), 1e6);
  EXPECT_NE(after.find("hondana_build_info{version=\""), std::string::npos);
}

TEST(metrics_page, names_no_resource_and_tells_of_a_source_that_fails) {
  library with({}, {}, any_port);
  with.source->is_well = false;
  client peer(with.port());
  peer.send(post(library::read("memo:///very-private", "1")));
  (void)peer.receive();
  const auto page = page_of(with.service->admin_port());
  EXPECT_EQ(page.find("very-private"), std::string::npos);
  EXPECT_EQ(page.find("memo:"), std::string::npos);
  EXPECT_EQ(page.find("/home/user"), std::string::npos);
  EXPECT_EQ(value_on(page, R"(hondana_source_up{source="shelf"})"), 0);
}

TEST(metrics_page, stands_with_health_and_refuses_strangers) {
  library with;
  client peer(with.port());
  peer.send(get("/metrics"));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.fields.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  peer.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive(false).status, 200);
  peer.send("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 405);
  client stranger(with.port());
  stranger.send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(stranger.receive().status, 403);
  library apart({}, {}, any_port);
  client there(apart.port());
  there.send(get("/metrics"));
  EXPECT_EQ(there.receive().status, 404) << "the reports have an address of their own";
}

TEST(metrics_page, is_open_metrics_for_whoever_prefers_it) {
  library with({}, {}, any_port);
  client peer(with.service->admin_port());
  peer.send(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text;version=1.0.0,"
      "application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n\r\n");
  const auto got = peer.receive();
  EXPECT_EQ(got.fields.at("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(got.body.ends_with("# EOF\n"));
  EXPECT_NE(got.body.find("# TYPE hondana_requests counter\n"), std::string::npos);
}

TEST(open_metrics, are_preferred_by_weight) {
  using hondana::transport::http_server::prefers_open_metrics;
  EXPECT_TRUE(prefers_open_metrics("application/openmetrics-text"));
  EXPECT_TRUE(prefers_open_metrics("application/openmetrics-text; version=1.0.0; charset=utf-8"));
  EXPECT_TRUE(prefers_open_metrics("text/plain;q=0.5, application/OpenMetrics-text;q=0.6"));
  EXPECT_FALSE(prefers_open_metrics("text/plain;q=0.5, application/openmetrics-text;q=0.25"));
  EXPECT_FALSE(prefers_open_metrics("application/openmetrics-text;q=0"));
  EXPECT_FALSE(prefers_open_metrics("application/openmetrics-text;version=2.0.0"));
  EXPECT_FALSE(prefers_open_metrics("*/*"));
  EXPECT_FALSE(prefers_open_metrics(""));
}

TEST(metrics_page, passes_the_check_of_promtool) {
  library with({}, {}, any_port);
  client peer(with.port());
  peer.send(post(library::read("memo:///a", "1")));
  (void)peer.receive();
  EXPECT_EQ(checked_by_promtool(page_of(with.service->admin_port())), "");
}

/// Prometheus waits for five seconds before its first scrape.
TEST(metrics_page_timing, is_scraped_by_prometheus) {
  library with({}, {}, any_port);
  client peer(with.port());
  for (int i = 0; i < 5; ++i) {
    peer.send(post(library::read("memo:///a", std::to_string(i))));
    (void)peer.receive();
  }
  const auto counted = value_on(page_of(with.service->admin_port()),
                                R"(hondana_requests_total{method="resources/read",outcome="ok",protocol="modern"})");
  char folder[] = "/tmp/hondana_metrics_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string at(folder);
  std::ofstream(at + "/prometheus.yml") << "global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: hondana\n"
                                        << "    static_configs: [{targets: ['127.0.0.1:" << with.service->admin_port()
                                        << "']}]\n";
  {
    child_program scraper({"prometheus", "--config.file=" + at + "/prometheus.yml", "--storage.tsdb.path=" + at + "/data",
                           "--web.listen-address=" + any_port});
    ASSERT_TRUE(scraper.says("Server is ready to receive web requests")) << scraper.said;
    const std::string named = "msg=\"Listening on\" address=127.0.0.1:";
    ASSERT_TRUE(scraper.says(named)) << scraper.said;
    const auto port = static_cast<std::uint16_t>(std::stoi(scraper.said.substr(scraper.said.find(named) + named.size(), 5)));
    const auto ask = [port](const std::string& target) {
      client asking(port);
      asking.send(get(target));
      return asking.receive().body;
    };
    const std::string query =
        "/api/v1/query?query=hondana_requests_total%7Bmethod%3D%22resources%2Fread%22%2Coutcome%3D%22ok%22%7D";
    std::string said;
    const std::string wanted = ",\"" + std::to_string(static_cast<int>(counted)) + "\"]";
    EXPECT_TRUE(eventually([&] {
      said = ask(query);
      return said.find(wanted) != std::string::npos;
    })) << said;
    // A scrape may take longer than Prometheus waits for it.
    EXPECT_TRUE(eventually([&] {
      said = ask("/api/v1/targets");
      return said.find("\"health\":\"up\"") != std::string::npos && said.find("\"lastError\":\"\"") != std::string::npos;
    })) << said;
  }
  fs::remove_all(at);
}

}  // namespace

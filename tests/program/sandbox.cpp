/// The sandbox around the real program: every thread of it is held, what sources need works, and a defect gets no further.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

namespace fs = std::filesystem;
using program_test::departure;
using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::patience;
using program_test::process;
using program_test::read_request;
using program_test::request;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

/// Whether this kernel holds what the tests are about; they are skipped on one that does not.
bool is_held_here() {
  static const bool is_held =
      run({"check", "--json", "--sandbox", "auto", "/usr/share/zoneinfo/Etc"})
          .output.find(R"("files":true,"ports":true,"signals":true,"systemCalls":true)") != std::string::npos;
  return is_held;
}
#define NEEDS_SANDBOX() \
  if (!is_held_here()) GTEST_SKIP() << "this kernel has no sandbox, or not all of it"

std::string text_read_from(http_client& by, const std::string& uri) {
  const auto answer = message(by.post(read_request(1, uri), "resources/read", uri));
  if (!answer.contains("result")) return boost::json::serialize(answer);
  return std::string(answer.at("result").at("contents").at(0).at("text").as_string());
}

std::set<std::string> listed_names(http_client& by) {
  std::set<std::string> all;
  const auto answer = message(by.post(request(1, "resources/list"), "resources/list"));
  for (const auto& one : answer.at("result").at("resources").as_array()) all.emplace(one.at("name").as_string());
  return all;
}

/// Waits until the name is listed; what makes it so may take a moment.
bool comes_to_list(http_client& by, const std::string& name) {
  return hondana_test::eventually([&] { return listed_names(by).contains(name); });
}

/// A member of /proc/…/status, without the spaces before it.
std::string status_of(const fs::path& task, std::string_view name) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name) && line.at(name.size()) == ':')
      return line.substr(line.find_first_not_of("\t ", name.size() + 1));
  }
  return {};
}

/// The process whose command line has these words in a row, among those that `parent` has started; nothing when there is none.
std::optional<pid_t> child_of(pid_t parent, std::string_view word) {
  for (const auto& one : fs::directory_iterator("/proc")) {
    const auto name = one.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc() ||
        status_of(one.path(), "PPid") != std::to_string(parent))
      continue;
    std::ifstream words(one.path() / "cmdline");
    const std::string all((std::istreambuf_iterator<char>(words)), {});
    if (all.find(word) != std::string::npos) return pid;
  }
  return {};
}

/// The process that listens on a port is the one of which this is asked.
void expect_all_threads_held(pid_t pid, std::size_t at_least) {
  std::size_t threads = 0;
  for (const auto& one : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const auto seccomp = status_of(one.path(), "Seccomp");
    if (seccomp.empty()) continue;  // it has ended meanwhile
    ++threads;
    EXPECT_EQ(seccomp, "2") << status_of(one.path(), "Name");
    EXPECT_EQ(status_of(one.path(), "NoNewPrivs"), "1") << status_of(one.path(), "Name");
  }
  EXPECT_GE(threads, at_least);
}

std::string mounted(const std::string& name, const std::string& served_folder, std::string_view more = {}) {
  return "[[source]]\ntype = \"mcp\"\nname = \"" + name + "\"\ncommand = [\"" + std::string(HONDANA_PROGRAM) +
         "\", \"stdio\", \"" + served_folder + "\"]\n" + std::string(more);
}
std::string files(const std::string& served_folder) {
  return "[[source]]\ntype = \"files\"\npath = \"" + served_folder + "\"\n";
}

/// What the careless program is asked to do, and what came of it.
class careless {
 public:
  explicit careless(const folder& what)
      : program_({what.path("config/hondana.toml"), what.path("outside/canary")}, {}, HONDANA_CARELESS) {
    const auto line = program_.read_line(within(patience));
    if (!line) throw std::runtime_error("no port: " + program_.errors());
    std::uint16_t port = 0;
    std::from_chars(line->data(), line->data() + line->size(), port);
    peer.emplace(port);
  }
  int tries(const std::string& what, const std::string& with, const std::string& scheme = "careless") {
    return std::stoi(text_read_from(*peer, scheme + ":///" + what + '?' + with));
  }

  std::optional<http_client> peer;

 private:
  process program_;
};

struct places : folder {
  places() {
    put("served/inside", "inside");
    put("served-too/file", "not served");
    put("outside/canary", "canary");
    put("theirs/other", "other");
    fs::create_symlink(path("outside/canary"), path("served/link"));
    put("config/hondana.toml", files("../served") + mounted("team", path("theirs"), "eager = true\n"));
  }
};

TEST(program_sandbox, a_source_with_a_defect_opens_nothing_outside_of_the_served_folders) {
  NEEDS_SANDBOX();
  const places what;
  careless with(what);
  // From a thread of a pool, and from the one that has the connection.
  for (const std::string scheme : {"careless", "hasty"}) {
    EXPECT_EQ(with.tries("open", what.path("served/inside"), scheme), 0);
    for (const auto& outside :
         {what.path("outside/canary"), what.path("served/link"), what.path("served/../outside/canary"),
          what.path("served-too/file"), what.path("theirs/other"), what.path("outside"), std::string("/etc/shadow"),
          std::string("/proc/self/environ"), std::string("/proc/self/mem"), std::string("/root"), std::string("/")}) {
#ifdef HONDANA_IS_SANITIZED
      if (outside.starts_with("/proc")) continue;  // a sanitizer looks there
#endif
      const int error = with.tries("open", outside, scheme);
      EXPECT_EQ(error, EACCES) << outside;
    }
  }
}

TEST(program_sandbox, a_source_with_a_defect_changes_starts_and_reaches_nothing) {
  NEEDS_SANDBOX();
  const places what;
  careless with(what);
  EXPECT_EQ(with.tries("write", what.path("served/inside")), EACCES);
  EXPECT_EQ(with.tries("write", what.path("served/new")), EACCES);
  EXPECT_EQ(with.tries("remove", what.path("served/inside")), EACCES);
  EXPECT_EQ(with.tries("chmod", what.path("outside/canary")), EPERM);
  EXPECT_EQ(with.tries("date", what.path("outside/canary")), EPERM);
  EXPECT_EQ(with.tries("limit", std::to_string(::getpid())), EPERM);
  EXPECT_EQ(with.tries("write", what.path("config/hondana.toml")), EACCES);
  EXPECT_EQ(with.tries("run", "/bin/true"), EPERM);
  EXPECT_EQ(with.tries("connect", "22"), EACCES);
  EXPECT_EQ(with.tries("signal", std::to_string(::getpid())), EPERM);
}

#ifndef HONDANA_IS_SANITIZED
TEST(program_sandbox, no_thread_begins_that_could_open_a_file_outside) {
  NEEDS_SANDBOX();
  const places what;
  careless with(what);
  // Threads of the loops, of pools, of timers, of watching, of a mount and of its channel.
  EXPECT_TRUE(comes_to_list(*with.peer, "other"));
  EXPECT_EQ(text_read_from(*with.peer, what.uri("served/inside")), "inside");
  EXPECT_EQ(with.tries("open", what.path("outside/canary")), EACCES);
  const auto told = text_read_from(*with.peer, "careless:///threads");
  EXPECT_TRUE(told.ends_with(" begun, 0 opened")) << told;
  EXPECT_GE(std::stoi(told), 7) << told;
}
#endif

TEST(program_sandbox, holds_every_thread_of_a_server) {
  NEEDS_SANDBOX();
  const places what;
  what.put("skills/good/SKILL.md", "---\nname: good\ndescription: Good.\n---\n");
  what.put("config/hondana.toml", files("../served") + "[[source]]\ntype = \"skills\"\npath = \"../skills\"\n" +
                                      mounted("team", what.path("theirs"), "eager = true\n"));
  process program({"serve", "--port", "0", "--config", what.path("config/hondana.toml")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  const auto begin = program.errors().find("http://127.0.0.1:") + 17;
  std::uint16_t port = 0;
  std::from_chars(program.errors().data() + begin, program.errors().data() + begin + 5, port);
  http_client peer(port);
  EXPECT_TRUE(comes_to_list(peer, "other"));
  EXPECT_NE(text_read_from(peer, "skill://good/SKILL.md").find("Good."), std::string::npos);
  const auto server = child_of(::getpid(), what.path("config/hondana.toml"));
  ASSERT_TRUE(server);
  expect_all_threads_held(*server, 7);
  // What the mounted server is has a sandbox of its own; the process that started it has none.
  const auto inner = child_of(*server, what.path("theirs"));
  ASSERT_TRUE(inner);
  expect_all_threads_held(*inner, 2);
  const auto starts = child_of(*server, what.path("config/hondana.toml"));
  ASSERT_TRUE(starts);
  EXPECT_EQ(status_of("/proc/" + std::to_string(*starts), "Seccomp"), status_of("/proc/self", "Seccomp"));
}

TEST(program_sandbox, holds_every_thread_over_standard_input_and_output) {
  NEEDS_SANDBOX();
  const places what;
  process program({"stdio", what.path("served")});
  ASSERT_TRUE(program.write(request(1, "resources/list") + '\n', within(patience)));
  ASSERT_TRUE(program.read_line(within(patience))) << program.errors();
  const auto server = child_of(::getpid(), what.path("served"));
  ASSERT_TRUE(server);
  expect_all_threads_held(*server, 3);
  program.end_input();
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_sandbox, what_a_mount_starts_ends_with_a_server_that_is_killed) {
  NEEDS_SANDBOX();
  const places what;
  what.put("config/hondana.toml",
           "[[source]]\ntype = \"mcp\"\nname = \"deaf\"\neager = true\ncommand = [\"/bin/sh\", \"-c\", \"trap '' "
           "TERM HUP PIPE; while :; do sleep 1000; done\", \"" +
               what.path("marker") + "\"]\n");
  served with({"--config", what.path("config/hondana.toml")});
  const auto server = child_of(::getpid(), what.path("config/hondana.toml"));
  ASSERT_TRUE(server);
  std::optional<pid_t> inner;
  ASSERT_TRUE(hondana_test::eventually([&] {
    inner = child_of(*server, what.path("marker"));
    return inner.has_value();
  }));
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, *inner, 0));
  ASSERT_GE(handle, 0);
  EXPECT_TRUE(with.stop(SIGKILL));
  pollfd gone{handle, POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, std::chrono::milliseconds(patience).count()), 1);
  ::close(handle);
}

/// A server whose configuration changes.
struct reloading {
  explicit reloading(const places& what) : at(what), with({"--config", what.path("config/hondana.toml")}), peer(with.port()) {}
  std::string reload(const std::string& text) {
    // As editors and installers do it.
    at.put("config/hondana.toml.new", text);
    fs::rename(at.path("config/hondana.toml.new"), at.path("config/hondana.toml"));
    with.program().signal(SIGHUP);
    return with.program().error_line_with(" configuration", within(patience)).value_or("nothing");
  }
  const places& at;
  served with;
  http_client peer;
};

TEST(program_sandbox, a_reload_that_needs_more_is_refused_and_the_old_configuration_stays) {
  NEEDS_SANDBOX();
  const places what;
  reloading with(what);
  const auto before = listed_names(with.peer);
  const auto first = files("../served");
  for (const auto& [more, wanted] : std::vector<std::pair<std::string, std::string>>{
           {files("../outside"), "\"files\" needs to read " + what.path("outside")},
           {"[[source]]\ntype = \"skills\"\npath = \"../outside\"\n",
            "\"skills\" needs to read " + what.path("config/../outside")},
           {mounted("team", what.path("outside")), "\"team\" starts a program, " + std::string(HONDANA_PROGRAM)},
           {"[[source]]\ntype = \"mcp\"\nname = \"far\"\nurl = \"http://127.0.0.1:1/mcp\"\n", "\"far\" needs to "}}) {
    const auto line = with.reload(first + more);
    EXPECT_NE(line.find("kept the old configuration: restart the server"), std::string::npos) << line;
    EXPECT_NE(line.find(wanted), std::string::npos) << line;
    EXPECT_EQ(listed_names(with.peer), before);
  }
  // Less is no trouble, nor is it when what was there at the start comes back.
  EXPECT_NE(with.reload(first).find("reloaded"), std::string::npos);
  EXPECT_TRUE(listed_names(with.peer).contains("inside"));
  EXPECT_NE(with.reload(first + mounted("team", what.path("theirs"))).find("reloaded"), std::string::npos);
  EXPECT_TRUE(comes_to_list(with.peer, "other"));
}

TEST(program_sandbox, folders_named_for_it_may_be_served_after_a_reload) {
  NEEDS_SANDBOX();
  const places what;
  const std::string also = "[sandbox]\nfolders = [\"../outside\"]\n";
  what.put("config/hondana.toml", files("../served") + also);
  reloading with(what);
  EXPECT_NE(with.reload(files("../served") + files("../outside") + also).find("reloaded"), std::string::npos);
  EXPECT_EQ(text_read_from(with.peer, what.uri("outside/canary")), "canary");
  const auto line = with.reload(files("../served") + "[sandbox]\nmode = \"off\"\n");
  EXPECT_NE(line.find("changes in [sandbox] take effect at the next start"), std::string::npos) << line;
}

TEST(program_sandbox, a_folder_in_the_place_of_a_served_one_is_said_to_be_barred) {
  NEEDS_SANDBOX();
  const places what;
  reloading with(what);
  EXPECT_TRUE(listed_names(with.peer).contains("inside"));
  fs::rename(what.path("served"), what.path("gone"));
  what.put("served/inside", "another");
  EXPECT_NO_THROW(listed_names(with.peer));  // asking makes it look
  EXPECT_TRUE(with.with.program().error_line_with("was replaced by another, which the sandbox blocks", within(patience)))
      << with.with.program().errors();
}

TEST(program_sandbox, tokens_that_are_replaced_are_read_again) {
  NEEDS_SANDBOX();
  const places what;
  const auto file = what.path("config/tokens");
  ASSERT_EQ(run({"token", "new", "--file", file, "first"}).how, well);
  served with({"--tokens", file, what.path("served")});
  const auto made = run({"token", "new", "--file", file, "second"});
  ASSERT_EQ(made.how, well) << made.errors;
  const auto token = made.output.substr(0, made.output.find('\n'));
  program_test::outcome listed;
  EXPECT_TRUE(hondana_test::eventually([&] {
    listed = run({"ls", "--on", with.url(), "--header", "Authorization: Bearer " + token});
    return listed.how == well;
  })) << listed.errors
      << with.program().errors();
  EXPECT_NE(listed.output.find("inside"), std::string::npos) << listed.output;
}

TEST(program_sandbox, lets_a_server_listen_on_unix_sockets_and_remove_them) {
  NEEDS_SANDBOX();
  const places what;
  process program(
      {"serve", "--socket", what.path("outside/mcp.sock"), "--admin", what.path("outside/admin.sock"), what.path("served")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  http_client peer(what.path("outside/mcp.sock"));
  EXPECT_EQ(text_read_from(peer, what.uri("served/inside")), "inside");
  program.signal(SIGTERM);
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
  EXPECT_FALSE(fs::exists(what.path("outside/mcp.sock")));
  EXPECT_FALSE(fs::exists(what.path("outside/admin.sock")));
}

TEST(program_sandbox, lets_a_server_give_its_socket_to_a_group) {
  NEEDS_SANDBOX();
  const places what;
  what.put("config/hondana.toml", files("../served") + "[http]\nsocket = \"" + what.path("outside/mcp.sock") +
                                      "\"\nsocket_mode = \"0660\"\nsocket_group = \"" + std::to_string(::getegid()) + "\"\n");
  process program({"serve", "--config", what.path("config/hondana.toml")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  EXPECT_EQ(fs::status(what.path("outside/mcp.sock")).permissions(), fs::perms(0660));
  http_client peer(what.path("outside/mcp.sock"));
  EXPECT_EQ(text_read_from(peer, what.uri("served/inside")), "inside");
}

TEST(program_sandbox, changes_are_told_of_under_it) {
  NEEDS_SANDBOX();
  const places what;
  reloading with(what);
  EXPECT_TRUE(listed_names(with.peer).contains("inside"));
  what.put("served/folder/new", "new");
  EXPECT_TRUE(comes_to_list(with.peer, "folder/new"));
  EXPECT_EQ(text_read_from(with.peer, what.uri("served/folder/new")), "new");
}

TEST(program_sandbox, is_shown_with_what_each_source_needs) {
  NEEDS_SANDBOX();
  const places what;
  const auto got = run({"check", "--config", what.path("config/hondana.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("sandbox  restricts files, TCP ports and signals (Landlock "), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("  needs  to read " + what.path("served") + '\n'), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("  needs  to start " + std::string(HONDANA_PROGRAM) + '\n'), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("other"), std::string::npos) << "the mount is asked: " << got.output << got.errors;
  const auto off = run({"check", "--sandbox", "off", what.path("served")});
  EXPECT_TRUE(off.output.starts_with("sandbox  off\n")) << off.output;
  const auto json = run({"check", "--json", "--sandbox", "required", what.path("served")});
  EXPECT_EQ(json.how, well) << json.errors;
  EXPECT_NE(json.output.find(R"({"sandbox":{"mode":"required",)"), std::string::npos) << json.output;
  EXPECT_NE(json.output.find(R"({"source":"files","needs":{"read":[")" + what.path("served") + "\"]}}"), std::string::npos)
      << json.output;
  EXPECT_EQ(run({"check", "--sandbox", "perhaps", what.path("served")}).how, (departure{1, 0}));
}

TEST(program_sandbox, a_record_has_a_folder_of_its_own_and_check_shows_it) {
  const places what;
  what.put("config/hondana.toml", files("../served") + "[audit]\npath = \"../record/audit.jsonl\"\n");
  const auto got = run({"check", "--config", what.path("config/hondana.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("audit  " + what.path("record/audit.jsonl") + "\n  needs  to write " + what.path("record") + '\n'),
            std::string::npos)
      << got.output;
  const auto json = run({"check", "--json", "--config", what.path("config/hondana.toml")});
  EXPECT_NE(json.output.find(R"({"audit":")" + what.path("record/audit.jsonl") + R"(","needs":{"write":[")" +
                             what.path("record") + "\"]}}"),
            std::string::npos)
      << json.output;
  // Nothing is made there: it is refused before.
  what.put("config/hondana.toml", files("../served") + "[audit]\npath = \"/var/log/hondana-test.jsonl\"\n");
  for (const auto* verb : {"check", "stdio"}) {
    const auto refused = run({verb, "--config", what.path("config/hondana.toml")});
    EXPECT_EQ(refused.how, (departure{1, 0})) << verb;
    EXPECT_NE(refused.errors.find("hondana.toml:5: audit.path: the sandbox would have to leave all of /var/log writable; give "
                                  "the audit log a folder of its own, such as /var/log/hondana/hondana-test.jsonl"),
              std::string::npos)
        << refused.errors;
  }
  EXPECT_FALSE(fs::exists("/var/log/hondana-test.jsonl"));
}

TEST(program_sandbox, is_off_when_told) {
  const places what;
  process program({"stdio", "--sandbox", "off", what.path("served")});
  ASSERT_TRUE(program.write(request(1, "resources/list") + '\n', within(patience)));
  ASSERT_TRUE(program.read_line(within(patience))) << program.errors();
  const auto server = child_of(::getpid(), what.path("served"));
  ASSERT_TRUE(server);
  const auto status = "/proc/" + std::to_string(*server);
  EXPECT_EQ(status_of(status, "Seccomp"), status_of("/proc/self", "Seccomp"));
  EXPECT_EQ(status_of(status, "NoNewPrivs"), status_of("/proc/self", "NoNewPrivs"));
}

}  // namespace

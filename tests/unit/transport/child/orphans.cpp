/// What becomes of programs when the server that had them started has gone, or the launcher that did it.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/process/program.hpp"
#include "unit/transport/child/started_by.hpp"
#include "unit/transport/child/talk.hpp"

namespace hondana::process {
namespace {

using disk::handle;
using hondana_test::event_deadline;
using hondana_test::eventually;
using hondana_test::goes;
using hondana_test::in_use_for;
using hondana_test::is_there;
using hondana_test::line_of;
using hondana_test::shell;
using hondana_test::talk;
using hondana_test::target_of;

handle handle_of(pid_t pid) { return handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// Heeds nothing, and says its number and that of what it has started.
allowed_command stubborn() { return shell("trap '' TERM HUP; sleep 1000 & echo $$; echo $!; while :; do sleep 1000; done"); }

/// A process of its own, with a launcher that has started `stubborn` for it.
class other_server {
 public:
  other_server() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const handle reading(ends[0]);
    handle writing(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      auto made = launcher::create({stubborn()});
      if (!made) ::_exit(1);
      launcher::install(*made);
      const auto started = program::start(target_of(stubborn()));
      const auto told = std::to_string((*made)->pid()) + '\n' + (started ? line_of(started->output) : std::string("-1")) + '\n';
      static_cast<void>(::write(writing.get(), told.data(), told.size()));
      for (;;) ::pause();
    }
    writing = handle();
    launcher_ = static_cast<pid_t>(std::stol(line_of(reading)));
    group_ = static_cast<pid_t>(std::stol(line_of(reading)));
    program = handle_of(group_);
    EXPECT_TRUE(program.is_open() && is_there(group_));
  }
  ~other_server() {
    end();
    if (launcher_ > 0) ::kill(launcher_, SIGKILL);
    // What the program has started outlives it where only the kernel could kill it, and would hold the output of this test.
    if (group_ > 0) ::kill(-group_, SIGKILL);
  }
  other_server(const other_server&) = delete;
  other_server& operator=(const other_server&) = delete;

  [[nodiscard]] pid_t launching() const { return launcher_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

  handle program;

 private:
  pid_t pid_ = -1;
  pid_t launcher_ = -1;
  pid_t group_ = -1;  // of the program
};

/// Kills the one in use, and waits until it is dead.
void kill_launcher() {
  const auto one = launcher::installed()->pid();
  ::kill(one, SIGKILL);
  siginfo_t found{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(one), &found, WEXITED | WNOWAIT), 0);
}

TEST(orphans, are_killed_by_the_launcher_when_the_server_is) {
  other_server server;
  server.end();
  EXPECT_TRUE(goes(server.program));
}

TEST(orphans, are_killed_by_the_kernel_when_the_server_is_and_its_launcher_cannot_do_it) {
  other_server server;
  ::kill(server.launching(), SIGSTOP);
  server.end();
  EXPECT_TRUE(goes(server.program));
}

TEST(orphans, are_killed_with_all_they_have_started_when_the_launcher_is) {
  const in_use_for with({stubborn()});
  auto started = program::start(target_of(stubborn()));
  ASSERT_TRUE(started) << started.error().public_text;
  const auto pid = static_cast<pid_t>(std::stol(line_of(started->output)));
  const auto inner = handle_of(static_cast<pid_t>(std::stol(line_of(started->output))));
  ASSERT_TRUE(inner.is_open());
  EXPECT_EQ(started->signal(SIGTERM), 0);
  kill_launcher();
  EXPECT_TRUE(goes(inner));
  EXPECT_EQ(with.one->signal(pid, SIGTERM), EPIPE);
  EXPECT_EQ(started->wait_for_exit(std::chrono::steady_clock::now() + event_deadline), "was killed by SIGKILL");
  EXPECT_EQ(started->signal(SIGTERM), ESRCH);
}

TEST(orphans, are_not_killed_when_another_program_of_the_launcher_ends) {
  const auto brief = shell("echo $$");
  const in_use_for with({stubborn(), brief});
  auto lasting = program::start(target_of(stubborn()));
  ASSERT_TRUE(lasting) << lasting.error().public_text;
  ASSERT_FALSE(line_of(lasting->output).empty());
  for (int round = 0; round < 3; ++round) {
    auto started = program::start(target_of(brief));
    ASSERT_TRUE(started) << started.error().public_text;
    EXPECT_EQ(started->wait_for_exit(std::chrono::steady_clock::now() + event_deadline), "ended with code 0");
  }
  EXPECT_FALSE(lasting->wait_for_exit(std::chrono::steady_clock::now()));
  EXPECT_EQ(lasting->signal(0), 0);
}

TEST(orphans, have_no_successors_before_a_restart) {
  const in_use_for with({shell("sleep 1000")});
  kill_launcher();
  const auto started = program::start(target_of(shell("sleep 1000")));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, errc::source_unavailable);
  EXPECT_NE(started.error().public_text.find("restart this process"), std::string::npos) << started.error().public_text;
}

/// Of a program that the kernel cannot find by its group, either.
allowed_command wandering(std::string more) { return {{HONDANA_MISBEHAVING, "wanders", std::move(more)}, {}, {}, {}}; }

TEST(orphans, see_the_end_of_their_input_and_their_peers_hear_why) {
  const manual_clock clock;  // They have as long as they need.
  const in_use_for with({wandering("home")});
  talk one("wanders", "home");
  one.ask(1);
  ASSERT_TRUE(one.heard.answer_to(1));
  kill_launcher();
  for (std::size_t times = 1; times <= 4; ++times) {
    const auto why = one.heard.break_number(times);
    EXPECT_EQ(why.code, errc::source_unavailable);
    EXPECT_NE(why.public_text.find("restart this process"), std::string::npos) << why.public_text;
    one.ask(times + 1);  // the last of them too soon after the others
  }
  EXPECT_TRUE(one.lines().empty()) << "it has ended by itself, and yet: " << one.lines().front();
}

TEST(orphans, that_heed_no_end_of_their_input_are_named_in_the_log) {
  manual_clock clock;
  const in_use_for with({wandering("on")});
  talk one("wanders", "on");
  one.ask(1);
  ASSERT_TRUE(one.heard.answer_to(1));
  kill_launcher();
  ASSERT_TRUE(eventually([&] {
    clock.advance(std::chrono::seconds(1));
    return !one.heard.breaks(0).empty();
  }));
  EXPECT_NE(one.heard.break_number(1).public_text.find("restart this process"), std::string::npos);
  const auto lines = one.lines();
  ASSERT_EQ(lines.size(), 1u);
  const std::string before = "), process ";
  const auto at = lines.front().find(before);
  ASSERT_NE(at, std::string::npos) << lines.front();
  EXPECT_NE(lines.front().find("keeps running"), std::string::npos) << lines.front();
  const auto left = static_cast<pid_t>(std::stol(lines.front().substr(at + before.size())));
  EXPECT_EQ(::kill(left, SIGKILL), 0);
  EXPECT_EQ(::waitpid(left, nullptr, 0), left);
}

}  // namespace
}  // namespace hondana::process

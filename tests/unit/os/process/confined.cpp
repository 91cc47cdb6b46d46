/// Children that do as they are told, and others.
#include "os/process/confined_child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::process {
namespace {

using namespace std::chrono_literals;
using clock = monotonic_clock;
using hondana_test::event_deadline;

/// An open file of that text, which has no name any more.
disk::handle file_of(std::string_view text) {
  std::string path = "/tmp/hondana-process-XXXXXX";
  disk::handle made(::mkostemp(path.data(), O_CLOEXEC));
  disk::handle reading(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::unlink(path.c_str());
  EXPECT_EQ(::write(made.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return reading;
}

struct outcome {
  result<termination> how;
  std::string output;
};

/// Through the launcher when the environment asks for it, see the end of this file.
outcome run(const std::string& what, const limits& most = {.max_time = event_deadline}, std::string_view input = "input",
            const std::stop_token& stop = {}, clock::time_point until = clock::now() + event_deadline) {
  const auto file = file_of(input);
  std::string heard;
  auto how = run_confined(
      {HONDANA_STRANGE_CHILD, what}, file.get(), most,
      [&heard](std::string_view piece) -> result<void> {
        heard += piece;
        return {};
      },
      stop, until);
  return {std::move(how), std::move(heard)};
}

errc code_of(const outcome& of) { return of.how ? errc{} : of.how.error().code; }

TEST(run_confined, gives_the_child_the_file_and_hears_its_output) {
  const auto done = run("copies", {.max_time = event_deadline}, std::string(300'000, 'a') + "end");
  ASSERT_TRUE(done.how);
  EXPECT_EQ(done.how->exit_code, 0);
  EXPECT_EQ(done.output, std::string(300'000, 'a') + "end");
}

TEST(run_confined, lets_the_child_have_nothing_else) {
  ::setenv("HONDANA_SECRET", "x", 1);
  const disk::handle inherited(::open("/etc/passwd", O_RDONLY));
  const auto done = run("tells");
  ASSERT_TRUE(done.how);
  EXPECT_EQ(done.output,
            "LANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nHONDANA_LIMITS=180000 1073741824 67108864 536870912\n"
            "folder /\ngroup own\ndescriptors 3\n");
}

TEST(run_confined, says_how_a_child_ended_and_what_it_complained_of) {
  const auto complaining = run("complains");
  ASSERT_TRUE(complaining.how);
  EXPECT_EQ(complaining.how->exit_code, 3);
  EXPECT_EQ(complaining.how->error_output, "first; second; " + std::string(4096 - 15, '?')) << "in one line";
  const auto dying = run("dies");
  ASSERT_TRUE(dying.how);
  EXPECT_EQ(dying.how->exit_code, -1);
  EXPECT_EQ(dying.how->signal, SIGKILL);
}

TEST(confined_child, remembers_how_it_ended_and_reaps_no_other_child) {
  const auto file = file_of("input");
  auto started = child::start({HONDANA_STRANGE_CHILD, "dies"}, file.get(), {.max_time = event_deadline});
  ASSERT_TRUE(started) << started.error().public_text;
  termination first;
  ASSERT_TRUE(hondana_test::eventually([&] { return started->has_ended(first); }));
  const pid_t other = ::fork();
  if (other == 0) ::_exit(7);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT), 0);
  termination again;
  EXPECT_TRUE(started->has_ended(again));
  EXPECT_EQ(again.exit_code, -1);
  EXPECT_EQ(again.signal, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other) << "the other child was reaped";
}

TEST(run_confined, ends_a_child_that_does_nothing_at_its_time) {
  for (const auto* one : {"is-still", "closes-and-stays"}) {
    EXPECT_EQ(code_of(run(one, {.max_time = 100ms})), errc::timed_out) << one;
    EXPECT_EQ(code_of(run(one, {.max_time = 1h}, "input", {}, clock::now() + 50ms)), errc::timed_out) << one;
  }
}

TEST(run_confined, ends_a_child_that_writes_for_ever) {
  const auto done = run("writes-for-ever", {.max_time = event_deadline, .max_output_bytes = 1u << 20});
  EXPECT_EQ(code_of(done), errc::response_too_large);
  EXPECT_LE(done.output.size(), 1u << 20);
}

TEST(run_confined, ends_when_nobody_waits_any_more) {
  std::stop_source source;
  auto done = std::async(std::launch::async,
                         [&] { return run("is-still", {.max_time = event_deadline}, "input", source.get_token()); });
  source.request_stop();
  EXPECT_EQ(code_of(done.get()), errc::cancelled);
  EXPECT_EQ(code_of(run("copies", {}, "input", source.get_token())), errc::cancelled);
}

TEST(run_confined, ends_with_the_error_of_whoever_hears) {
  const auto file = file_of("x");
  const auto done = run_confined(
      {HONDANA_STRANGE_CHILD, "writes-for-ever"}, file.get(), {.max_time = event_deadline},
      [](std::string_view) -> result<void> { return fail(errc::overloaded, "enough"); }, {}, clock::now() + event_deadline);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::overloaded);
}

TEST(run_confined, leaves_no_process_behind_of_a_child_that_forks) {
  // Whoever is left without a parent becomes ours, and can be waited for.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const auto done = run("forks");
  ASSERT_TRUE(done.how);
  int status = 0;
  const auto pid = static_cast<pid_t>(std::atoi(done.output.c_str()));
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(run_confined, says_that_a_program_cannot_be_started) {
  const auto file = file_of("x");
  const auto hears = [](std::string_view) -> result<void> { return {}; };
  const auto absent = run_confined({"/no/such/program"}, file.get(), {}, hears, {}, clock::now() + event_deadline);
  ASSERT_FALSE(absent);
  const bool is_launched = std::getenv("HONDANA_TEST_LAUNCHER") != nullptr;
  EXPECT_EQ(absent.error().code, is_launched ? errc::access_denied : errc::source_unavailable);
  const auto relative = run_confined({"true"}, file.get(), {}, hears, {}, clock::now() + event_deadline);
  ASSERT_FALSE(relative);
  EXPECT_EQ(relative.error().code, errc::invalid_argument);
}

TEST(run_confined, runs_several_children_at_once) {
  std::vector<std::future<outcome>> all;
  all.reserve(8);
  for (int i = 0; i < 8; ++i)
    all.push_back(
        std::async(std::launch::async, [i] { return run("copies", {.max_time = event_deadline}, std::to_string(i)); }));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get().output, std::to_string(i));
}

TEST(shut_in, lets_a_child_neither_open_nor_write_nor_connect_nor_start_anything) {
  const auto done = run("breaks-out");
  ASSERT_TRUE(done.how);
  EXPECT_EQ(done.how->exit_code, 0);
  std::string expected;
  for (const auto* one : {"read", "write", "list", "reopen", "socket", "fork", "signal", "remove", "execute"})
    expected += std::string(one) + " refused\n";
  EXPECT_EQ(done.output, expected);
}

TEST(shut_in, holds_the_processor_time) {
  // The time that it may take on the wall never passes.
  const manual_clock still;
  const auto done = run("counts", {.max_time = 1s});
  ASSERT_TRUE(done.how);
  EXPECT_EQ(done.how->signal, SIGXCPU);
}

TEST(shut_in, holds_the_memory) {
#ifdef HONDANA_IS_SANITIZED
  GTEST_SKIP() << "sanitizers need more address space than any limit leaves";
#endif
  const auto done = run("takes-memory", {.max_time = event_deadline, .max_memory_bytes = 256u << 20});
  ASSERT_TRUE(done.how);
  EXPECT_EQ(done.how->exit_code, 4);
}

TEST(limits_of_a_child, are_read_as_they_were_written) {
  const limits some{.max_time = 5ms, .max_memory_bytes = 1, .max_output_bytes = 2, .max_unpacked_bytes = 3};
  EXPECT_EQ(to_text(some), "5 1 2 3");
  const auto read = parse_limits("5 1 2 3");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->max_time, 5ms);
  EXPECT_EQ(read->max_memory_bytes, 1u);
  EXPECT_EQ(read->max_output_bytes, 2u);
  EXPECT_EQ(read->max_unpacked_bytes, 3u);
  for (const auto* one :
       {"", "5", "5 1 2", "5 1 2 3 ", "5 1 2 3 4", "-5 1 2 3", "5  1 2 3", "x", "99999999999999999999 1 2 3", "86400001 1 2 3"})
    EXPECT_FALSE(parse_limits(one)) << one;
}

/// All of this once more with a launcher between, which must be there before any other thread.
const auto launcher_in_use = [] {
  if (std::getenv("HONDANA_TEST_LAUNCHER") == nullptr) return false;
  std::vector<process::allowed_command> known;
  for (const auto* one : {"copies", "tells", "complains", "dies", "is-still", "closes-and-stays", "writes-for-ever", "forks",
                          "breaks-out", "counts", "takes-memory"})
    known.push_back(renderer_command({HONDANA_STRANGE_CHILD, one}));
  auto begun = process::launcher::create(std::move(known));
  if (!begun) std::abort();
  process::launcher::install(*begun);
  return true;
}();

}  // namespace
}  // namespace hondana::process

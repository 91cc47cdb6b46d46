/// What a launcher starts, what it does not, and whom it passes signals to.
#include "os/process/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "os/disk/file_descriptor.hpp"
#include "os/process/program.hpp"
#include "unit/transport/child/started_by.hpp"

namespace hondana::process {
namespace {

using disk::handle;
using hondana_test::all_of;
using hondana_test::event_deadline;
using hondana_test::goes;
using hondana_test::in_use_for;
using hondana_test::line_of;
using hondana_test::shell;
using hondana_test::target_of;

TEST(launcher, starts_a_known_command_as_a_child_of_the_process_that_asks) {
  const auto like = shell("echo $PPID $ALWAYS $NOW; pwd; ls /proc/self/fd | wc -l; exit 3", {"NOW"});
  const in_use_for with({shell("exit 9"), like});
  auto target = target_of(like);
  target.environment.emplace_back("NOW", "so");
  auto started = program::start(target);
  ASSERT_TRUE(started) << started.error().public_text;
  // Standard input, output and error, and the folder that ls reads.
  EXPECT_EQ(all_of(started->output), std::to_string(::getpid()) + " yes so\n/\n4\n");
  EXPECT_EQ(started->wait_for_exit(std::chrono::steady_clock::now() + event_deadline), "ended with code 3");
}

TEST(launcher, starts_nothing_else) {
  const auto like = shell("echo known", {"NOW"});
  const in_use_for with({like});
  const auto refused = [&with](const child_target& target) {
    EXPECT_FALSE(with.one->allows(target));
    const auto started = program::start(target);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, errc::access_denied);
    EXPECT_NE(started.error().public_text.find("restart"), std::string::npos) << started.error().public_text;
  };
  auto other = target_of(like);
  other.command.back() = "echo other";
  refused(other);
  other = target_of(like);
  other.working_directory = "/tmp";
  refused(other);
  other = target_of(like);
  other.environment.emplace_back("LD_PRELOAD", "/tmp/evil.so");
  refused(other);
  other = target_of(like);
  other.environment.front().second = "no";
  refused(other);
  other = target_of(like);
  other.environment.clear();
  refused(other);
  EXPECT_TRUE(with.one->allows(target_of(like)));
}

/// The launcher's process alone, asked by whoever does not care which commands it knows.
class asked_directly {
 public:
  explicit asked_directly(const std::vector<allowed_command>& commands) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    socket_ = handle(ends[0]);
    const handle theirs(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) serve_launches(theirs.get(), commands);
  }
  ~asked_directly() {
    socket_ = handle();
    ::waitpid(pid_, nullptr, 0);
  }
  asked_directly(const asked_directly&) = delete;
  asked_directly& operator=(const asked_directly&) = delete;

  /// `input` and `output`: of the program.
  launch_response start(std::string_view variables, int input, int output) {
    EXPECT_EQ(send_request(socket_.get(), {}, variables, {input, output, STDERR_FILENO}), 0);
    launch_response got;
    EXPECT_EQ(receive_response(socket_.get(), got), 0);
    return got;
  }
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  handle socket_;
  pid_t pid_ = -1;
};

struct two_pipes {
  two_pipes() {
    for (auto* pair : {&in, &out}) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
      *pair = {handle(ends[0]), handle(ends[1])};
    }
  }
  std::array<handle, 2> in;
  std::array<handle, 2> out;
};

TEST(launcher, sets_no_variable_for_a_process_that_asks_on_its_own) {
  using namespace std::string_view_literals;
  asked_directly by({shell("echo $NOW $LD_PRELOAD", {"NOW"})});
  two_pipes pipes;
  for (const auto evil : {"LD_PRELOAD=/tmp/evil.so\0"sv, "NOW=1\0LD_PRELOAD=/tmp/evil.so\0"sv, "ALWAYS=no\0"sv, "=\0"sv}) {
    const auto got = by.start(evil, pipes.in[0].get(), pipes.out[1].get());
    EXPECT_EQ(got.pid, -1) << evil;
    EXPECT_EQ(got.error, EINVAL) << evil;
  }
  const auto got = by.start("NOW=so\0"sv, pipes.in[0].get(), pipes.out[1].get());
  ASSERT_GT(got.pid, 0);
  EXPECT_EQ(line_of(pipes.out[0]), "so");
  ::waitpid(got.pid, nullptr, 0);
}

TEST(launcher, gives_a_program_pipes_and_nothing_that_it_could_open) {
  asked_directly by({shell("cat")});
  two_pipes pipes;
  const handle located(::open("/etc/passwd", O_PATH | O_CLOEXEC));
  const handle folder(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(located.is_open() && folder.is_open());
  EXPECT_EQ(by.start({}, located.get(), pipes.out[1].get()).error, EBADF);
  EXPECT_EQ(by.start({}, folder.get(), pipes.out[1].get()).error, EINVAL);
  EXPECT_EQ(by.start({}, pipes.in[0].get(), folder.get()).error, EINVAL);
}

TEST(launcher, takes_three_descriptors_and_ends_at_a_fourth) {
  const asked_directly by({shell("true")});
  const std::array<int, 4> many{0, 1, 2, 2};
  launch_request asked;
  iovec part{&asked, sizeof asked};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof many)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  auto* carried = CMSG_FIRSTHDR(&message);
  carried->cmsg_level = SOL_SOCKET;
  carried->cmsg_type = SCM_RIGHTS;
  carried->cmsg_len = CMSG_LEN(sizeof many);
  std::memcpy(CMSG_DATA(carried), many.data(), sizeof many);
  ASSERT_EQ(::sendmsg(by.socket(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof asked));
  launch_response got;
  EXPECT_NE(receive_response(by.socket(), got), 0) << got.pid;
}

TEST(launcher, says_why_a_program_cannot_be_started) {
  const allowed_command missing{{"/no/such/program"}, {}, {}, {}};
  const allowed_command elsewhere{{"true"}, {}, "/no/such/folder", {}};
  const in_use_for with({missing, elsewhere});
  for (const auto& like : {missing, elsewhere}) {
    const auto started = program::start(target_of(like));
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, errc::source_unavailable);
    EXPECT_NE(started.error().public_text.find("/no/such/"), std::string::npos) << started.error().public_text;
  }
}

TEST(launcher, passes_signals_on_to_all_that_a_program_has_started) {
  const auto like = shell("sleep 1000 & echo $!; wait");
  const in_use_for with({like});
  auto started = program::start(target_of(like));
  ASSERT_TRUE(started) << started.error().public_text;
  const auto inner = static_cast<pid_t>(std::stol(line_of(started->output)));
  const handle of_inner(static_cast<int>(::syscall(SYS_pidfd_open, inner, 0)));
  ASSERT_TRUE(of_inner.is_open());
  EXPECT_EQ(started->signal(SIGKILL), 0);
  EXPECT_EQ(started->wait_for_exit(std::chrono::steady_clock::now() + event_deadline), "was killed by SIGKILL");
  EXPECT_TRUE(goes(of_inner));
}

TEST(launcher, sends_no_signal_to_what_it_has_not_started) {
  const auto other = ::fork();
  if (other == 0) {
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  ::setpgid(other, other);
  const in_use_for with({shell("true")});
  EXPECT_EQ(with.one->signal(other, SIGKILL), ESRCH);
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it was killed";
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

}  // namespace
}  // namespace hondana::process

/// What a confined process can do no more with ports, other processes, system calls and threads.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/os/sandbox/confined.hpp"

namespace hondana::sandbox {
namespace {

using namespace hondana_test;

#ifdef HONDANA_IS_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

int connecting(std::uint16_t port) {
  const handle to(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return error_of(::connect(to.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where));
}

/// A socket bound to a free port, and the port.
handle bound(std::uint16_t& port, int& error) {
  handle made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  error = error_of(::bind(made.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where));
  if (error != 0) return made;
  error = error_of(::listen(made.get(), 4));
  socklen_t size = sizeof where;
  if (::getsockname(made.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0) port = ntohs(where.sin_port);
  return made;
}

TEST(sandbox_calls, leave_the_limits_of_others_alone) {
  const auto parent = ::getpid();
  EXPECT_EQ(in_confined_child({},
                              [parent](findings& found, const confinement&) {
                                rlimit now{};
                                found.expect(error_of(::prlimit(parent, RLIMIT_NOFILE, nullptr, &now)), EPERM, "another's");
                                found.expect(error_of(::getrlimit(RLIMIT_NOFILE, &now)), 0, "its own");
                                found.expect(error_of(::setrlimit(RLIMIT_NOFILE, &now)), 0, "to set its own");
                              }),
            "");
}

TEST(sandbox_ports, are_used_as_was_allowed) {
  NEEDS_LANDLOCK(4);
  int error = 0;
  std::uint16_t open_port = 0;
  std::uint16_t other_port = 0;
  const auto open_one = bound(open_port, error);
  ASSERT_EQ(error, 0);
  const auto other_one = bound(other_port, error);
  ASSERT_EQ(error, 0);
  permissions to;
  to.listen_ports = {0};
  to.connect_ports = std::vector<std::uint16_t>{open_port};
  EXPECT_EQ(in_confined_child(to,
                              [&](findings& found, const confinement&) {
                                found.expect(connecting(open_port), 0, "an allowed port");
                                found.expect(connecting(other_port), EACCES, "another port");
                                std::uint16_t any = 0;
                                int bind_error = 0;
                                const auto listening = bound(any, bind_error);
                                found.expect(bind_error, 0, "any free port");
                                std::uint16_t one = 18'999;
                                const auto not_allowed = bound(one, bind_error);
                                found.expect(bind_error, EACCES, "a port of its choice");
                              }),
            "");
  permissions anywhere;
  anywhere.connect_ports = {};
  EXPECT_EQ(in_confined_child(anywhere,
                              [&](findings& found, const confinement&) {
                                found.expect(connecting(other_port), 0, "anywhere");
                                std::uint16_t any = 0;
                                int bind_error = 0;
                                const auto listening = bound(any, bind_error);
                                found.expect(bind_error, EACCES, "listening although nothing was allowed");
                              }),
            "");
}

TEST(sandbox_scopes, keep_other_processes_and_nameless_sockets_out_of_reach) {
  NEEDS_LANDLOCK(6);
  const handle listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  const auto name = "hondana-sandbox-test-" + std::to_string(::getpid());
  std::copy(name.begin(), name.end(), where.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&where), size), 0);
  ASSERT_EQ(::listen(listening.get(), 4), 0);
  const auto parent = ::getpid();
  const auto check = [&](int of_socket) {
    return [&, of_socket](findings& found, const confinement&) {
      found.expect(error_of(::kill(parent, 0)), EPERM, "a signal to another process");
      found.expect(error_of(::kill(::getpid(), 0)), 0, "a signal to itself");
      const handle to(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      found.expect(error_of(::connect(to.get(), reinterpret_cast<const sockaddr*>(&where), size)), of_socket,
                   "a nameless socket of another process");
    };
  };
  permissions to;
  EXPECT_EQ(in_confined_child(to, check(EPERM)), "");
  to.allows_abstract_sockets = true;
  EXPECT_EQ(in_confined_child(to, check(0)), "");
}

TEST(sandbox_calls, that_no_server_needs_fail_and_kill_nobody) {
  EXPECT_EQ(in_confined_child({},
                              [&](findings& found, const confinement& how) {
                                found.expect(how.filters_system_calls ? 1 : 0, 1, "calls are filtered: " + how.missing);
                                found.expect(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1, "no new privileges");
                                found.expect(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 2, "the filter");
                                std::array<char*, 1> none{nullptr};
                                found.expect(error_of(::execve("/bin/true", none.data(), none.data())), EPERM, "execve");
                                found.expect(error_of(::syscall(SYS_execveat, -1, "/bin/true", none.data(), none.data(), 0)),
                                             EPERM, "execveat");
                                if (!is_sanitized)
                                  found.expect(error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)), EPERM, "ptrace");
                                found.expect(error_of(::unshare(CLONE_NEWUSER)), EPERM, "unshare");
                                found.expect(error_of(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)), EPERM,
                                             "a namespace by clone");
                                found.expect(error_of(::syscall(SYS_clone3, nullptr, 0)), ENOSYS, "clone3");
                                for (const auto& [number, name] :
                                     std::vector<std::pair<long, const char*>>{{SYS_process_vm_readv, "process_vm_readv"},
                                                                               {SYS_mount, "mount"},
                                                                               {SYS_bpf, "bpf"},
                                                                               {SYS_perf_event_open, "perf_event_open"},
                                                                               {SYS_keyctl, "keyctl"},
                                                                               {SYS_userfaultfd, "userfaultfd"},
                                                                               {SYS_init_module, "init_module"},
                                                                               {SYS_reboot, "reboot"},
                                                                               {SYS_setns, "setns"},
                                                                               {425, "io_uring_setup"},
                                                                               {SYS_open_by_handle_at, "open_by_handle_at"},
                                                                               {SYS_personality, "personality"},
                                                                               {SYS_shmget, "shmget"},
                                                                               {SYS_mq_unlink, "mq_unlink"},
                                                                               {438, "pidfd_getfd"}}) {
                                  found.expect(error_of(::syscall(number, 0xffffffff, 0, 0, 0, 0)), EPERM, name);
                                }
                                char typed = 'x';
                                found.expect(error_of(::ioctl(0, TIOCSTI, &typed)), EPERM, "typing into a terminal");
                                const int status = ::fcntl(0, F_GETFD);
                                found.expect(status < 0 ? 1 : 0, 0, "other calls go on");
                              }),
            "");
}

TEST(sandbox_threads, that_begin_afterwards_are_held_too) {
  NEEDS_LANDLOCK(1);
  const place at;
  EXPECT_EQ(in_confined_child(only(at / "allowed"),
                              [&](findings& found, const confinement&) {
                                int outside = 0;
                                int calls = 0;
                                std::thread([&] {
                                  outside = opening(at / "other/file");
                                  calls = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
                                }).join();
                                found.expect(outside, EACCES, "outside, from a thread");
                                found.expect(calls, 2, "the filter of a thread");
                              }),
            "");
}

TEST(sandbox_threads, that_were_there_before_are_a_defect_that_is_said) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers have threads of their own";
  pipe_pair is_over;
  const auto child = ::fork();
  if (child == 0) {
    std::thread other([&is_over] { static_cast<void>(is_over.take()); });
    const auto made = confine({});
    ::_exit(!made && made.error().public_text.find("other threads") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(sandbox, says_what_is_in_force_in_words) {
  EXPECT_EQ(confinement().describe(), "nothing");
  EXPECT_EQ((confinement{7, true, true, ""}).describe(),
            "files, TCP ports and signals (Landlock 7), system calls, no new privileges");
  EXPECT_EQ((confinement{4, true, true, ""}).describe(), "files and TCP ports (Landlock 4), system calls, no new privileges");
  EXPECT_EQ((confinement{2, false, true, ""}).describe(), "files (Landlock 2), no new privileges");
}

}  // namespace
}  // namespace hondana::sandbox

/// A program started with pipes to its standard input and output.
#include "os/process/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include <hondana/clock.hpp>

#include "os/process/launcher.hpp"

namespace hondana::process {
namespace {

using clock = monotonic_clock;

/// Polling interval for the end of a process if the kernel has no pidfds.
constexpr std::chrono::milliseconds without_handle{10};

failure unable(const std::string& doing, int error) { return {errc::source_unavailable, doing + ": " + ::strerror(error), {}}; }

struct pipe_ends {
  disk::handle ours;
  disk::handle theirs;
};

result<pipe_ends> make_pipe(bool we_read) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(unable("cannot create a pipe to a server's process", errno));
  pipe_ends out{disk::handle(ends[we_read ? 0 : 1]), disk::handle(ends[we_read ? 1 : 0])};
  ::fcntl(out.ours.get(), F_SETFL, O_NONBLOCK);
  return out;
}

result<void> check(const child_target& what) {
  if (what.command.empty() || what.command.front().empty())
    return fail(errc::invalid_argument, "the command of a server is empty");
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (has_nul(what.folder) || std::any_of(what.command.begin(), what.command.end(), has_nul))
    return fail(errc::invalid_argument, "the command of a server contains a NUL");
  for (const auto& [name, text] : what.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(text))
      return fail(errc::invalid_argument, "not a valid environment variable: \"" + name.substr(0, name.find('\0')) + '"');
  }
  return {};
}

std::string why_not(const child_target& what, int error) {
  const auto& name = what.command.front();
  if (error == ENOENT && !what.folder.empty() && ::access(what.folder.c_str(), X_OK) != 0)
    return "the working folder " + what.folder + " of " + name + " cannot be entered";
  if (error == ENOENT && name.find('/') == std::string::npos)
    return name + " was not found in PATH; install it, or give its full path";
  return name + " cannot be started: " + ::strerror(error);
}

}  // namespace

program::program(program&& other) noexcept
    : input(std::move(other.input)),
      output(std::move(other.output)),
      problems(std::move(other.problems)),
      pid_(std::exchange(other.pid_, -1)),
      handle_(std::move(other.handle_)),
      by_(std::move(other.by_)),
      tie_(std::move(other.tie_)) {}

program& program::operator=(program&& other) noexcept {
  if (this == &other) return *this;
  const program ended(std::move(*this));
  input = std::move(other.input);
  output = std::move(other.output);
  problems = std::move(other.problems);
  pid_ = std::exchange(other.pid_, -1);
  handle_ = std::move(other.handle_);
  by_ = std::move(other.by_);
  tie_ = std::move(other.tie_);
  return *this;
}

program::~program() {
  if (!is_running()) return;
  const bool is_reached = signal(SIGKILL) == 0;
  static_cast<void>(ended(clock::now() + std::chrono::seconds(is_reached ? 5 : 0)));
}

void program::leave_running() noexcept {
  pid_ = -1;
  *this = program();
}

result<void> program::spawn(const child_target& what, const std::array<int, 3>& theirs) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (!what.folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, what.folder.c_str());
  // The pipes may have the numbers 0 to 2 if the host has closed its own. Duplicates above them cannot clash.
  std::array<disk::handle, 3> above;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    above[i] = disk::handle(::fcntl(theirs[i], F_DUPFD_CLOEXEC, 3));
    if (above[i].is_open()) ::posix_spawn_file_actions_adddup2(&actions, above[i].get(), static_cast<int>(i));
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  auto command = what.command;
  auto environment = environment_with(what.environment);
  const auto arguments = pointers_to(command);
  const auto variables = pointers_to(environment);
  const int error = ::posix_spawnp(&pid_, command.front().c_str(), &actions, &attributes, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return {};
  pid_ = -1;
  return fail(errc::source_unavailable, why_not(what, error));
}

result<void> program::launch(const child_target& what, const std::array<int, 3>& theirs) {
  HONDANA_TRY(auto tried, by_->start(what, theirs));
  pid_ = tried.pid;
  tie_ = std::move(tried.tie);
  if (tried.error == 0) return {};
  // The process could not execute the program and has ended.
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return fail(errc::source_unavailable, why_not(what, tried.error));
}

result<program> program::start(const child_target& what) {
  HONDANA_TRY(check(what));
  HONDANA_TRY(auto input, make_pipe(false));
  HONDANA_TRY(auto output, make_pipe(true));
  pipe_ends problems;
  if (what.on_stderr) {
    HONDANA_TRY(auto made, make_pipe(true));
    problems = std::move(made);
  }
  const std::array<int, 3> theirs{input.theirs.get(), output.theirs.get(),
                                  what.on_stderr ? problems.theirs.get() : STDERR_FILENO};
  program out;
  out.by_ = launcher::in_use();
  HONDANA_TRY(out.by_ ? out.launch(what, theirs) : out.spawn(what, theirs));
  out.handle_ = disk::handle(static_cast<int>(::syscall(SYS_pidfd_open, out.pid_, 0)));
  out.input = std::move(input.ours);
  out.output = std::move(output.ours);
  out.problems = std::move(problems.ours);
  return out;
}

std::optional<std::string> program::ended(clock::time_point until) {
  if (!is_running()) return "has ended";
  for (;;) {
    siginfo_t found{};
    const bool is_gone = ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT) != 0;
    if (is_gone || found.si_pid == pid_) {
      // Processes that it has started end with it. Its process id cannot be reused before it is reaped.
      // If the signal cannot be sent, the end of the launcher has already killed them.
      if (!is_gone) static_cast<void>(signal(SIGKILL));
      int status = 0;
      const auto reaped = ::waitpid(pid_, &status, WNOHANG);
      const bool is_ours = reaped == pid_;
      pid_ = -1;
      handle_ = disk::handle();
      if (!is_ours) return "ended";  // reaped elsewhere, because the host ignores SIGCHLD
      if (!WIFSIGNALED(status)) return "ended with code " + std::to_string(WEXITSTATUS(status));
      const auto* name = ::sigabbrev_np(WTERMSIG(status));
      return "was killed by SIG" + std::string(name == nullptr ? "?" : name);
    }
    const auto now = clock::now();
    if (now >= until) return {};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now) + std::chrono::milliseconds(1);
    left = std::min(left, std::chrono::milliseconds(std::chrono::minutes(1)));
    if (!handle_.is_open()) left = std::min(left, without_handle);
    pollfd watched{handle_.get(), POLLIN, 0};
    ::poll(&watched, 1, monotonic_clock::poll_timeout(left.count()));
  }
}

int program::signal(int which) const noexcept {
  if (pid_ <= 0) return ESRCH;
  if (by_) return by_->signal(pid_, which);
  return ::kill(-pid_, which) == 0 ? 0 : errno;
}

}  // namespace hondana::process

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
constexpr std::chrono::milliseconds fallback_poll_interval{10};

failure launch_failure(const std::string& operation, int error) {
  return {errc::source_unavailable, operation + ": " + ::strerror(error), {}};
}

struct pipe_ends {
  disk::handle parent_end;
  disk::handle child_end;
};

result<pipe_ends> make_pipe(bool parent_reads) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return tl::unexpected(launch_failure("cannot create a pipe to a server's process", errno));
  pipe_ends out{disk::handle(ends[parent_reads ? 0 : 1]), disk::handle(ends[parent_reads ? 1 : 0])};
  ::fcntl(out.parent_end.get(), F_SETFL, O_NONBLOCK);
  return out;
}

result<void> validate(const child_target& target) {
  if (target.command.empty() || target.command.front().empty())
    return fail(errc::invalid_argument, "the command of a server is empty");
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (has_nul(target.working_directory.value_or(std::string())) ||
      std::any_of(target.command.begin(), target.command.end(), has_nul))
    return fail(errc::invalid_argument, "the command of a server contains a NUL");
  for (const auto& [name, text] : target.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(text))
      return fail(errc::invalid_argument, "not a valid environment variable: \"" + name.substr(0, name.find('\0')) + '"');
  }
  return {};
}

std::string failure_reason(const child_target& target, int error) {
  const auto& name = target.command.front();
  if (error == ENOENT && target.working_directory && ::access(target.working_directory->c_str(), X_OK) != 0)
    return "the working folder " + *target.working_directory + " of " + name + " cannot be entered";
  if (error == ENOENT && name.find('/') == std::string::npos)
    return name + " was not found in PATH; install it, or give its full path";
  return name + " cannot be started: " + ::strerror(error);
}

}  // namespace

program::program(program&& other) noexcept
    : input(std::move(other.input)),
      output(std::move(other.output)),
      error_output(std::move(other.error_output)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      launcher_(std::move(other.launcher_)),
      lifeline_(std::move(other.lifeline_)) {}

program& program::operator=(program&& other) noexcept {
  if (this == &other) return *this;
  const program previous(std::move(*this));
  input = std::move(other.input);
  output = std::move(other.output);
  error_output = std::move(other.error_output);
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  launcher_ = std::move(other.launcher_);
  lifeline_ = std::move(other.lifeline_);
  return *this;
}

program::~program() {
  if (!is_running()) return;
  const bool is_signalled = signal(SIGKILL) == 0;
  static_cast<void>(wait_for_exit(clock::now() + std::chrono::seconds(is_signalled ? 5 : 0)));
}

void program::detach() noexcept {
  pid_ = -1;
  *this = program();
}

result<void> program::spawn(const child_target& target, const std::array<int, 3>& streams) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (target.working_directory) ::posix_spawn_file_actions_addchdir_np(&actions, target.working_directory->c_str());
  // The pipes may have the numbers 0 to 2 if the host has closed its own. Duplicates above them cannot clash.
  std::array<disk::handle, 3> duplicates;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    duplicates[i] = disk::handle(::fcntl(streams[i], F_DUPFD_CLOEXEC, 3));
    if (duplicates[i].is_open()) ::posix_spawn_file_actions_adddup2(&actions, duplicates[i].get(), static_cast<int>(i));
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t no_signals;
  sigset_t all_signals;
  ::sigemptyset(&no_signals);
  ::sigfillset(&all_signals);
  ::posix_spawnattr_setsigmask(&attributes, &no_signals);
  ::posix_spawnattr_setsigdefault(&attributes, &all_signals);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  auto command = target.command;
  auto environment = merge_environment(target.environment);
  const auto arguments = pointers_to(command);
  const auto variables = pointers_to(environment);
  const int error = ::posix_spawnp(&pid_, command.front().c_str(), &actions, &attributes, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return {};
  pid_ = -1;
  return fail(errc::source_unavailable, failure_reason(target, error));
}

result<void> program::launch(const child_target& target, const std::array<int, 3>& streams) {
  HONDANA_TRY(auto attempt, launcher_->start(target, streams));
  pid_ = attempt.pid;
  lifeline_ = std::move(attempt.lifeline);
  if (attempt.error == 0) return {};
  // The process could not execute the program and has ended.
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return fail(errc::source_unavailable, failure_reason(target, attempt.error));
}

result<program> program::start(const child_target& target) {
  HONDANA_TRY(validate(target));
  HONDANA_TRY(auto input, make_pipe(false));
  HONDANA_TRY(auto output, make_pipe(true));
  pipe_ends errors;
  if (target.on_stderr) {
    HONDANA_TRY(auto pipe, make_pipe(true));
    errors = std::move(pipe);
  }
  const std::array<int, 3> streams{input.child_end.get(), output.child_end.get(),
                                   target.on_stderr ? errors.child_end.get() : STDERR_FILENO};
  program out;
  out.launcher_ = launcher::installed();
  HONDANA_TRY(out.launcher_ ? out.launch(target, streams) : out.spawn(target, streams));
  out.pidfd_ = disk::handle(static_cast<int>(::syscall(SYS_pidfd_open, out.pid_, 0)));
  out.input = std::move(input.parent_end);
  out.output = std::move(output.parent_end);
  out.error_output = std::move(errors.parent_end);
  return out;
}

std::optional<std::string> program::wait_for_exit(clock::time_point deadline) {
  if (!is_running()) return "has ended";
  for (;;) {
    siginfo_t info{};
    const bool is_reaped = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0;
    if (is_reaped || info.si_pid == pid_) {
      // Processes that it has started end with it. Its process id cannot be reused before it is reaped.
      // If the signal cannot be sent, the end of the launcher has already killed them.
      if (!is_reaped) static_cast<void>(signal(SIGKILL));
      int status = 0;
      const auto reaped = ::waitpid(pid_, &status, WNOHANG);
      const bool has_status = reaped == pid_;
      pid_ = -1;
      pidfd_ = disk::handle();
      if (!has_status) return "ended";  // reaped elsewhere, because the host ignores SIGCHLD
      if (!WIFSIGNALED(status)) return "ended with code " + std::to_string(WEXITSTATUS(status));
      const auto* name = ::sigabbrev_np(WTERMSIG(status));
      return "was killed by SIG" + std::string(name == nullptr ? "?" : name);
    }
    const auto now = clock::now();
    if (now >= deadline) return {};
    auto remaining = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now) + std::chrono::milliseconds(1);
    remaining = std::min(remaining, std::chrono::milliseconds(std::chrono::minutes(1)));
    if (!pidfd_.is_open()) remaining = std::min(remaining, fallback_poll_interval);
    pollfd watched{pidfd_.get(), POLLIN, 0};
    ::poll(&watched, 1, monotonic_clock::poll_timeout(remaining.count()));
  }
}

int program::signal(int number) const noexcept {
  if (pid_ <= 0) return ESRCH;
  if (launcher_) return launcher_->signal(pid_, number);
  return ::kill(-pid_, number) == 0 ? 0 : errno;
}

}  // namespace hondana::process

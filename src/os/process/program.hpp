/// Starts a program with pipes to its standard input and output, signals it and waits for it.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/process/launcher.hpp"

namespace hondana::process {

/// A started program in its own process group, so that Ctrl+C in a terminal reaches only this process.
/// The group is killed when the program ends or this object is destroyed. Threads: one at a time.
class program {
 public:
  /// No program: `is_running` is false.
  program() noexcept = default;
  /// Kills the program and its group, and waits at most five seconds to reap it.
  ~program();
  program(program&& other) noexcept;
  program& operator=(program&& other) noexcept;

  /// Starts `target`, through the launcher if one is installed.
  /// The program gets the environment of this process with the variables of `target`, an empty signal mask, default signal
  /// handlers, and no other descriptors.
  /// Errors: source_unavailable, with the reason, if it cannot be started; errors of `launcher::start`. Also invalid_argument
  /// for an empty command, a NUL, or a variable name that is empty or has a `=`.
  [[nodiscard]] static result<program> start(const child_target& target);

  /// Whether there is a program that has not been reaped. It may have ended.
  [[nodiscard]] bool is_running() const noexcept { return pid_ > 0; }
  /// The write end of its standard input, non-blocking.
  disk::handle input;
  /// The read end of its standard output, non-blocking.
  disk::handle output;
  /// The read end of its standard error, non-blocking. Only open if `child_target::on_stderr` is set.
  disk::handle error_output;

  /// A pidfd, readable once the program has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// Waits until `deadline` for the program to end; nullopt if it is still running.
  /// Otherwise kills the rest of its group, reaps it, and returns how it ended: "ended with code 3", "was killed by SIGSEGV".
  [[nodiscard]] std::optional<std::string> wait_for_exit(std::chrono::steady_clock::time_point deadline);
  /// Sends a signal to the program's process group.
  /// Returns 0 or an errno: ESRCH if it has ended, EPIPE if it cannot be signalled because its launcher has ended.
  [[nodiscard]] int signal(int number) const noexcept;
  /// A descriptor that polls as hung up once the launcher has ended; -1 for a program that this process has started itself.
  [[nodiscard]] int launcher_hangup_descriptor() const noexcept { return launcher_ ? launcher_->hangup_descriptor() : -1; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Closes its pipes and gives it up: it is neither killed nor reaped.
  void detach() noexcept;

 private:
  /// Starts the program from this process.
  result<void> spawn(const child_target& target, const std::array<int, 3>& streams);
  /// Starts the program through `launcher_`.
  result<void> launch(const child_target& target, const std::array<int, 3>& streams);

  pid_t pid_ = -1;
  disk::handle pidfd_;                  // for waiting with a time limit
  std::shared_ptr<launcher> launcher_;  // null: this process has started the program itself
  disk::handle lifeline_;               // see launcher::attempt
};

}  // namespace hondana::process

/// A program started with pipes to its standard input and output.
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

/// A started program in its own process group. Destruction kills and reaps it. Threads: one at a time.
/// A terminal interrupt therefore reaches only this process, which can end the program in order. Processes that the program has
/// started end with it.
class program {
 public:
  program() noexcept = default;
  ~program();
  program(program&& other) noexcept;
  program& operator=(program&& other) noexcept;

  /// Starts `target` with an empty signal mask, default signal handlers, and no other descriptors of this process.
  /// Errors: invalid_argument for an empty command, a NUL, or a variable name with `=`. source_unavailable, with the reason,
  /// when it cannot be started. If a launcher is installed: also those of `launcher::start`.
  [[nodiscard]] static result<program> start(const child_target& target);

  [[nodiscard]] bool is_running() const noexcept { return pid_ > 0; }
  /// Non-blocking ends of its pipes. `error_output` is only open if its standard error is captured.
  disk::handle input;
  disk::handle output;
  disk::handle error_output;

  /// A pidfd, readable once the program has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// Waits until `deadline` for the program to end. Then returns how it ended: "ended with code 3", "was killed by SIGSEGV".
  [[nodiscard]] std::optional<std::string> wait_for_exit(std::chrono::steady_clock::time_point deadline);
  /// Sends a signal to the program's process group.
  /// Returns 0 or an errno: ESRCH when it has ended, EPIPE when it cannot be reached because its launcher has ended.
  [[nodiscard]] int signal(int number) const noexcept;
  /// A descriptor that polls as hung up once the launcher has ended; -1 for a program that this process has started itself.
  [[nodiscard]] int launcher_hangup_descriptor() const noexcept { return launcher_ ? launcher_->hangup_descriptor() : -1; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Closes its pipes and never waits for it.
  void detach() noexcept;

 private:
  /// `spawn` starts the program from this process, `launch` through the launcher.
  result<void> spawn(const child_target& target, const std::array<int, 3>& streams);
  result<void> launch(const child_target& target, const std::array<int, 3>& streams);

  pid_t pid_ = -1;
  disk::handle pidfd_;                  // for waiting with a time limit
  std::shared_ptr<launcher> launcher_;  // null: this process has started the program itself
  disk::handle lifeline_;               // see launcher::attempt
};

}  // namespace hondana::process

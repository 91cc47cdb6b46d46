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

  /// Starts `what` with an empty signal mask, default signal handlers, and no other descriptors of this process.
  /// Errors: invalid_argument for an empty command, a NUL, or a variable name with `=`. source_unavailable, with the reason,
  /// when it cannot be started. If a launcher is in use: also those of `launcher::start`.
  [[nodiscard]] static result<program> start(const child_target& what);

  [[nodiscard]] bool is_running() const noexcept { return pid_ > 0; }
  /// Non-blocking ends of its pipes. `problems` is only open if its standard error is captured.
  disk::handle input;
  disk::handle output;
  disk::handle problems;

  /// A pidfd, readable once the program has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int ending() const noexcept { return handle_.get(); }
  /// Waits until `until` for the program to end. Then returns how it ended: "ended with code 3", "was killed by SIGSEGV".
  [[nodiscard]] std::optional<std::string> ended(std::chrono::steady_clock::time_point until);
  /// Sends a signal to the program's process group.
  /// Returns 0 or an errno: ESRCH when it has ended, EPIPE when it cannot be reached because its launcher has ended.
  [[nodiscard]] int signal(int which) const noexcept;
  /// A descriptor that polls as hung up once the launcher has ended; -1 for a program that this process has started itself.
  [[nodiscard]] int launcher_ending() const noexcept { return by_ ? by_->ending() : -1; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Closes its pipes and never waits for it.
  void leave_running() noexcept;

 private:
  /// `spawn` starts the program from this process, `launch` through the launcher.
  result<void> spawn(const child_target& what, const std::array<int, 3>& theirs);
  result<void> launch(const child_target& what, const std::array<int, 3>& theirs);

  pid_t pid_ = -1;
  disk::handle handle_;           // pidfd, for waiting with a time limit
  std::shared_ptr<launcher> by_;  // null: this process has started the program itself
  disk::handle tie_;              // see launcher::attempt
};

}  // namespace hondana::process

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

/// A started program, in a process group of its own: a terminal's interrupt reaches whoever started it first, who then ends it
/// in order, and what it has started itself ends with it. Destruction kills and reaps it. Threads: one at a time.
class program {
 public:
  program() noexcept = default;
  ~program();
  program(program&& other) noexcept;
  program& operator=(program&& other) noexcept;

  /// Starts `what` with empty signal mask and default handlers, and no other descriptors of this process. Errors:
  /// invalid_argument for an empty command, a NUL or a variable's name with `=`; source_unavailable when it cannot be started,
  /// saying why; those of `launcher::start` where that is in use.
  [[nodiscard]] static result<program> start(const child_target& what);

  [[nodiscard]] bool is_running() const noexcept { return pid_ > 0; }
  /// Non-blocking ends of its pipes; `problems` is closed when its standard error is not taken.
  disk::handle input;
  disk::handle output;
  disk::handle problems;

  /// A descriptor that can be read once it has ended; -1 where the kernel has none.
  [[nodiscard]] int ending() const noexcept { return handle_.get(); }
  /// How it ended, in words ("ended with code 3", "was killed by SIGSEGV"), once it has; waits for that until `until`.
  [[nodiscard]] std::optional<std::string> ended(std::chrono::steady_clock::time_point until);
  /// Sends a signal to it and to what it has started. 0, or the error: ESRCH when it has ended, EPIPE when it is out of reach,
  /// since the launcher that started it has gone.
  [[nodiscard]] int signal(int which) const noexcept;
  /// A descriptor that polls as hung up once it is out of reach; -1 for one that this process started itself.
  [[nodiscard]] int launcher_ending() const noexcept { return by_ ? by_->ending() : -1; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Closes its pipes and waits for it no more.
  void leave_running() noexcept;

 private:
  /// By this process itself, and by the launcher.
  result<void> spawn(const child_target& what, const std::array<int, 3>& theirs);
  result<void> launch(const child_target& what, const std::array<int, 3>& theirs);

  pid_t pid_ = -1;
  disk::handle handle_;           // of the process, to wait for it with a limit
  std::shared_ptr<launcher> by_;  // null: it was started by this process itself
  disk::handle tie_;              // see launcher::attempt
};

}  // namespace hondana::process

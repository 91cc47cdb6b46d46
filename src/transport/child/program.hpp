/// A program that was started with pipes to its standard input and output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "disk/handle.hpp"

namespace hondana::transport::child {

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
  /// saying why.
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
  /// Sends a signal to it and to what it has started.
  void signal(int which) const noexcept;

 private:
  pid_t pid_ = -1;
  disk::handle handle_;  // of the process, to wait for it with a limit
};

}  // namespace hondana::transport::child

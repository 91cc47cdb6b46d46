/// A program that was started with pipes to its standard input and output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

namespace hondana::transport::child {

/// A file descriptor that is closed in the end.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int which) noexcept : which_(which) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : which_(std::exchange(other.which_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      which_ = std::exchange(other.which_, -1);
    }
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return which_; }
  [[nodiscard]] bool is_open() const noexcept { return which_ >= 0; }
  void reset() noexcept;

 private:
  int which_ = -1;
};

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
  descriptor input;
  descriptor output;
  descriptor problems;

  /// How it ended, in words ("ended with code 3", "was killed by SIGSEGV"), once it has; waits for that until `until`.
  [[nodiscard]] std::optional<std::string> ended(std::chrono::steady_clock::time_point until);
  /// Sends a signal to it and to what it has started.
  void signal(int which) const noexcept;

 private:
  pid_t pid_ = -1;
  descriptor handle_;  // of the process, to wait for it with a limit
};

}  // namespace hondana::transport::child

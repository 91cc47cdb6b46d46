/// Writes to a descriptor that other processes may share, without blocking, within a time that can be shortened.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::transport::stdio {

/// Threads: any.
class patience {
 public:
  using clock = monotonic_clock;

  /// A peer that takes nothing for `stall` is given up.
  explicit patience(std::chrono::milliseconds stall);
  ~patience();
  patience(const patience&) = delete;
  patience& operator=(const patience&) = delete;

  /// From now on: at most `stall` without progress, and nothing after `end`. Wakes whoever waits. Never lengthens.
  void shorten(std::chrono::milliseconds stall, clock::time_point end);
  /// When to give up, if the last byte was taken at `progress`.
  [[nodiscard]] clock::time_point until(clock::time_point progress) const;
  /// Readable after `shorten`, until `heard` is called; for poll.
  [[nodiscard]] int descriptor() const noexcept { return changed_; }
  void heard() const noexcept;

 private:
  int changed_;
  mutable std::mutex mutex_;
  std::chrono::milliseconds stall_;
  clock::time_point end_ = clock::time_point::max();
};

/// A pipe, socket, terminal or file to write to. The descriptor's own flags are left alone, since they are shared with
/// whoever holds it too: sockets are written with MSG_DONTWAIT, pipes through a description of our own.
/// Threads: one at a time. Whoever calls `write_all` has SIGPIPE blocked.
class output {
 public:
  explicit output(int descriptor);
  ~output();
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes what the peer takes at once, which may be nothing, and returns how much that was. Files and terminals, which could
  /// make this wait, get nothing. Errors: source_unavailable when the peer has gone.
  [[nodiscard]] result<std::size_t> write_some(std::string_view bytes);
  /// Whether `write_some` may write anything: a socket, or a pipe in a process that ignores SIGPIPE.
  [[nodiscard]] bool takes_some() const noexcept { return way_ == way::socket || (way_ == way::own_pipe && ignores_signal_); }
  /// Writes everything. Errors: timed_out when the peer exhausts `with`, source_unavailable when it has gone.
  [[nodiscard]] result<void> write_all(std::string_view bytes, const patience& with);

 private:
  enum class way { plain, own_pipe, socket };

  /// Waits until the peer may take bytes or the patience is at an end.
  [[nodiscard]] result<void> wait(const patience& with, patience::clock::time_point progress) const;

  /// One attempt that never blocks where it is no plain way: how much was written, or -1 with errno.
  [[nodiscard]] ssize_t attempt(std::string_view bytes) const noexcept;

  int descriptor_;
  way way_ = way::plain;
  bool ignores_signal_ = false;
};

}  // namespace hondana::transport::stdio

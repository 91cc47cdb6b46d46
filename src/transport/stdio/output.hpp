/// Writes to a descriptor that other processes may share, within a timeout that can be shortened.
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

/// How long to wait for a peer: a timeout without progress, and a deadline. Both can be shortened while a thread waits.
/// Threads: any.
class write_timeout {
 public:
  using clock = monotonic_clock;

  /// `stall_timeout`: how long the peer may accept nothing. There is no deadline at first.
  explicit write_timeout(std::chrono::milliseconds stall_timeout);
  ~write_timeout();
  write_timeout(const write_timeout&) = delete;
  write_timeout& operator=(const write_timeout&) = delete;

  /// Shortens the timeout to `stall_timeout`, and the deadline to `deadline`. Wakes waiting threads. Never lengthens them.
  void shorten(std::chrono::milliseconds stall_timeout, clock::time_point deadline);
  /// When to give up, if the last byte was accepted at `last_progress`.
  [[nodiscard]] clock::time_point expires_at(clock::time_point last_progress) const;
  /// A descriptor for poll, which is readable from `shorten` to `acknowledge`.
  [[nodiscard]] int descriptor() const noexcept { return change_event_; }
  void acknowledge() const noexcept;

 private:
  int change_event_;
  mutable std::mutex mutex_;
  std::chrono::milliseconds stall_timeout_;
  clock::time_point deadline_ = clock::time_point::max();
};

/// Writes to a pipe, socket, terminal or file. Does not change the flags of the descriptor, because other processes share them:
/// writes to sockets with MSG_DONTWAIT, to pipes through a file description of its own. Threads: one at a time.
class output {
 public:
  /// Does not own `descriptor`.
  explicit output(int descriptor);
  ~output();
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes what the peer accepts without waiting, possibly nothing, and returns the number of bytes. Writes nothing unless
  /// `can_write_some`. Errors: source_unavailable if the peer is gone.
  [[nodiscard]] result<std::size_t> write_some(std::string_view bytes);
  /// True for a socket, and for a pipe if the process ignored SIGPIPE at construction. False for files and terminals, which
  /// could block.
  [[nodiscard]] bool can_write_some() const noexcept {
    return mode_ == write_mode::socket || (mode_ == write_mode::own_pipe && ignores_signal_);
  }
  /// Writes everything; blocks. The caller must have blocked SIGPIPE. Errors: timed_out if the peer exceeds `timeout`;
  /// source_unavailable if it is gone.
  [[nodiscard]] result<void> write_all(std::string_view bytes, const write_timeout& timeout);

 private:
  /// `own_pipe`: `descriptor_` was opened here.
  enum class write_mode { plain, own_pipe, socket };

  /// Waits until the peer may accept bytes. Errors: timed_out.
  [[nodiscard]] result<void> wait(const write_timeout& timeout, write_timeout::clock::time_point last_progress) const;

  /// One write, which does not block unless `mode_` is `plain`. Returns the number of bytes, or -1 with errno.
  [[nodiscard]] ssize_t try_write(std::string_view bytes) const noexcept;

  int descriptor_;
  write_mode mode_ = write_mode::plain;
  bool ignores_signal_ = false;  // the process ignores SIGPIPE
};

}  // namespace hondana::transport::stdio

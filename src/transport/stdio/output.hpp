/// Writes to a descriptor that other processes may share, without blocking, within a timeout that can be shortened.
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

/// A timeout without progress, and a deadline. Both can be shortened while a thread waits. Threads: any.
class write_timeout {
 public:
  using clock = monotonic_clock;

  /// Gives up a peer that accepts nothing for `stall_timeout`.
  explicit write_timeout(std::chrono::milliseconds stall_timeout);
  ~write_timeout();
  write_timeout(const write_timeout&) = delete;
  write_timeout& operator=(const write_timeout&) = delete;

  /// Shortens the timeout to `stall_timeout`, and the deadline to `deadline`. Wakes waiting threads. Never lengthens them.
  void shorten(std::chrono::milliseconds stall_timeout, clock::time_point deadline);
  /// When to give up, if the last byte was accepted at `last_progress`.
  [[nodiscard]] clock::time_point expires_at(clock::time_point last_progress) const;
  /// For poll: readable after `shorten`, until `acknowledge` is called.
  [[nodiscard]] int descriptor() const noexcept { return change_event_; }
  void acknowledge() const noexcept;

 private:
  int change_event_;
  mutable std::mutex mutex_;
  std::chrono::milliseconds stall_timeout_;
  clock::time_point deadline_ = clock::time_point::max();
};

/// A pipe, socket, terminal or file to write to. The flags of the descriptor are not changed, because other processes share
/// them. Sockets are written with MSG_DONTWAIT, pipes through a file description of our own. Threads: one at a time.
/// `write_all` must be called with SIGPIPE blocked.
class output {
 public:
  explicit output(int descriptor);
  ~output();
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes what the peer accepts without waiting, possibly nothing; returns the number of bytes. Writes nothing to files and
  /// terminals, which could block. Errors: source_unavailable if the peer is gone.
  [[nodiscard]] result<std::size_t> write_some(std::string_view bytes);
  /// Whether `write_some` can write at all: to a socket, or to a pipe if the process ignores SIGPIPE.
  [[nodiscard]] bool can_write_some() const noexcept {
    return mode_ == write_mode::socket || (mode_ == write_mode::own_pipe && ignores_signal_);
  }
  /// Writes everything. Errors: timed_out if the peer exceeds the limits of `timeout`, source_unavailable if it is gone.
  [[nodiscard]] result<void> write_all(std::string_view bytes, const write_timeout& timeout);

 private:
  enum class write_mode { plain, own_pipe, socket };

  /// Waits until the peer may accept bytes. Errors: timed_out.
  [[nodiscard]] result<void> wait(const write_timeout& timeout, write_timeout::clock::time_point last_progress) const;

  /// One write, which does not block unless `mode_` is `plain`. Returns the number of bytes, or -1 with errno.
  [[nodiscard]] ssize_t try_write(std::string_view bytes) const noexcept;

  int descriptor_;
  write_mode mode_ = write_mode::plain;
  bool ignores_signal_ = false;
};

}  // namespace hondana::transport::stdio

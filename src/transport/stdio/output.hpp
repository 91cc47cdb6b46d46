/// Writes to a descriptor that may be shared with other processes without ever blocking in the kernel.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "transport/stdio/patience.hpp"

namespace hondana::transport::stdio {

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

/// Writes to a descriptor that may be shared with other processes without ever blocking in the kernel.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::transport::stdio {

/// A pipe, socket, terminal or file to write to. The descriptor's own flags are left alone, since they are shared with
/// whoever holds it too: sockets are written with MSG_DONTWAIT, pipes through a description of our own.
/// Threads: one at a time.
class output {
 public:
  explicit output(int descriptor);
  ~output();
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes everything. Errors: timed_out when the peer takes no byte for `stall`, source_unavailable when it has gone.
  [[nodiscard]] result<void> write_all(std::string_view bytes, std::chrono::milliseconds stall);

 private:
  enum class way { plain, own_pipe, socket };

  int descriptor_;
  way way_ = way::plain;
};

}  // namespace hondana::transport::stdio

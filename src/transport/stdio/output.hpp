/// Writes to a descriptor that may be shared with other processes without ever blocking in the kernel.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "transport/stdio/patience.hpp"

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

  /// Writes everything. Errors: timed_out when the peer exhausts `with`, source_unavailable when it has gone.
  [[nodiscard]] result<void> write_all(std::string_view bytes, const patience& with);

 private:
  enum class way { plain, own_pipe, socket };

  /// Waits until the peer may take bytes or the patience is at an end.
  [[nodiscard]] result<void> wait(const patience& with, patience::clock::time_point progress) const;

  int descriptor_;
  way way_ = way::plain;
};

}  // namespace hondana::transport::stdio

/// Reads from a descriptor until somebody wants it to stop.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include <hondana/error.hpp>

namespace hondana::transport::stdio {

/// A pipe, socket, terminal or file to read from, which may be shared with other processes; its flags are left alone.
///
/// Whoever asks one thing after the other waits for each answer, so that every call counts: a pipe is read without being polled
/// first. What ends the waiting is an empty line, put into the pipe by `wake`.
class input {
 public:
  explicit input(int descriptor);
  ~input();
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  /// Waits for bytes, of which it takes up to `most`; 0 at the end of input. Nothing: it has been woken. Errors:
  /// source_unavailable. Threads: one at a time.
  [[nodiscard]] result<std::optional<std::size_t>> read(char* into, std::size_t most);
  /// Nothing more is read from now on; whoever waits returns. Threads: any.
  void wake();
  /// Whether the peer has closed its end, even while bytes of it are still to be read. Threads: any.
  [[nodiscard]] bool has_ended() const;

 private:
  /// Waits until there is something to read, or it has been woken.
  void poll() const;
  /// A descriptor to write into the pipe, or -1.
  [[nodiscard]] int other_end() const;

  int descriptor_;
  int bell_;
  int spare_ = -1;  // given back when `wake` needs a descriptor
  bool is_pipe_ = false;
  std::atomic<bool> is_woken_{false};
};

}  // namespace hondana::transport::stdio

/// Reads a descriptor until it is stopped, and splits the input into lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::transport::stdio {

/// Splits input into lines. A line over the limit is dropped up to its newline and reported once.
class line_splitter {
 public:
  /// `limit`: of one line, in bytes.
  explicit line_splitter(std::size_t limit) : limit_(limit) {}

  /// Calls `line(text)` for each line that `bytes` completes, without newline and carriage return. Calls `oversized()` as soon
  /// as a line exceeds the limit. Skips empty lines.
  template <class Line, class Oversized>
  void feed(std::string_view bytes, Line&& line, Oversized&& oversized) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto part = bytes.substr(0, end);
      if (!is_dropping_ && partial_.size() + part.size() > limit_) {
        is_dropping_ = true;
        partial_ = std::string();
        oversized();
      }
      if (end == std::string_view::npos) {
        if (!is_dropping_) partial_ += part;
        return;
      }
      if (!is_dropping_) {
        // Most lines arrive whole and are passed on without a copy.
        const std::string_view raw_line = partial_.empty() ? part : std::string_view(partial_ += part);
        const auto text = raw_line.ends_with('\r') ? raw_line.substr(0, raw_line.size() - 1) : raw_line;
        if (!text.empty()) line(text);
        if (partial_.capacity() > max_retained_bytes) partial_ = std::string();
        partial_.clear();
      }
      is_dropping_ = false;
      bytes.remove_prefix(end + 1);
    }
  }

  /// The text after the last newline, which the caller must treat as a line when the input ends. Empty if it is dropped.
  [[nodiscard]] std::string_view remainder() const noexcept { return partial_; }

 private:
  static constexpr std::size_t max_retained_bytes = 1 << 20;  // a larger buffer is freed after its line

  std::size_t limit_;
  std::string partial_;
  bool is_dropping_ = false;
};

/// Reads a pipe, socket, terminal or file. Does not change the flags of the descriptor, because other processes may share it.
///
/// A client that sends one request at a time waits for each answer, so each system call costs time. Therefore a pipe is read
/// without poll; `stop` ends the wait by writing an empty line into the pipe.
class input {
 public:
  /// Does not own `descriptor`.
  explicit input(int descriptor);
  ~input();
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  /// Waits for bytes, reads up to `max_bytes`, and returns their number; 0 at the end of input. Empty optional: `stop` was
  /// called. Errors: source_unavailable. Threads: one at a time.
  [[nodiscard]] result<std::optional<std::size_t>> read(char* buffer, std::size_t max_bytes);
  /// Makes a waiting `read` and all later ones return empty. Threads: any.
  void stop();
  /// Whether the peer has closed its end, even if unread bytes are left. Threads: any.
  [[nodiscard]] bool has_peer_closed() const;

 private:
  /// Waits for input or `stop`.
  void poll() const;
  /// Opens the write end of the pipe; -1 on failure.
  [[nodiscard]] int open_write_end() const;

  int descriptor_;
  int wake_event_;
  int spare_descriptor_ = -1;  // closed when `stop` needs a descriptor
  bool is_pipe_ = false;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace hondana::transport::stdio

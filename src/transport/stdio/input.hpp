/// Reads lines from a descriptor until it is stopped.
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
  explicit line_splitter(std::size_t limit) : limit_(limit) {}

  /// Calls `line(text)` for each line that `bytes` completes, without newline and carriage return, and `oversized()` for each
  /// line over the limit. Skips empty lines.
  template <class Line, class Oversized>
  void feed(std::string_view bytes, Line&& line, Oversized&& oversized) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto part = bytes.substr(0, end);
      if (!dropping_ && kept_.size() + part.size() > limit_) {
        dropping_ = true;
        kept_ = std::string();
        oversized();
      }
      if (end == std::string_view::npos) {
        if (!dropping_) kept_ += part;
        return;
      }
      if (!dropping_) {
        // Most lines arrive whole and are passed on without a copy.
        const std::string_view whole = kept_.empty() ? part : std::string_view(kept_ += part);
        const auto text = whole.ends_with('\r') ? whole.substr(0, whole.size() - 1) : whole;
        if (!text.empty()) line(text);
        if (kept_.capacity() > kept_bytes) kept_ = std::string();
        kept_.clear();
      }
      dropping_ = false;
      bytes.remove_prefix(end + 1);
    }
  }

  /// The text after the last newline. When the input ends, it counts as a line.
  [[nodiscard]] std::string_view rest() const noexcept { return kept_; }

 private:
  static constexpr std::size_t kept_bytes = 1 << 20;  // a larger buffer is freed after its line

  std::size_t limit_;
  std::string kept_;
  bool dropping_ = false;
};

/// A pipe, socket, terminal or file to read from. Other processes may share it, so its flags are not changed.
///
/// A client that sends one request at a time waits for each answer, so each system call costs time. Therefore a pipe is read
/// without poll; `wake` ends the wait by writing an empty line into the pipe.
class input {
 public:
  explicit input(int descriptor);
  ~input();
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  /// Waits for bytes and reads up to `most`; 0 at the end of input. Empty: `wake` was called. Errors: source_unavailable.
  /// Threads: one at a time.
  [[nodiscard]] result<std::optional<std::size_t>> read(char* into, std::size_t most);
  /// Ends reading: a waiting `read` and all later ones return empty. Threads: any.
  void wake();
  /// Whether the peer has closed its end, even if unread bytes are left. Threads: any.
  [[nodiscard]] bool has_ended() const;

 private:
  /// Waits for input or `wake`.
  void poll() const;
  /// Opens the write end of the pipe; -1 on failure.
  [[nodiscard]] int other_end() const;

  int descriptor_;
  int bell_;
  int spare_ = -1;  // closed when `wake` needs a descriptor
  bool is_pipe_ = false;
  std::atomic<bool> is_woken_{false};
};

}  // namespace hondana::transport::stdio

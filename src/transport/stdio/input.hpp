/// Reads lines from a descriptor until it is told to stop.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::transport::stdio {

/// Fed with what arrives, hands out whole lines. A line over the cap is dropped up to its newline and reported once.
class line_splitter {
 public:
  explicit line_splitter(std::size_t limit) : limit_(limit) {}

  /// Calls `line(text)` for every line completed by `bytes`, without its newline and carriage return, and `oversized()` for
  /// every line found too long. Empty lines are skipped.
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
        // Most lines arrive whole: those are handed on without a copy.
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

  /// What came after the last newline; a peer that ends its input there meant it as a line.
  [[nodiscard]] std::string_view rest() const noexcept { return kept_; }

 private:
  static constexpr std::size_t kept_bytes = 1 << 20;  // a buffer larger than this is given back after its line

  std::size_t limit_;
  std::string kept_;
  bool dropping_ = false;
};

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

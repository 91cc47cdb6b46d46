/// Cuts a byte stream into lines with a cap.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace hondana::transport::stdio

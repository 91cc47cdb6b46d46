/// Finds the ends of HTTP/1.1 answers in what arrives, touching as few bytes as it can.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace http_bench {

/// One connection's answers, by Content-Length or in chunks.
class answer_reader {
 public:
  /// Takes bytes; true when they end an answer, which nothing may follow. `keep`: receives the body; may be null.
  bool take(std::string_view bytes, std::string* keep = nullptr) {
    while (!bytes.empty()) {
      if (now_ == state::content) {
        const auto count = std::min(left_, bytes.size());
        if (keep != nullptr) keep->append(bytes.substr(0, count));
        left_ -= count;
        size_ += count;
        bytes.remove_prefix(count);
        if (left_ > 0) return false;
        if (!is_chunked_) return end(bytes);
        now_ = state::chunk_end;
        continue;
      }
      const std::string_view mark = now_ == state::head ? "\r\n\r\n" : "\r\n";
      // The mark may begin in what came before.
      const auto before = line_.size();
      line_ += bytes.substr(0, std::min<std::size_t>(bytes.size(), most_line));
      const auto at = line_.find(mark, before < mark.size() ? 0 : before - mark.size());
      if (at == std::string::npos) {
        if (line_.size() > most_line) throw std::runtime_error("a head or a chunk's line does not end");
        bytes.remove_prefix(line_.size() - before);
        continue;
      }
      line_.resize(at + mark.size());
      bytes.remove_prefix(line_.size() - before);
      if (read_line()) return end(bytes);
    }
    return false;
  }
  /// Of the last answer's body.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The session that its head named, in lower case; empty: none.
  [[nodiscard]] const std::string& session() const noexcept { return session_; }

 private:
  enum class state { head, content, chunk_head, chunk_end, last_line };
  static constexpr std::size_t most_line = 16 * 1024;

  bool end(std::string_view rest) {
    if (!rest.empty()) throw std::runtime_error("more than was asked for arrived");
    now_ = state::head;
    line_.clear();
    return true;
  }

  /// True when the answer ends here.
  bool read_line() {
    auto line = std::exchange(line_, {});
    switch (now_) {
      case state::head: {
        if (!line.starts_with("HTTP/1.1 200 ")) throw std::runtime_error("not 200: " + line);
        size_ = 0;
        // Names of fields in whatever case; nothing else of a head is looked at.
        std::transform(line.begin(), line.end(), line.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? c | 0x20 : c; });
        session_ = value_of(line, "mcp-session-id");
        is_chunked_ = value_of(line, "transfer-encoding") == "chunked";
        if (is_chunked_) {
          now_ = state::chunk_head;
          return false;
        }
        const auto length = value_of(line, "content-length");
        if (length.empty()) throw std::runtime_error("no length: " + line);
        left_ = number(length, 10);
        now_ = state::content;
        return left_ == 0;
      }
      case state::chunk_head:
        left_ = number(line, 16);
        now_ = left_ == 0 ? state::last_line : state::content;
        return false;
      case state::chunk_end:
        now_ = state::chunk_head;
        return false;
      default:
        return true;
    }
  }

  static std::string_view value_of(std::string_view head, std::string_view field) {
    const auto mark = "\r\n" + std::string(field) + ": ";
    const auto at = head.find(mark);
    if (at == std::string_view::npos) return {};
    const auto from = at + mark.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }

  static std::size_t number(std::string_view text, int base) {
    std::size_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value, base).ec != std::errc{}) {
      throw std::runtime_error("no number: " + std::string(text));
    }
    return value;
  }

  state now_ = state::head;
  std::string line_;
  bool is_chunked_ = false;
  std::size_t left_ = 0;
  std::size_t size_ = 0;
  std::string session_;
};

}  // namespace http_bench

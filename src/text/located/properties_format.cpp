/// Reads Java properties files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/utf8.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {
namespace {

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\f'; }
bool is_end(char c) noexcept { return c == '\n' || c == '\r'; }

void append_utf8(std::string& out, char32_t point) {
  const auto add = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

std::optional<char32_t> hex_of(std::string_view digits) {
  if (digits.size() != 4) return std::nullopt;
  char32_t all = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    const char letter = static_cast<char>(c | 0x20);
    if (!is_digit && (letter < 'a' || letter > 'f')) return std::nullopt;
    all = all << 4 | static_cast<char32_t>(is_digit ? c - '0' : letter - 'a' + 10);
  }
  return all;
}

/// A part of a logical line, decoded.
struct written {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class properties_reader {
 public:
  explicit properties_reader(reading& from)
      : from_(from), text_(from.text()), is_latin_(!json::is_utf8(text_)), table_(from.at(0, text_.size())) {}

  result<node> all() {
    if (is_latin_) from_.remark(0, "the file is not UTF-8 and is read as ISO 8859-1");
    while (skip_to_line()) {
      HONDANA_TRY(take());
    }
    return table_.take();
  }

 private:
  [[nodiscard]] char here() const noexcept { return at_ < text_.size() ? text_[at_] : '\n'; }
  [[nodiscard]] bool is_done() const noexcept { return at_ >= text_.size(); }

  /// Moves to the first character of the next line that is not empty and not a comment.
  bool skip_to_line() {
    while (!is_done()) {
      if (is_space(here()) || is_end(here())) {
        ++at_;
      } else if (here() == '#' || here() == '!') {
        while (!is_done() && !is_end(here())) ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  /// Skips backslashes at line ends, and leading white space of the following lines.
  void skip_continuation() {
    while (here() == '\\' && at_ + 1 < text_.size() && is_end(text_[at_ + 1])) {
      at_ += text_[at_ + 1] == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n' ? 3 : 2;
      while (!is_done() && is_space(here())) ++at_;
    }
    // A backslash at the very end has no meaning.
    if (here() == '\\' && at_ + 1 == text_.size()) ++at_;
  }

  void skip_space() {
    skip_continuation();
    while (!is_done() && is_space(here())) {
      ++at_;
      skip_continuation();
    }
  }

  result<void> take() {
    const auto begin = at_;
    HONDANA_TRY(auto key, take_part(true));
    skip_space();
    if (!is_done() && (here() == '=' || here() == ':')) {
      ++at_;
      skip_space();
    }
    HONDANA_TRY(auto value, take_part(false));
    HONDANA_TRY(from_.count(begin));
    auto made = text_node(std::move(value.text), from_.at(value.begin, value.end));
    if (!table_.put(key.text, from_.at(key.begin, key.end), std::move(made))) from_.remark_duplicate(begin, key.text);
    return {};
  }

  result<written> take_part(bool is_key) {
    skip_continuation();
    written part;
    part.begin = part.end = at_;
    for (;;) {
      skip_continuation();
      const char c = here();
      if (is_done() || is_end(c) || (is_key && (is_space(c) || c == '=' || c == ':'))) break;
      if (c == '\\') {
        HONDANA_TRY(take_escape(part.text));
      } else {
        append(part.text, c);
        ++at_;
      }
      part.end = at_;
    }
    return part;
  }

  void append(std::string& out, char c) const {
    if (is_latin_) {
      append_utf8(out, static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }

  result<void> take_escape(std::string& out) {
    const auto begin = at_;
    const char c = text_[at_ + 1];
    at_ += 2;
    if (c == 'u') return take_unit(out, begin);
    constexpr std::string_view names = "tnrf";
    constexpr std::string_view meant = "\t\n\r\f";
    const auto which = names.find(c);
    append(out, which == std::string_view::npos ? c : meant[which]);
    return {};
  }

  /// Decodes the digits after `\u`. Two surrogates are one character.
  result<void> take_unit(std::string& out, std::size_t begin) {
    constexpr char32_t replacement = 0xFFFD;
    const auto unit = hex_of(text_.substr(at_, 4));
    if (!unit) return from_.wrong(begin, "\\u without four hexadecimal digits");
    at_ += 4;
    auto point = *unit;
    if (point >= 0xD800 && point < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const auto low = hex_of(text_.substr(at_ + 2, 4));
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (*low - 0xDC00);
        at_ += 6;
      }
    }
    if (point >= 0xD800 && point < 0xE000) {
      from_.remark(begin, "half of a surrogate pair is not a character and is replaced");
      point = replacement;
    }
    if (point == 0) from_.remark(begin, "a NUL is written as an escape");
    append_utf8(out, point);
    return {};
  }

  reading& from_;
  std::string_view text_;
  bool is_latin_ = false;
  growing_table table_;
  std::size_t at_ = 0;
};

}  // namespace

result<node> read_properties(reading& from) { return properties_reader(from).all(); }

}  // namespace hondana::located

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
bool is_newline(char c) noexcept { return c == '\n' || c == '\r'; }

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

std::optional<char32_t> parse_hex_unit(std::string_view digits) {
  if (digits.size() != 4) return std::nullopt;
  char32_t unit = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    const char letter = static_cast<char>(c | 0x20);
    if (!is_digit && (letter < 'a' || letter > 'f')) return std::nullopt;
    unit = unit << 4 | static_cast<char32_t>(is_digit ? c - '0' : letter - 'a' + 10);
  }
  return unit;
}

/// A part of a logical line, decoded.
struct decoded_part {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class properties_reader {
 public:
  explicit properties_reader(parse_context& context)
      : context_(context), text_(context.text()), is_latin_(!json::is_utf8(text_)), table_(context.range_of(0, text_.size())) {}

  result<node> read() {
    if (is_latin_) context_.warn(0, "the file is not UTF-8 and is read as ISO 8859-1");
    while (skip_to_line()) {
      HONDANA_TRY(read_entry());
    }
    return table_.release();
  }

 private:
  [[nodiscard]] char current() const noexcept { return position_ < text_.size() ? text_[position_] : '\n'; }
  [[nodiscard]] bool is_at_end() const noexcept { return position_ >= text_.size(); }

  /// Moves to the first character of the next line that is not empty and not a comment.
  bool skip_to_line() {
    while (!is_at_end()) {
      if (is_space(current()) || is_newline(current())) {
        ++position_;
      } else if (current() == '#' || current() == '!') {
        while (!is_at_end() && !is_newline(current())) ++position_;
      } else {
        return true;
      }
    }
    return false;
  }

  /// Skips backslashes at line ends, and leading white space of the following lines.
  void skip_continuation() {
    while (current() == '\\' && position_ + 1 < text_.size() && is_newline(text_[position_ + 1])) {
      position_ += text_[position_ + 1] == '\r' && position_ + 2 < text_.size() && text_[position_ + 2] == '\n' ? 3 : 2;
      while (!is_at_end() && is_space(current())) ++position_;
    }
    // A backslash at the very end has no meaning.
    if (current() == '\\' && position_ + 1 == text_.size()) ++position_;
  }

  void skip_space() {
    skip_continuation();
    while (!is_at_end() && is_space(current())) {
      ++position_;
      skip_continuation();
    }
  }

  result<void> read_entry() {
    const auto begin = position_;
    HONDANA_TRY(auto key, read_part(true));
    skip_space();
    if (!is_at_end() && (current() == '=' || current() == ':')) {
      ++position_;
      skip_space();
    }
    HONDANA_TRY(auto value, read_part(false));
    HONDANA_TRY(context_.count_values(begin));
    auto leaf = text_node(std::move(value.text), context_.range_of(value.begin, value.end));
    if (!table_.put(key.text, context_.range_of(key.begin, key.end), std::move(leaf))) context_.warn_duplicate(begin, key.text);
    return {};
  }

  result<decoded_part> read_part(bool is_key) {
    skip_continuation();
    decoded_part part;
    part.begin = part.end = position_;
    for (;;) {
      skip_continuation();
      const char c = current();
      if (is_at_end() || is_newline(c) || (is_key && (is_space(c) || c == '=' || c == ':'))) break;
      if (c == '\\') {
        HONDANA_TRY(read_escape(part.text));
      } else {
        append(part.text, c);
        ++position_;
      }
      part.end = position_;
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

  result<void> read_escape(std::string& out) {
    const auto begin = position_;
    const char c = text_[position_ + 1];
    position_ += 2;
    if (c == 'u') return read_unicode_escape(out, begin);
    constexpr std::string_view letters = "tnrf";
    constexpr std::string_view values = "\t\n\r\f";
    const auto index = letters.find(c);
    append(out, index == std::string_view::npos ? c : values[index]);
    return {};
  }

  /// Decodes the digits after `\u`. Two surrogates are one character.
  result<void> read_unicode_escape(std::string& out, std::size_t begin) {
    constexpr char32_t replacement = 0xFFFD;
    const auto unit = parse_hex_unit(text_.substr(position_, 4));
    if (!unit) return context_.error_at(begin, "\\u without four hexadecimal digits");
    position_ += 4;
    auto point = *unit;
    if (point >= 0xD800 && point < 0xDC00 && text_.substr(position_).starts_with("\\u")) {
      const auto low = parse_hex_unit(text_.substr(position_ + 2, 4));
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (*low - 0xDC00);
        position_ += 6;
      }
    }
    if (point >= 0xD800 && point < 0xE000) {
      context_.warn(begin, "half of a surrogate pair is not a character and is replaced");
      point = replacement;
    }
    if (point == 0) context_.warn(begin, "a NUL is written as an escape");
    append_utf8(out, point);
    return {};
  }

  parse_context& context_;
  std::string_view text_;
  bool is_latin_ = false;
  table_builder table_;
  std::size_t position_ = 0;
};

}  // namespace

result<node> read_properties(parse_context& context) { return properties_reader(context).read(); }

}  // namespace hondana::located

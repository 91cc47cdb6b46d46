/// Escapes of PromQL's texts in three kinds of quotes.
#include "sources/metrics/series/quoting.hpp"

#include <cstdint>

namespace hondana::series {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
/// Prometheus takes the replacement character itself for broken UTF-8, and only its escape for what it is.
constexpr std::string_view replacement = "\xef\xbf\xbd";

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// The letter of the escape and what it stands for.
char simple_escape(char letter) noexcept {
  switch (letter) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return 0;
  }
}

void append_code_point(std::string& out, std::uint32_t point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xe0 | point >> 12);
    } else {
      add(0xf0 | point >> 18);
      add(0x80 | (point >> 12 & 0x3f));
    }
    add(0x80 | (point >> 6 & 0x3f));
  }
  add(0x80 | (point & 0x3f));
}

tl::unexpected<failure> refused_at(std::size_t at, std::string_view why) {
  return fail(errc::invalid_argument, "byte " + std::to_string(at + 1) + ": " + std::string(why));
}

/// Reads the escape whose backslash stands at `at` and moves there behind it. False: the text ends within it.
result<bool> read_escape(std::string_view text, std::size_t& at, char quote, std::string& out) {
  if (at + 1 >= text.size()) return false;
  const char letter = text[at + 1];
  if (letter == '\\' || letter == quote) {
    out += letter;
    at += 2;
    return true;
  }
  if (const char simple = simple_escape(letter)) {
    out += simple;
    at += 2;
    return true;
  }
  const bool is_octal = letter >= '0' && letter <= '7';
  const std::size_t digits = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0) return refused_at(at, "not a PromQL escape sequence");
  const std::size_t first = is_octal ? at + 1 : at + 2;
  std::uint32_t value = 0;
  for (std::size_t i = first; i < first + digits; ++i) {
    if (i >= text.size()) return false;
    const int digit = digit_of(text[i]);
    if (digit >= (is_octal ? 8 : 16))
      return refused_at(i, is_octal ? "expected an octal digit" : "expected a hexadecimal digit");
    value = value * (is_octal ? 8 : 16) + static_cast<std::uint32_t>(digit);
  }
  const bool is_byte = is_octal || letter == 'x';
  if (is_byte ? value > 0xff : value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return refused_at(at, is_byte ? "an escape for more than one byte" : "not a Unicode code point");
  if (is_byte)
    out += static_cast<char>(value);
  else
    append_code_point(out, value);
  at = first + digits;
  return true;
}

}  // namespace

void append_escaped(std::string& out, std::string_view value, char quote) {
  for (std::size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, hex_digits[byte >> 4]).append(1, hex_digits[byte & 15]);
    } else if (value.substr(at, replacement.size()) == replacement) {
      out += "\\ufffd";
      at += replacement.size() - 1;
    } else {
      out += c;
    }
  }
}

result<quoted_text> read_quoted(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  const char quote = text[at++];
  quoted_text out;
  while (at < text.size()) {
    const char c = text[at];
    if (c == quote) {
      out.is_closed = true;
      ++at;
      break;
    }
    if (c == '\n' && quote != '`') return refused_at(at, "write a line feed within quotes as \\n");
    if (c == '\\' && quote != '`') {
      HONDANA_TRY(const auto whole, read_escape(text, at, quote, out.value));
      if (!whole) break;
      continue;
    }
    out.value += c;
    ++at;
  }
  out.end = out.is_closed ? at : text.size();
  if (!is_utf8(out.value)) return refused_at(begin, "the quoted text is not valid UTF-8");
  return out;
}

}  // namespace hondana::series

/// The syntax of URIs (RFC 3986): character classes, percent-escapes, and query parameters.
#include "base/uri/uri_syntax.hpp"

#include <hondana/uri.hpp>

namespace hondana::uri {
namespace {

int hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

bool is_lower_hex(char c) noexcept { return c >= 'a' && c <= 'f'; }

}  // namespace

std::optional<unsigned char> escape_at(std::string_view text, std::size_t position) noexcept {
  if (position + 2 >= text.size() || text[position] != '%') return std::nullopt;
  const int high = hex_value(text[position + 1]);
  const int low = hex_value(text[position + 2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

void append_escape(std::string& out, unsigned char octet) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  const char escape[] = {'%', hex[octet >> 4U], hex[octet & 15U]};
  out.append(escape, 3);
}

std::string decode_except_slashes(std::string_view uri) {
  std::string out;
  out.reserve(uri.size());
  for (std::size_t position = 0; position < uri.size();) {
    const auto octet = escape_at(uri, position);
    if (octet && *octet != '/') {
      out += static_cast<char>(*octet);
      position += 3;
    } else {
      out += uri[position++];
    }
  }
  return out;
}

std::size_t utf8_length(std::string_view text, std::size_t position) noexcept {
  const auto octet = [&](std::size_t i) -> unsigned {
    return position + i < text.size() ? static_cast<unsigned char>(text[position + i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (octet(i) & 0xC0U) == 0x80U; };
  const unsigned first = octet(0);
  if (first < 0x80U) return position < text.size() ? 1 : 0;
  if (first >= 0xC2U && first <= 0xDFU) return continues(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const unsigned min_second = first == 0xE0U ? 0xA0U : 0x80U;
    const unsigned max_second = first == 0xEDU ? 0x9FU : 0xBFU;
    return octet(1) >= min_second && octet(1) <= max_second && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const unsigned min_second = first == 0xF0U ? 0x90U : 0x80U;
    const unsigned max_second = first == 0xF4U ? 0x8FU : 0xBFU;
    return octet(1) >= min_second && octet(1) <= max_second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::size_t escaped_code_point_length(std::string_view text, std::size_t position) noexcept {
  if (text[position] != '%') {
    const std::size_t raw = utf8_length(text, position);
    return raw == 0 ? 1 : raw;
  }
  char octets[4];
  std::size_t count = 0;
  while (count < 4) {
    const auto octet = escape_at(text, position + 3 * count);
    if (!octet) break;
    octets[count++] = static_cast<char>(*octet);
  }
  const std::size_t decoded_length = utf8_length(std::string_view(octets, count), 0);
  return decoded_length == 0 ? 3 : 3 * decoded_length;
}

std::optional<std::string_view> canonical_escapes(std::string_view text, std::string& storage) {
  bool is_canonical = true;
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] == '%') {
      const auto octet = escape_at(text, index);
      if (!octet || *octet == 0) return std::nullopt;
      if (unreserved.contains(static_cast<char>(*octet)) || is_lower_hex(text[index + 1]) || is_lower_hex(text[index + 2]))
        is_canonical = false;
      index += 2;
    } else if (static_cast<unsigned char>(text[index]) >= 0x80U) {
      is_canonical = false;
    }
  }
  if (is_canonical) return text;

  storage.clear();
  storage.reserve(text.size() + 16);
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (const auto octet = escape_at(text, position)) {
      if (unreserved.contains(static_cast<char>(*octet))) {
        storage.push_back(static_cast<char>(*octet));
      } else {
        append_escape(storage, *octet);
      }
      position += 2;
    } else if (static_cast<unsigned char>(text[position]) >= 0x80U) {
      append_escape(storage, static_cast<unsigned char>(text[position]));
    } else {
      storage.push_back(text[position]);
    }
  }
  return std::string_view(storage);
}

std::string escape_file_path(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) {
    if (file_path_characters.contains(byte)) {
      out.push_back(byte);
    } else {
      append_escape(out, static_cast<unsigned char>(byte));
    }
  }
  return out;
}

}  // namespace hondana::uri

namespace hondana::inline v0 {

std::string percent_encode(std::string_view bytes, bool keep_slashes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) {
    if (uri::unreserved.contains(byte) || (keep_slashes && byte == '/')) {
      out.push_back(byte);
    } else {
      uri::append_escape(out, static_cast<unsigned char>(byte));
    }
  }
  return out;
}

result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] != '%') {
      out.push_back(text[position]);
      continue;
    }
    const auto octet = uri::escape_at(text, position);
    if (!octet) {
      return fail(errc::invalid_argument, "the text has a broken percent-escape at byte " + std::to_string(position) +
                                              "; write % and two hexadecimal digits, and a percent sign itself as %25");
    }
    out.push_back(static_cast<char>(*octet));
    position += 2;
  }
  return out;
}

}  // namespace hondana::inline v0

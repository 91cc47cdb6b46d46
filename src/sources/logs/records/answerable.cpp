/// Taking out what does harm, or is no text.
#include "sources/logs/records/answerable.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::records {
namespace {

constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

}  // namespace

std::size_t behind_escape(std::string_view text, std::size_t at) noexcept {
  constexpr std::size_t longest = 256;  // an OSC that does not end is none
  const auto end = std::min(text.size(), at + longest);
  if (at + 1 >= end) return at + 1;
  if (text[at + 1] == '[') {
    auto i = at + 2;
    while (i < end && text[i] >= ' ' && text[i] < '@') ++i;
    return i < end && text[i] >= '@' && text[i] <= '~' ? i + 1 : i;
  }
  if (text[at + 1] == ']') {
    for (auto i = at + 2; i < end && text[i] != '\n'; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1B' && i + 1 < end && text[i + 1] == '\\') return i + 2;
    }
    return at + 2;
  }
  return text[at + 1] >= ' ' && text[at + 1] <= '~' ? at + 2 : at + 1;
}

bool is_plain(std::string_view text) noexcept {
  // Without a branch a byte, so that it takes vectors.
  unsigned bad = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bad |= static_cast<unsigned>((byte < 0x20) & (byte != '\n') & (byte != '\t')) | static_cast<unsigned>(byte >= 0x7F);
  }
  return bad == 0;
}

std::string answerable(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const auto stop = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_control) - text.begin());
    json::append_replacing(out, text.substr(at, stop - at));
    at = stop;
    if (at >= text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1B) {
      at = behind_escape(text, at);
      continue;
    }
    if (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] == '\n')) {
      ++at;
      continue;
    }
    out += "\xE2\x90";
    out += static_cast<char>(byte == 0x7F ? 0xA1 : 0x80 + byte);
    ++at;
  }
  return out;
}

}  // namespace hondana::records

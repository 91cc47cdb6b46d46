/// Paths as git quotes them where core.quotePath is true, which it is by default.
#include <string>
#include <string_view>

#include "sources/git/changes.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view escaped_bytes = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view their_letters = "abtnvfr\"\\";

bool needs_escape(unsigned char byte) noexcept { return byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\'; }

}  // namespace

std::string quoted_path(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  bool has_escapes = false;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (!needs_escape(byte)) {
      out += c;
      continue;
    }
    has_escapes = true;
    out += '\\';
    if (const auto at = escaped_bytes.find(c); at != std::string_view::npos) {
      out += their_letters[at];
    } else {
      for (const unsigned shift : {6u, 3u, 0u}) out += static_cast<char>('0' + ((byte >> shift) & 7u));
    }
  }
  return has_escapes ? '"' + out + '"' : out;
}

}  // namespace hondana::git

/// Taking comments and trailing commas out.
#include "app/cli/import/plain_json.hpp"

#include <cstddef>

namespace hondana::cli {
namespace {

/// The end of a string that begins at `at`, behind its closing quote.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const auto end = text[at + 1] == '/' ? text.find('\n', at) : text.find("*/", at + 2);
  if (end == std::string_view::npos) return text.size();
  return text[at + 1] == '/' ? end : end + 2;
}

}  // namespace

std::string plain_json(std::string_view text) {
  std::string out(text);
  constexpr auto none = std::string::npos;
  std::size_t comma = none;  // the last one that nothing but space and comments has followed
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      comma = none;
      at = end_of_string(text, at);
    } else if (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*')) {
      const auto end = end_of_comment(text, at);
      for (; at < end; ++at) {
        if (out[at] != '\n') out[at] = ' ';
      }
    } else {
      if (c == ',') {
        comma = at;
      } else if (c == '}' || c == ']') {
        if (comma != none) out[comma] = ' ';
        comma = none;
      } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
        comma = none;
      }
      ++at;
    }
  }
  return out;
}

}  // namespace hondana::cli

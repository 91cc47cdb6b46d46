/// Strings, comments and brackets of JSON.
#include "text/located/json_text.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <string>

namespace hondana::located {
namespace {

/// Behind the comment at `at`; at `at` when there is none.
std::size_t skip_comment(std::string_view text, std::size_t at) noexcept {
  const auto rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find_first_of("\r\n", at), text.size());
  if (!rest.starts_with("/*")) return at;
  const auto end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::size_t skip_string(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

}  // namespace

std::size_t skip_between(std::string_view text, std::size_t at) noexcept {
  for (;;) {
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    const auto behind = at < text.size() ? skip_comment(text, at) : at;
    if (behind == at) return at;
    at = behind;
  }
}

std::size_t skip_json_value(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (depth == 0) return at;
    } else if (c == '[' || c == '{') {
      ++depth;
      ++at;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return at;
      ++at;
      if (--depth == 0) return at;
    } else if (depth == 0 && (c == ',' || c == ':' || ascii::is_json_space(c))) {
      return at;
    } else {
      const auto behind = skip_comment(text, at);
      if (behind != at && depth == 0) return at;
      at = behind == at ? at + 1 : behind;
    }
  }
  return at;
}

result<void> check_json_size(const reading& from) {
  const auto text = from.text();
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '/') {
      const auto behind = skip_comment(text, at);
      at = behind == at ? at + 1 : behind;
      continue;
    }
    if ((c == '[' || c == '{') && ++depth > from.most().depth) return from.too_deep(at);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    // One more for each list and table that is empty or ends with a comma: no more than twice as many as there are.
    if (values > 2 * from.most().values + 2) {
      return from.too_many(at, "more than " + std::to_string(from.most().values) + " values");
    }
    ++at;
  }
  return {};
}

}  // namespace hondana::located

/// Goes through words, quotes, braces and comments; what is between does not matter.
#include "sources/metrics/promql_labels.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <cstddef>

#include "sources/metrics/masked.hpp"
#include "sources/metrics/series/identity.hpp"
#include "sources/metrics/series/quoting.hpp"

namespace hondana::metrics {
namespace {

bool is_in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

}  // namespace

result<std::set<std::string, std::less<>>> labels_in(std::string_view promql) {
  std::set<std::string, std::less<>> out;
  const auto add = [&](std::string_view name) {
    // Newer ones have labels of any text.
    if (series::is_label_name(name) || tells_secret(name)) out.emplace(name);
  };
  std::size_t depth = 0;
  bool is_value = false;  // of a matcher: its relation stands before
  for (std::size_t at = 0; at < promql.size();) {
    const char c = promql[at];
    if (ascii::is_json_space(c)) {
      ++at;
    } else if (c == '#') {
      at = std::min(promql.find_first_of("\r\n", at), promql.size());
    } else if (c == '"' || c == '\'' || c == '`') {
      const auto text = series::read_quoted(promql, at);
      if (!text) return fail(errc::invalid_argument, "promql, " + text.error().public_text);
      if (!is_value) add(text->value);
      is_value = false;
      at = text->end;
    } else if (is_in_name(c)) {
      const auto begin = at;
      while (at < promql.size() && is_in_name(promql[at])) ++at;
      if (depth > 0) add(promql.substr(begin, at - begin));
      is_value = false;
    } else {
      if (c == '{') ++depth;
      if (c == '}' && depth > 0) --depth;
      is_value = depth > 0 && (c == '=' || c == '~');
      ++at;
    }
  }
  return out;
}

}  // namespace hondana::metrics

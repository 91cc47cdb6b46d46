/// Matching names with patterns.
#include "sources/env/allow_list.hpp"

#include <algorithm>
#include <utility>

namespace hondana::env {
namespace {

bool is_matched(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0;
  std::size_t in_name = 0;
  auto star = std::string_view::npos;  // the last one passed, which takes as little as it can
  std::size_t taken_to = 0;            // by that
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_to = in_name;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in_name])) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++taken_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

result<allow_list> allow_list::of(std::vector<std::string> patterns) {
  if (patterns.empty()) {
    return fail(errc::invalid_argument, "no variable is allowed; name those to serve, such as [\"PATH\", \"LC_*\", \"APP_*\"]");
  }
  if (patterns.size() > most_patterns) {
    return fail(errc::invalid_argument,
                "there are more than " + std::to_string(most_patterns) + " patterns; use * for several names");
  }
  for (const auto& one : patterns) {
    if (one.find_first_of("[]^$()") != std::string::npos) {
      return fail(
          errc::invalid_argument,
          "the pattern \"" + one +
              "\" is not supported: regular expressions are not allowed; use names with * for any characters and ? for one");
    }
    if (one.empty()) return fail(errc::invalid_argument, "a pattern is empty; write a name, or * for all of them");
    if (one.size() > longest_pattern) {
      return fail(errc::invalid_argument, "a pattern is longer than " + std::to_string(longest_pattern) + " bytes");
    }
  }
  return allow_list(std::move(patterns));
}

bool allow_list::allows(std::string_view name) const noexcept {
  return std::any_of(patterns_.begin(), patterns_.end(), [name](const std::string& one) { return is_matched(one, name); });
}

}  // namespace hondana::env

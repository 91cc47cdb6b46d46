/// Looking around what parts names and values.
#include "providers/env/inner_secrets.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "providers/env/telling_names.hpp"

namespace hondana::env {
namespace {

constexpr std::size_t longest_inner_name = 64;
constexpr std::size_t longest_authority = 1024;
constexpr std::size_t least_drawn_user = 16;

using secrets::is;
using secrets::kind;
using secrets::span;

bool is_white(char c) noexcept { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }
bool is_mark(char c) noexcept { return c == '"' || c == '\''; }

/// A port, or the first of several hosts with theirs; empty counts, too.
bool begins_with_port(std::string_view what) noexcept {
  const auto behind = what.find_first_not_of("0123456789");
  return behind == std::string_view::npos || what[behind] == ',';
}

/// The credentials of the URL whose authority begins at `begin`.
void find_in_url(std::string_view value, std::size_t begin, std::vector<span>& into) {
  const auto rest = value.substr(begin, longest_authority);
  const auto end = static_cast<std::size_t>(
      std::find_if(rest.begin(), rest.end(),
                   [](char c) { return is_white(c) || c == '"' || c == '<' || c == '>' || c == '`'; }) -
      rest.begin());
  const auto url = rest.substr(0, end);
  const auto authority = url.substr(0, url.find_first_of("/?#"));
  auto at_sign = authority.rfind('@');
  const auto colon = url.find(':');
  const bool is_odd = colon < authority.size() && !url.starts_with('[') && !begins_with_port(authority.substr(colon + 1));
  // Some write a password with a slash in it as it is.
  if (at_sign == std::string_view::npos && is_odd) at_sign = url.rfind('@');
  if (at_sign == std::string_view::npos) {
    // What is no port may be a password that was cut off, as files do where a # stands in it.
    if (is_odd) into.push_back({begin + colon + 1, begin + authority.size()});
    return;
  }
  if (colon < at_sign) {
    if (colon + 1 < at_sign) into.push_back({begin + colon + 1, begin + at_sign});
  } else if (at_sign >= least_drawn_user && secrets::is_random(url.substr(0, at_sign))) {
    into.push_back({begin, begin + at_sign});
  }
}

/// A name that ends before `end`, a quotation mark aside, and the place where it begins.
struct inner_name {
  std::string_view text;
  std::size_t begin = 0;
};

inner_name name_before(std::string_view value, std::size_t end) noexcept {
  const auto least = end - std::min(end, 2 * longest_inner_name);
  while (end > least && (value[end - 1] == ' ' || value[end - 1] == '\t')) --end;
  if (end > least && is_mark(value[end - 1])) --end;
  if (end > least && value[end - 1] == '\\') --end;
  auto begin = end;
  while (begin > least && end - begin < longest_inner_name && is(kind::dotted, value[begin - 1])) --begin;
  return {value.substr(begin, end - begin), begin};
}

/// From `at` to where a value ends that stands there.
span value_at(std::string_view value, std::size_t at) noexcept {
  while (at < value.size() && (value[at] == ' ' || value[at] == '\t')) ++at;
  const bool is_escaped = at + 1 < value.size() && value[at] == '\\' && is_mark(value[at + 1]);
  if (is_escaped) ++at;
  if (at < value.size() && is_mark(value[at])) {
    const char mark = value[at];
    auto end = ++at;
    while (end < value.size() && value[end] != mark) end += !is_escaped && value[end] == '\\' ? 2 : 1;
    return {at, std::min(end, value.size())};
  }
  auto end = at;
  while (end < value.size() && !is_white(value[end]) && value[end] != ';' && value[end] != '&') ++end;
  return {at, end};
}

/// Whether a name before `at`, which is `=`, `:` or white, says that what stands behind it is secret.
bool is_told_at(std::string_view value, std::size_t at) {
  const char what = value[at];
  const auto name = name_before(value, at);
  if (name.text.empty()) return false;
  const char before = name.begin == 0 ? '\0' : value[name.begin - 1];
  if (what == ':' && (before == '/' || (at + 2 < value.size() && value[at + 1] == '/' && value[at + 2] == '/'))) return false;
  const bool is_switch = name.text.starts_with('-');
  if (is_white(what) && (!is_switch || at + 1 >= value.size() || value[at + 1] == '-')) return false;
  const bool is_parameter = before == '?' || before == '&' || before == '#';
  const auto told = told_by(name.text);
  return told == telling::strong || (told == telling::weak && is_parameter);
}

}  // namespace

void find_inner(std::string_view value, std::vector<span>& into) {
  for (auto at = value.find("://"); at != std::string_view::npos; at = value.find("://", at + 3))
    find_in_url(value, at + 3, into);
  for (std::size_t at = 0; at < value.size();) {
    const char c = value[at];
    if ((c != '=' && c != ':' && c != ' ' && c != '\t') || !is_told_at(value, at)) {
      ++at;
      continue;
    }
    const auto found = value_at(value, at + 1);
    if (found.begin < found.end) into.push_back(found);
    at = std::max(at + 1, found.end);
  }
}

}  // namespace hondana::env

/// Passwords inside values: in URLs, connection strings and command lines.
#include "text/secrets/embedded_secrets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "text/secrets/secret_names.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t longest_inner_name = 64;
constexpr std::size_t longest_authority = 1024;
constexpr std::size_t least_drawn_user = 16;

bool is_space_or_control(char c) noexcept { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }
bool is_mark(char c) noexcept { return c == '"' || c == '\''; }

/// Whether the text begins with a port, or the first of several hosts with ports. Empty counts, too.
bool begins_with_port(std::string_view what) noexcept {
  const auto behind = what.find_first_not_of("0123456789");
  return behind == std::string_view::npos || what[behind] == ',';
}

/// Finds the credentials of the URL whose authority begins at `begin`.
void find_in_url(std::string_view value, std::size_t begin, std::vector<span>& into, inner how) {
  const auto rest = value.substr(begin, longest_authority);
  const auto end = static_cast<std::size_t>(
      std::find_if(rest.begin(), rest.end(),
                   [](char c) { return is_space_or_control(c) || c == '"' || c == '<' || c == '>' || c == '`'; }) -
      rest.begin());
  const auto url = rest.substr(0, end);
  const auto authority = url.substr(0, url.find_first_of("/?#"));
  auto at_sign = authority.rfind('@');
  const auto colon = url.find(':');
  const auto is_shown = [&](std::size_t from, std::size_t to) {
    return how == inner::setting && stands_for_secret(value.substr(from, to - from));
  };
  const bool is_odd = colon < authority.size() && !url.starts_with('[') && !begins_with_port(authority.substr(colon + 1));
  // Some people write a slash in a password without encoding it.
  if (at_sign == std::string_view::npos && is_odd) at_sign = url.rfind('@');
  if (at_sign == std::string_view::npos) {
    // Text in place of the port may be a password that was cut off: some file formats end values at a #.
    if (is_odd && how == inner::variable) into.push_back({begin + colon + 1, begin + authority.size()});
    return;
  }
  if (colon < at_sign) {
    if (colon + 1 < at_sign && !is_shown(begin + colon + 1, begin + at_sign))
      into.push_back({begin + colon + 1, begin + at_sign});
  } else if (at_sign >= least_drawn_user && is_random(url.substr(0, at_sign))) {
    into.push_back({begin, begin + at_sign});
  }
}

/// The name that ends before `end`, without a quotation mark, and its position.
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

/// The value that begins at or after `at`.
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
  while (end < value.size() && !is_space_or_control(value[end]) && value[end] != ';' && value[end] != '&') ++end;
  return {at, end};
}

/// Whether only blanks and a list dash precede `at` on its line.
bool begins_its_line(std::string_view value, std::size_t at) noexcept {
  const auto least = at - std::min(at, longest_inner_name);
  while (at > least && (value[at - 1] == ' ' || value[at - 1] == '\t' || value[at - 1] == '-')) --at;
  return at == 0 || value[at - 1] == '\n' || value[at - 1] == '\r';
}

/// Whether the colon at `at` separates a name from its value; prose contains colons, too.
bool is_setting_colon(std::string_view value, std::size_t at, const inner_name& name, bool has_lines) noexcept {
  if (at > 0 && is_mark(value[at - 1])) return true;
  if (!has_lines || !begins_its_line(value, name.begin)) return false;
  const auto found = value_at(value, at + 1);
  const auto end = found.end + (found.end < value.size() && is_mark(value[found.end]) ? 1 : 0);
  return found.begin < found.end && (end == value.size() || value[end] == '\n' || value[end] == '\r');
}

/// Whether the name before `at` (`=`, `:` or white space) says that the value after it is secret.
bool is_told_at(std::string_view value, std::size_t at, inner how, bool has_lines) {
  const char what = value[at];
  const auto name = name_before(value, at);
  if (name.text.empty()) return false;
  const char before = name.begin == 0 ? '\0' : value[name.begin - 1];
  if (what == ':' && (before == '/' || (at + 2 < value.size() && value[at + 1] == '/' && value[at + 2] == '/'))) return false;
  const bool is_switch = name.text.starts_with('-');
  if (is_space_or_control(what) && (!is_switch || at + 1 >= value.size() || value[at + 1] == '-')) return false;
  if (how == inner::setting && is_space_or_control(what) && !is_telling_switch(name.text)) return false;
  if (how == inner::setting && what == ':' && !is_setting_colon(value, at, name, has_lines)) return false;
  const bool is_comparison = how == inner::setting && what == '=' && at + 1 < value.size() &&
                             std::string_view("=~>").find(value[at + 1]) != std::string_view::npos;
  if (is_comparison) return false;
  const bool is_parameter = before == '?' || before == '&' || before == '#';
  const auto told = told_by(name.text);
  return told == telling::strong || (told == telling::weak && is_parameter);
}

}  // namespace

bool is_telling_switch(std::string_view argument) {
  if (!argument.starts_with('-') || argument.starts_with("--no-") || argument.starts_with("--skip-")) return false;
  return std::all_of(argument.begin(), argument.end(), [](char c) { return is(kind::dotted, c); }) &&
         told_by(argument) == telling::strong;
}

bool is_user_switch(std::string_view name) noexcept {
  if (name.starts_with("--")) return name == "--user" || name == "--proxy-user";
  constexpr std::string_view without_argument = "sSfLkviIgGOJn";
  return name.starts_with('-') && name.find_first_not_of(without_argument, 1) == name.size() - 1 && name.ends_with('u');
}

bool stands_for_secret(std::string_view value) noexcept {
  constexpr std::array<std::array<std::string_view, 2>, 6> frames{
      {{"${", "}"}, {"$(", ")"}, {"{{", "}}"}, {"%(", ")s"}, {"<%", "%>"}, {"#{", "}"}}};
  constexpr std::array<std::string_view, 21> endings{".pem", ".key", ".crt",  ".cer", ".json", ".txt",  ".yaml",
                                                     ".yml", ".p12", ".toml", ".jks", ".pfx",  ".conf", ".asc",
                                                     ".gpg", ".pub", ".env",  ".ini", ".file", ".cfg",  ".keytab"};
  // Nothing may follow the frame. Its end may have been cut off at a blank.
  const auto is_in = [value](const auto& frame) {
    return value.starts_with(frame[0]) && (value.ends_with(frame[1]) || value.find(frame[1]) == std::string_view::npos);
  };
  const auto ends = [value](auto back) { return value.ends_with(back); };
  if (value.empty() || is_template(value)) return true;
  // The default inside a template is checked by its own name.
  if (std::any_of(frames.begin(), frames.end(), is_in)) return true;
  if (std::any_of(endings.begin(), endings.end(), ends) && is_name(value)) return true;
  return std::string_view("!&*@").find(value.front()) == std::string_view::npos && is_reference(value);
}

std::size_t behind_user(std::string_view credentials) noexcept {
  const auto colon = credentials.find(':');
  if (colon == std::string_view::npos || credentials.substr(colon).starts_with("://")) return std::string_view::npos;
  return stands_for_secret(credentials.substr(colon + 1)) ? std::string_view::npos : colon + 1;
}

void find_inner(std::string_view value, std::vector<span>& into, inner what) {
  for (auto at = value.find("://"); at != std::string_view::npos; at = value.find("://", at + 3))
    find_in_url(value, at + 3, into, what);
  const bool has_lines = value.find('\n') != std::string_view::npos;
  const bool has_users = what == inner::setting && value.find("curl") != std::string_view::npos;
  for (std::size_t at = 0; at < value.size();) {
    const char c = value[at];
    const bool parts = c == '=' || c == ':' || c == ' ' || c == '\t';
    if (parts && has_users && is_user_switch(name_before(value, at).text)) {
      const auto user = value_at(value, at + 1);
      const auto begin = behind_user(value.substr(user.begin, user.end - user.begin));
      if (begin != std::string_view::npos) into.push_back({user.begin + begin, user.end});
      at = std::max(at + 1, user.end);
      continue;
    }
    if (!parts || !is_told_at(value, at, what, has_lines)) {
      ++at;
      continue;
    }
    auto found = value_at(value, at + 1);
    // The end of a quotation that began before the name.
    const bool is_quoted = what == inner::setting && found.begin < found.end && is_mark(value[found.end - 1]) &&
                           value.find(value[found.end - 1], found.begin) == found.end - 1;
    if (is_quoted) --found.end;
    const bool is_shown = what == inner::setting && stands_for_secret(value.substr(found.begin, found.end - found.begin));
    if (found.begin < found.end && !is_shown) into.push_back(found);
    at = std::max(at + 1, found.end);
  }
}

}  // namespace hondana::secrets

/// Passwords inside values: in URLs, connection strings and command lines.
#include "text/secrets/embedded_secrets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "text/secrets/secret_names.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t max_inner_name_bytes = 64;
constexpr std::size_t max_authority_bytes = 1024;
constexpr std::size_t min_random_user_bytes = 16;

bool is_space_or_control(char c) noexcept { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }
bool is_quote_mark(char c) noexcept { return c == '"' || c == '\''; }

/// Whether the text begins with a port, or the first of several hosts with ports. Empty counts, too.
bool begins_with_port(std::string_view text) noexcept {
  const auto end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos || text[end] == ',';
}

/// Finds the credentials of the URL whose authority begins at `begin`.
void find_in_url(std::string_view value, std::size_t begin, std::vector<span>& spans, value_kind kind) {
  const auto remaining = value.substr(begin, max_authority_bytes);
  const auto end = static_cast<std::size_t>(
      std::find_if(remaining.begin(), remaining.end(),
                   [](char c) { return is_space_or_control(c) || c == '"' || c == '<' || c == '>' || c == '`'; }) -
      remaining.begin());
  const auto url = remaining.substr(0, end);
  const auto authority = url.substr(0, url.find_first_of("/?#"));
  auto at_sign = authority.rfind('@');
  const auto colon = url.find(':');
  const auto is_exempt = [&](std::size_t start, std::size_t end_position) {
    return kind == value_kind::setting && is_secret_reference(value.substr(start, end_position - start));
  };
  const bool has_odd_port = colon < authority.size() && !url.starts_with('[') && !begins_with_port(authority.substr(colon + 1));
  // Some people write a slash in a password without encoding it.
  if (at_sign == std::string_view::npos && has_odd_port) at_sign = url.rfind('@');
  if (at_sign == std::string_view::npos) {
    // Text in place of the port may be a password that was cut off: some file formats end values at a #.
    if (has_odd_port && kind == value_kind::variable) spans.push_back({begin + colon + 1, begin + authority.size()});
    return;
  }
  if (colon < at_sign) {
    if (colon + 1 < at_sign && !is_exempt(begin + colon + 1, begin + at_sign))
      spans.push_back({begin + colon + 1, begin + at_sign});
  } else if (at_sign >= min_random_user_bytes && is_random(url.substr(0, at_sign))) {
    spans.push_back({begin, begin + at_sign});
  }
}

/// The name that ends before `end`, without a quotation mark, and its position.
struct embedded_name {
  std::string_view text;
  std::size_t begin = 0;
};

embedded_name name_before(std::string_view value, std::size_t end) noexcept {
  const auto min_position = end - std::min(end, 2 * max_inner_name_bytes);
  while (end > min_position && (value[end - 1] == ' ' || value[end - 1] == '\t')) --end;
  if (end > min_position && is_quote_mark(value[end - 1])) --end;
  if (end > min_position && value[end - 1] == '\\') --end;
  auto begin = end;
  while (begin > min_position && end - begin < max_inner_name_bytes && is_in(byte_set::dotted, value[begin - 1])) --begin;
  return {value.substr(begin, end - begin), begin};
}

/// The value that begins at or after `position`.
span find_value_span(std::string_view value, std::size_t position) noexcept {
  while (position < value.size() && (value[position] == ' ' || value[position] == '\t')) ++position;
  const bool is_escaped = position + 1 < value.size() && value[position] == '\\' && is_quote_mark(value[position + 1]);
  if (is_escaped) ++position;
  if (position < value.size() && is_quote_mark(value[position])) {
    const char mark = value[position];
    auto end = ++position;
    while (end < value.size() && value[end] != mark) end += !is_escaped && value[end] == '\\' ? 2 : 1;
    return {position, std::min(end, value.size())};
  }
  auto end = position;
  while (end < value.size() && !is_space_or_control(value[end]) && value[end] != ';' && value[end] != '&') ++end;
  return {position, end};
}

/// Whether only blanks and a list dash precede `position` on its line.
bool is_at_line_start(std::string_view value, std::size_t position) noexcept {
  const auto min_position = position - std::min(position, max_inner_name_bytes);
  while (position > min_position && (value[position - 1] == ' ' || value[position - 1] == '\t' || value[position - 1] == '-'))
    --position;
  return position == 0 || value[position - 1] == '\n' || value[position - 1] == '\r';
}

/// Whether the colon at `position` separates a name from its value; prose contains colons, too.
bool is_setting_colon(std::string_view value, std::size_t position, const embedded_name& name, bool has_lines) noexcept {
  if (position > 0 && is_quote_mark(value[position - 1])) return true;
  if (!has_lines || !is_at_line_start(value, name.begin)) return false;
  const auto value_span = find_value_span(value, position + 1);
  const auto end = value_span.end + (value_span.end < value.size() && is_quote_mark(value[value_span.end]) ? 1 : 0);
  return value_span.begin < value_span.end && (end == value.size() || value[end] == '\n' || value[end] == '\r');
}

/// Whether the name before `position` (`=`, `:` or white space) says that the value after it is secret.
bool follows_secret_name(std::string_view value, std::size_t position, value_kind kind, bool has_lines) {
  const char separator = value[position];
  const auto name = name_before(value, position);
  if (name.text.empty()) return false;
  const char previous = name.begin == 0 ? '\0' : value[name.begin - 1];
  if (separator == ':' &&
      (previous == '/' || (position + 2 < value.size() && value[position + 1] == '/' && value[position + 2] == '/')))
    return false;
  const bool is_switch = name.text.starts_with('-');
  if (is_space_or_control(separator) && (!is_switch || position + 1 >= value.size() || value[position + 1] == '-'))
    return false;
  if (kind == value_kind::setting && is_space_or_control(separator) && !is_sensitive_switch(name.text)) return false;
  if (kind == value_kind::setting && separator == ':' && !is_setting_colon(value, position, name, has_lines)) return false;
  const bool is_comparison = kind == value_kind::setting && separator == '=' && position + 1 < value.size() &&
                             std::string_view("=~>").find(value[position + 1]) != std::string_view::npos;
  if (is_comparison) return false;
  const bool is_parameter = previous == '?' || previous == '&' || previous == '#';
  const auto level = classify_name(name.text);
  return level == sensitivity::strong || (level == sensitivity::weak && is_parameter);
}

}  // namespace

bool is_sensitive_switch(std::string_view argument) {
  if (!argument.starts_with('-') || argument.starts_with("--no-") || argument.starts_with("--skip-")) return false;
  return std::all_of(argument.begin(), argument.end(), [](char c) { return is_in(byte_set::dotted, c); }) &&
         classify_name(argument) == sensitivity::strong;
}

bool is_user_switch(std::string_view name) noexcept {
  if (name.starts_with("--")) return name == "--user" || name == "--proxy-user";
  constexpr std::string_view without_argument = "sSfLkviIgGOJn";
  return name.starts_with('-') && name.find_first_not_of(without_argument, 1) == name.size() - 1 && name.ends_with('u');
}

bool is_secret_reference(std::string_view value) noexcept {
  constexpr std::array<std::array<std::string_view, 2>, 6> frames{
      {{"${", "}"}, {"$(", ")"}, {"{{", "}}"}, {"%(", ")s"}, {"<%", "%>"}, {"#{", "}"}}};
  constexpr std::array<std::string_view, 21> endings{".pem", ".key", ".crt",  ".cer", ".json", ".txt",  ".yaml",
                                                     ".yml", ".p12", ".toml", ".jks", ".pfx",  ".conf", ".asc",
                                                     ".gpg", ".pub", ".env",  ".ini", ".file", ".cfg",  ".keytab"};
  // Nothing may follow the frame. Its end may have been cut off at a blank.
  const auto is_in_frame = [value](const auto& frame) {
    return value.starts_with(frame[0]) && (value.ends_with(frame[1]) || value.find(frame[1]) == std::string_view::npos);
  };
  const auto has_ending = [value](auto ending) { return value.ends_with(ending); };
  if (value.empty() || is_template(value)) return true;
  // The default inside a template is checked by its own name.
  if (std::any_of(frames.begin(), frames.end(), is_in_frame)) return true;
  if (std::any_of(endings.begin(), endings.end(), has_ending) && is_name(value)) return true;
  return std::string_view("!&*@").find(value.front()) == std::string_view::npos && is_reference(value);
}

std::size_t find_curl_password(std::string_view credentials) noexcept {
  const auto colon = credentials.find(':');
  if (colon == std::string_view::npos || credentials.substr(colon).starts_with("://")) return std::string_view::npos;
  return is_secret_reference(credentials.substr(colon + 1)) ? std::string_view::npos : colon + 1;
}

void find_embedded(std::string_view value, std::vector<span>& spans, value_kind kind) {
  for (auto scheme_position = value.find("://"); scheme_position != std::string_view::npos;
       scheme_position = value.find("://", scheme_position + 3))
    find_in_url(value, scheme_position + 3, spans, kind);
  const bool has_lines = value.find('\n') != std::string_view::npos;
  const bool has_users = kind == value_kind::setting && value.find("curl") != std::string_view::npos;
  for (std::size_t position = 0; position < value.size();) {
    const char c = value[position];
    const bool is_separator = c == '=' || c == ':' || c == ' ' || c == '\t';
    if (is_separator && has_users && is_user_switch(name_before(value, position).text)) {
      const auto user = find_value_span(value, position + 1);
      const auto begin = find_curl_password(value.substr(user.begin, user.end - user.begin));
      if (begin != std::string_view::npos) spans.push_back({user.begin + begin, user.end});
      position = std::max(position + 1, user.end);
      continue;
    }
    if (!is_separator || !follows_secret_name(value, position, kind, has_lines)) {
      ++position;
      continue;
    }
    auto value_span = find_value_span(value, position + 1);
    // The end of a quotation that began before the name.
    const bool is_quoted = kind == value_kind::setting && value_span.begin < value_span.end &&
                           is_quote_mark(value[value_span.end - 1]) &&
                           value.find(value[value_span.end - 1], value_span.begin) == value_span.end - 1;
    if (is_quoted) --value_span.end;
    const bool is_exempt =
        kind == value_kind::setting && is_secret_reference(value.substr(value_span.begin, value_span.end - value_span.begin));
    if (value_span.begin < value_span.end && !is_exempt) spans.push_back(value_span);
    position = std::max(position + 1, value_span.end);
  }
}

}  // namespace hondana::secrets

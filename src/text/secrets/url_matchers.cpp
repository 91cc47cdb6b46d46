/// Matchers for passwords in URLs and connection strings, and for secrets in HTTP headers.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t longest_header = 1024;  // limit for the part of a header before its value

bool ends_authority(char byte) noexcept { return byte == '/' || byte == '?' || byte == '#'; }
bool ends_url(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= ' ' || byte == '"' || byte == '<' || byte == '>' || byte == '`' || byte == '\\' ||
         byte == '|' || byte == '\x7F';
}

bool are_digits(std::string_view what) noexcept {
  return std::all_of(what.begin(), what.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the text after a scheme is not prose about it.
bool is_no_prose(std::string_view what) noexcept {
  const bool has_other = std::any_of(what.begin(), what.end(), [](char c) { return !ascii::is_letter(c); });
  const bool has_capital = std::any_of(what.begin() + 1, what.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return (has_other && what.back() != ':' && what.back() != '.') || has_capital;
}

std::string_view without_leading(std::string_view what, std::string_view bytes) noexcept {
  what.remove_prefix(std::min(what.size(), what.find_first_not_of(bytes)));
  return what;
}

}  // namespace

std::optional<span> match_url_password(const place& near) {
  const auto begin = near.at + 4;  // after "x://"
  const auto rest = near.from(begin).substr(0, looked_at_most);
  std::size_t end = 0;
  std::size_t authority_end = std::string_view::npos;
  std::size_t at_sign = std::string_view::npos;
  for (; end < rest.size() && !ends_url(rest[end]); ++end) {
    if (rest[end] == '@') {
      at_sign = end;
      if (authority_end != std::string_view::npos) break;
    }
    if (!ends_authority(rest[end]) || authority_end != std::string_view::npos) continue;
    authority_end = end;
    if (at_sign != std::string_view::npos) break;
    // Some people write a slash in a password without encoding it. After a host and a port, though, a slash begins the path.
    const auto colon = rest.substr(0, end).find(':');
    if (colon == std::string_view::npos || rest.front() == '[' || are_digits(rest.substr(colon + 1, end - colon - 1))) break;
  }
  near.count(2 * end);
  if (at_sign == std::string_view::npos) {
    // A password longer than the limit.
    const auto colon = rest.find(':');
    if (end < looked_at_most || authority_end != std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
    const auto user_end = near.uncut(kind::user, begin + end);
    if (near[user_end] != '@') return std::nullopt;
    return span{begin + colon + 1, user_end};
  }
  const auto user = rest.substr(0, at_sign);
  const auto colon = user.find(':');
  if (colon == std::string_view::npos) {
    if (user.size() < 20 || is_template(user) || !is_random(user)) return std::nullopt;
    return span{begin, begin + at_sign};
  }
  const auto password = user.substr(colon + 1);
  if (is_template(password)) return std::nullopt;
  return span{begin + colon + 1, begin + at_sign};
}

std::optional<span> match_authorization(const place& near) {
  constexpr std::size_t offset = 5;  // of "riza" in "authorization"
  constexpr std::string_view name = "authorization";
  if (near.at < offset || !begins_with(near.from(near.at - offset), name)) return std::nullopt;
  auto rest = near.from(near.at - offset + name.size()).substr(0, longest_header);
  const auto after_name = without_leading(rest, "\"'\\ \t]");
  if (after_name.empty() || (after_name.front() != ':' && after_name.front() != '=' && after_name.front() != ','))
    return std::nullopt;
  const auto between = rest.size() - after_name.size();
  if (between > 4 || (after_name.front() == ',' && between == 0)) return std::nullopt;
  rest = without_leading(after_name.substr(1), ">\"'`\\ \t");
  constexpr std::array<std::string_view, 8> schemes{"bearer", "basic",     "token",  "apikey",
                                                    "bot",    "negotiate", "digest", "aws4-hmac-sha256"};
  bool has_scheme = false;
  for (const auto scheme : schemes) {
    if (!begins_with(rest, scheme) || rest.size() <= scheme.size() || rest[scheme.size()] != ' ') continue;
    rest = without_leading(rest.substr(scheme.size()), " ");
    has_scheme = true;
    break;
  }
  if (rest.starts_with("Credential=")) {  // AWS: the signature is the secret
    const auto signature = rest.substr(0, 512).find("Signature=");
    if (signature == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(signature + 10);
  }
  const auto begin = static_cast<std::size_t>(rest.data() - near.text.data());
  const auto size = near.run(kind::credential, begin);
  near.count(looked_at_most);
  const auto value = near.from(begin).substr(0, size);
  const bool is_secret =
      has_scheme ? size >= 8 && !is_placeholder(value) && is_no_prose(value) : size >= 16 && is_random(value);
  if (!is_secret || is_template(value)) return std::nullopt;
  return span{begin, begin + size};
}

std::optional<span> match_key_header(const place& near) {
  constexpr std::string_view name = "api-key";
  constexpr std::size_t offset = 2;  // of "i-ke"
  if (near.at < offset || !begins_with(near.from(near.at - offset), name)) return std::nullopt;
  auto rest = near.from(near.at - offset + name.size()).substr(0, longest_header);
  const auto after_name = without_leading(rest, "\"'\\");
  if (after_name.empty() || after_name.front() != ':') return std::nullopt;
  rest = without_leading(after_name.substr(1), "\"'\\ \t");
  const auto begin = static_cast<std::size_t>(rest.data() - near.text.data());
  const auto size = near.run(kind::dotted, begin);
  near.count(looked_at_most);
  if (size < 16 || !is_random(near.from(begin).substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

namespace {

/// Whether the cookie with this name is a session id or a token.
bool is_session(std::string_view name) {
  const auto has_part = [name](std::string_view part) {
    return std::search(name.begin(), name.end(), part.begin(), part.end(),
                       [](char a, char b) { return ascii::lower(a) == b; }) != name.end();
  };
  return has_part("sess") || ascii::ends_with(name, "sid") || told_by(name) == telling::strong;
}

}  // namespace

void find_cookies(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into) {
  constexpr std::size_t longest_cookies = 2048;
  constexpr std::size_t least_session = 8;
  if (at == 0 || ascii::lower(text[at - 1]) != 'c' || !begins_with(text.substr(at), "ookie")) return;
  const bool is_switch = at >= 3 && text.substr(at - 3, 2) == "--";
  auto rest = without_leading(text.substr(at + 5, longest_cookies), "\"'\\");
  if (rest.empty() || (rest.front() != ':' && (!is_switch || (rest.front() != ' ' && rest.front() != '=')))) return;
  rest.remove_prefix(1);
  for (;;) {
    rest = without_leading(rest, "; ,\"'\\[");
    const auto name = rest.substr(0, run_of(kind::dotted, rest));
    rest.remove_prefix(name.size());
    runs.count(2 * name.size() + 1);
    if (name.empty()) return;
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    std::size_t size = 0;
    while (size < rest.size() && is(kind::item, rest[size]) && rest[size] != ';' && rest[size] != '\\') ++size;
    const auto value = rest.substr(0, std::min(size, looked_at_most));
    runs.count(size + 2 * value.size());
    rest.remove_prefix(size);
    if (size < least_session || is_template(value) || is_placeholder(value) || !is_session(name)) continue;
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    const auto end = rest.empty() ? std::min(runs.end_of(kind::credential, begin + size, 3), at + reach_ahead) : begin + size;
    into.push_back({begin, end});
  }
}

namespace {

/// Whether `text` begins with `name=`, blanks allowed, for a name from connection strings.
bool begins_with_part(std::string_view text, std::span<const std::string_view> names) noexcept {
  return std::any_of(names.begin(), names.end(), [text](auto name) {
    return begins_with(text, name) && without_leading(text.substr(name.size()), " ").starts_with('=');
  });
}

constexpr std::array<std::string_view, 17> part_names{
    "server", "host",   "hostaddr", "port",        "user",    "user id",         "userid",          "username", "uid",
    "dbname", "driver", "database", "data source", "sslmode", "initial catalog", "connect_timeout", "dsn"};

/// Whether the word before `at` is part of a connection string whose parts are separated by blanks.
bool follows_part(const place& near, std::size_t at) noexcept {
  constexpr std::size_t longest_part = 64;
  auto begin = at;
  while (begin > 0 && is(kind::blank, near[begin - 1])) --begin;
  if (begin == at) return false;
  const auto end = begin;
  if (end > 0 && near[end - 1] == ',') return false;  // arguments of a call
  while (begin > 0 && end - begin < longest_part && !is(kind::blank, near[begin - 1]) && near[begin - 1] != '"' &&
         near[begin - 1] != '\'')
    --begin;
  return begins_with_part(near.text.substr(begin, end - begin), part_names);
}

/// Whether the character at `at` is not escaped: an even number of backslashes precedes it.
bool is_unescaped(std::string_view text, std::size_t at) noexcept {
  std::size_t count = 0;
  while (count < at && text[at - 1 - count] == '\\') ++count;
  return count % 2 == 0;
}

enum class in_string : std::uint8_t {
  no,
  yes,
  nested,   ///< In a string within another one, with escaped quotes.
  unknown,  ///< Unknown: the line begins too far before.
};

/// Whether `at` is inside a quoted string that was opened on its line, as far as that is visible.
in_string string_around(const place& near, std::size_t at) noexcept {
  std::size_t quotes = 0;
  std::optional<std::size_t> nearest;
  auto begin = at;
  for (; begin > 0 && near[begin - 1] != '\n' && near[begin - 1] != '\r'; --begin) {
    if (near[begin - 1] != '"') continue;
    if (is_unescaped(near.text, begin - 1)) ++quotes;
    if (!nearest) nearest = begin - 1;
  }
  near.count(at - begin);
  // The beginning of a string follows a separator of values.
  const auto opens = [&near](std::size_t quote) {
    while (quote > 0 && (near[quote - 1] == ' ' || near[quote - 1] == '\\')) --quote;
    return quote > 0 && std::string_view(":,[{=(+").find(near[quote - 1]) != std::string_view::npos;
  };
  if (nearest && !is_unescaped(near.text, *nearest) && opens(*nearest)) return in_string::nested;
  if (begin > 0 || near.begin == 0) return quotes % 2 != 0 ? in_string::yes : in_string::no;
  if (quotes == 0) return in_string::unknown;
  return opens(*nearest) ? in_string::yes : in_string::no;
}

/// The closing brace of a value in braces; two braces mean one in the value.
std::size_t closing_brace(std::string_view rest) noexcept {
  for (auto end = rest.find('}'); end != std::string_view::npos; end = rest.find('}', end + 2)) {
    if (end + 1 >= rest.size() || rest[end + 1] != '}') return end;
  }
  return std::string_view::npos;
}

/// Whether the line looks like JSON: a string ends in it and further values follow, or it ends with a string.
bool looks_like_json(std::string_view line) noexcept {
  if (line.ends_with('"') || line.find("\",\"") != std::string_view::npos) return true;
  for (auto colon = line.find("\":"); colon != std::string_view::npos; colon = line.find("\":", colon + 2)) {
    const auto behind = without_leading(line.substr(colon + 2), " ");
    const bool is_word = behind.starts_with("true") || behind.starts_with("false") || behind.starts_with("null");
    if (is_word || (!behind.empty() && std::string_view("\"\\-0123456789{[").find(behind.front()) != std::string_view::npos))
      return true;
  }
  return false;
}

/// Whether a value begins with braces, which quote values in ODBC. Two braces begin a template.
bool begins_with_braces(std::string_view rest, in_string where) noexcept {
  if (!rest.starts_with('{') || rest.starts_with("{{")) return false;
  const auto end = closing_brace(rest);
  if (end == std::string_view::npos) return false;
  const char behind = end + 1 < rest.size() ? rest[end + 1] : '\0';
  const auto line = rest.substr(0, end);
  // The brace may be one of surrounding JSON.
  bool is_behind_string = where == in_string::unknown && looks_like_json(line);
  for (auto quote = line.find('"'); quote != std::string_view::npos; quote = line.find('"', quote + 1)) {
    const bool is_end = where == in_string::nested || (where == in_string::yes && is_unescaped(line, quote));
    is_behind_string = is_behind_string || is_end;
  }
  return !is_behind_string &&
         std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }) &&
         (static_cast<unsigned char>(behind) <= ' ' || std::string_view(";\"'`").find(behind) != std::string_view::npos);
}

}  // namespace

std::optional<span> match_connection_password(const place& near) {
  const bool is_long = ascii::lower(near[near.at]) == 's';
  const auto offset = is_long ? 3u : 0u;  // of "swor" in "password"; "pwd" begins with its anchor
  if (near.at < offset) return std::nullopt;
  const auto name_at = near.at - offset;
  const auto name = std::string_view(is_long ? "password" : "pwd");
  auto rest = near.from(name_at).substr(0, looked_at_most);
  if (!begins_with(rest, name)) return std::nullopt;
  rest = without_leading(rest.substr(name.size()), " ");
  if (!rest.starts_with('=')) return std::nullopt;
  rest = without_leading(rest.substr(1), " ");
  auto before = name_at;
  while (before > 0 && name_at - before < 8 && near[before - 1] == ' ') --before;
  const char front = before > 0 ? near[before - 1] : '\0';
  const bool is_apart = follows_part(near, name_at);
  const bool is_first = before != name_at || (begins_anew(near, name_at) && front != '_' && front != '-');
  if (front != ';' && !is_first && !is_apart) return std::nullopt;
  // In JSON and in programs, a quote may be escaped.
  const bool is_escaped = rest.size() > 1 && rest[0] == '\\' && rest[1] == '"';
  const auto quoted = is_escaped ? rest.substr(1) : rest;
  // It must not be the end of a string in a program.
  const bool opens = quoted.size() > 1 && (quoted[0] == '\'' || quoted[0] == '"') &&
                     std::string_view(is_escaped ? " ;,.+)&|\\" : " ;,.+)&|").find(quoted[1]) == std::string_view::npos;
  const bool is_braced = rest.starts_with('{') && begins_with_braces(rest, string_around(near, name_at));
  const char quote = opens ? quoted.front() : is_braced ? '}' : '\0';
  const auto end_of_value = is_braced ? closing_brace(rest) : 0;
  if (quote != '\0') rest.remove_prefix(opens && is_escaped ? 2 : 1);
  std::size_t size = 0;
  const auto ends = [&](std::size_t at) {
    const char byte = rest[at];
    if (static_cast<unsigned char>(byte) < ' ') return true;
    // The end of the surrounding string, or the closing quote of the value.
    if (byte == '\\' && at + 1 < rest.size() && rest[at + 1] == '"' && (quote == '\0' || is_escaped)) return true;
    if (is_braced) return at + 1 == end_of_value;
    if (quote != '\0') return byte == quote;
    return byte == '"' || byte == '\'' || byte == '`' || byte == (is_apart ? ' ' : ';');
  };
  const auto is_pair = [&](char second) { return size + 1 < rest.size() && rest[size] == '\\' && rest[size + 1] == second; };
  // A doubled backslash does not escape the next character.
  while (size < rest.size() && !ends(size)) size += is_pair('\\') ? 2 : 1;
  near.count(2 * size);
  const auto value = rest.substr(0, size);
  // The first part counts only if other parts follow, or if the whole string is quoted.
  const bool is_quoted = quote == '\0' && (front == '"' || front == '\'' || front == '`') && size < rest.size() &&
                         (rest[size] == front || is_pair(front)) && value.find(' ') == std::string_view::npos;
  const auto behind = without_leading(rest.substr(size), is_braced ? "}; " : "; ");
  if (front != ';' && !is_apart && !is_quoted && !begins_with_part(behind, part_names)) {
    // If blanks separate the parts, the next one does not follow a semicolon.
    const auto blank = value.find(' ');
    if (blank == std::string_view::npos || value.substr(0, blank).ends_with(',') ||
        !begins_with_part(without_leading(value.substr(blank), " "), part_names))
      return std::nullopt;
    size = blank;
  }
  const auto begin = static_cast<std::size_t>(rest.data() - near.text.data());
  // A placeholder to be filled in is a name, without the characters that need braces.
  const auto inside = value.substr(0, size);
  if (is_braced ? is_name(inside) && inside.find_first_of("\"\\;") == std::string_view::npos : is_template(inside))
    return std::nullopt;
  const bool is_cut = size == rest.size() && begin + size < near.text.size();
  return span{begin, is_cut ? near.uncut(kind::item, begin + size) : begin + size};
}

}  // namespace hondana::secrets

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

constexpr std::size_t max_header_line_bytes = 1024;  // limit for the part of a header before its value

bool ends_authority(char byte) noexcept { return byte == '/' || byte == '?' || byte == '#'; }
bool ends_url(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= ' ' || byte == '"' || byte == '<' || byte == '>' || byte == '`' || byte == '\\' ||
         byte == '|' || byte == '\x7F';
}

bool are_digits(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the text after a scheme is not prose about it.
bool is_not_prose(std::string_view text) noexcept {
  const bool has_other = std::any_of(text.begin(), text.end(), [](char c) { return !ascii::is_letter(c); });
  const bool has_capital = std::any_of(text.begin() + 1, text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return (has_other && text.back() != ':' && text.back() != '.') || has_capital;
}

std::string_view skip_leading(std::string_view text, std::string_view bytes) noexcept {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(bytes)));
  return text;
}

}  // namespace

std::optional<span> match_url_password(const match_context& context) {
  const auto begin = context.position + 4;  // after "x://"
  const auto remaining = context.text_from(begin).substr(0, max_examined_bytes);
  std::size_t end = 0;
  std::size_t authority_end = std::string_view::npos;
  std::size_t at_sign = std::string_view::npos;
  for (; end < remaining.size() && !ends_url(remaining[end]); ++end) {
    if (remaining[end] == '@') {
      at_sign = end;
      if (authority_end != std::string_view::npos) break;
    }
    if (!ends_authority(remaining[end]) || authority_end != std::string_view::npos) continue;
    authority_end = end;
    if (at_sign != std::string_view::npos) break;
    // Some people write a slash in a password without encoding it. After a host and a port, though, a slash begins the path.
    const auto colon = remaining.substr(0, end).find(':');
    if (colon == std::string_view::npos || remaining.front() == '[' || are_digits(remaining.substr(colon + 1, end - colon - 1)))
      break;
  }
  context.count(2 * end);
  if (at_sign == std::string_view::npos) {
    // A password longer than the limit.
    const auto colon = remaining.find(':');
    if (end < max_examined_bytes || authority_end != std::string_view::npos || colon == std::string_view::npos)
      return std::nullopt;
    const auto user_end = context.extend_to_run_end(byte_set::user, begin + end);
    if (context[user_end] != '@') return std::nullopt;
    return span{begin + colon + 1, user_end};
  }
  const auto user = remaining.substr(0, at_sign);
  const auto colon = user.find(':');
  if (colon == std::string_view::npos) {
    if (user.size() < 20 || is_template(user) || !is_random(user)) return std::nullopt;
    return span{begin, begin + at_sign};
  }
  const auto password = user.substr(colon + 1);
  if (is_template(password)) return std::nullopt;
  return span{begin + colon + 1, begin + at_sign};
}

std::optional<span> match_authorization(const match_context& context) {
  constexpr std::size_t offset = 5;  // of "riza" in "authorization"
  constexpr std::string_view name = "authorization";
  if (context.position < offset || !starts_with_ignore_case(context.text_from(context.position - offset), name))
    return std::nullopt;
  auto remaining = context.text_from(context.position - offset + name.size()).substr(0, max_header_line_bytes);
  const auto after_name = skip_leading(remaining, "\"'\\ \t]");
  if (after_name.empty() || (after_name.front() != ':' && after_name.front() != '=' && after_name.front() != ','))
    return std::nullopt;
  const auto gap = remaining.size() - after_name.size();
  if (gap > 4 || (after_name.front() == ',' && gap == 0)) return std::nullopt;
  remaining = skip_leading(after_name.substr(1), ">\"'`\\ \t");
  constexpr std::array<std::string_view, 8> schemes{"bearer", "basic",     "token",  "apikey",
                                                    "bot",    "negotiate", "digest", "aws4-hmac-sha256"};
  bool has_scheme = false;
  for (const auto scheme : schemes) {
    if (!starts_with_ignore_case(remaining, scheme) || remaining.size() <= scheme.size() || remaining[scheme.size()] != ' ')
      continue;
    remaining = skip_leading(remaining.substr(scheme.size()), " ");
    has_scheme = true;
    break;
  }
  if (remaining.starts_with("Credential=")) {  // AWS: the signature is the secret
    const auto signature = remaining.substr(0, 512).find("Signature=");
    if (signature == std::string_view::npos) return std::nullopt;
    remaining.remove_prefix(signature + 10);
  }
  const auto begin = static_cast<std::size_t>(remaining.data() - context.text.data());
  const auto size = context.run(byte_set::credential, begin);
  context.count(max_examined_bytes);
  const auto value = context.text_from(begin).substr(0, size);
  const bool is_secret =
      has_scheme ? size >= 8 && !is_placeholder(value) && is_not_prose(value) : size >= 16 && is_random(value);
  if (!is_secret || is_template(value)) return std::nullopt;
  return span{begin, begin + size};
}

std::optional<span> match_key_header(const match_context& context) {
  constexpr std::string_view name = "api-key";
  constexpr std::size_t offset = 2;  // of "i-ke"
  if (context.position < offset || !starts_with_ignore_case(context.text_from(context.position - offset), name))
    return std::nullopt;
  auto remaining = context.text_from(context.position - offset + name.size()).substr(0, max_header_line_bytes);
  const auto after_name = skip_leading(remaining, "\"'\\");
  if (after_name.empty() || after_name.front() != ':') return std::nullopt;
  remaining = skip_leading(after_name.substr(1), "\"'\\ \t");
  const auto begin = static_cast<std::size_t>(remaining.data() - context.text.data());
  const auto size = context.run(byte_set::dotted, begin);
  context.count(max_examined_bytes);
  if (size < 16 || !is_random(context.text_from(begin).substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

namespace {

/// Whether the cookie with this name is a session id or a token.
bool is_session(std::string_view name) {
  const auto has_part = [name](std::string_view part) {
    return std::search(name.begin(), name.end(), part.begin(), part.end(),
                       [](char a, char b) { return ascii::to_lower(a) == b; }) != name.end();
  };
  return has_part("sess") || ascii::ends_with_ignore_case(name, "sid") || classify_name(name) == sensitivity::strong;
}

}  // namespace

void find_cookies(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans) {
  constexpr std::size_t max_cookies_bytes = 2048;
  constexpr std::size_t min_session_bytes = 8;
  if (position == 0 || ascii::to_lower(text[position - 1]) != 'c' || !starts_with_ignore_case(text.substr(position), "ookie"))
    return;
  const bool is_switch = position >= 3 && text.substr(position - 3, 2) == "--";
  auto remaining = skip_leading(text.substr(position + 5, max_cookies_bytes), "\"'\\");
  if (remaining.empty() || (remaining.front() != ':' && (!is_switch || (remaining.front() != ' ' && remaining.front() != '='))))
    return;
  remaining.remove_prefix(1);
  for (;;) {
    remaining = skip_leading(remaining, "; ,\"'\\[");
    const auto name = remaining.substr(0, run_length(byte_set::dotted, remaining));
    remaining.remove_prefix(name.size());
    runs.count(2 * name.size() + 1);
    if (name.empty()) return;
    if (!remaining.starts_with('=')) continue;
    remaining.remove_prefix(1);
    std::size_t size = 0;
    while (size < remaining.size() && is_in(byte_set::item, remaining[size]) && remaining[size] != ';' &&
           remaining[size] != '\\')
      ++size;
    const auto value = remaining.substr(0, std::min(size, max_examined_bytes));
    runs.count(size + 2 * value.size());
    remaining.remove_prefix(size);
    if (size < min_session_bytes || is_template(value) || is_placeholder(value) || !is_session(name)) continue;
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    const auto end = remaining.empty()
                         ? std::min(runs.end_of_run(byte_set::credential, begin + size, 3), position + context_bytes_after)
                         : begin + size;
    spans.push_back({begin, end});
  }
}

namespace {

/// Whether `text` begins with `name=`, blanks allowed, for a name from connection strings.
bool begins_with_part(std::string_view text, std::span<const std::string_view> names) noexcept {
  return std::any_of(names.begin(), names.end(), [text](auto name) {
    return starts_with_ignore_case(text, name) && skip_leading(text.substr(name.size()), " ").starts_with('=');
  });
}

constexpr std::array<std::string_view, 17> part_names{
    "server", "host",   "hostaddr", "port",        "user",    "user id",         "userid",          "username", "uid",
    "dbname", "driver", "database", "data source", "sslmode", "initial catalog", "connect_timeout", "dsn"};

/// Whether the word before `position` is part of a connection string whose parts are separated by blanks.
bool follows_part(const match_context& context, std::size_t position) noexcept {
  constexpr std::size_t max_part_bytes = 64;
  auto begin = position;
  while (begin > 0 && is_in(byte_set::blank, context[begin - 1])) --begin;
  if (begin == position) return false;
  const auto end = begin;
  if (end > 0 && context[end - 1] == ',') return false;  // arguments of a call
  while (begin > 0 && end - begin < max_part_bytes && !is_in(byte_set::blank, context[begin - 1]) &&
         context[begin - 1] != '"' && context[begin - 1] != '\'')
    --begin;
  return begins_with_part(context.text.substr(begin, end - begin), part_names);
}

/// Whether the character at `position` is not escaped: an even number of backslashes precedes it.
bool is_unescaped(std::string_view text, std::size_t position) noexcept {
  std::size_t count = 0;
  while (count < position && text[position - 1 - count] == '\\') ++count;
  return count % 2 == 0;
}

enum class string_state : std::uint8_t {
  outside,
  inside,
  nested,   ///< In a string within another one, with escaped quotes.
  unknown,  ///< Unknown: the line begins too far before.
};

/// Whether `position` is inside a quoted string that was opened on its line, as far as that is visible.
string_state string_state_at(const match_context& context, std::size_t position) noexcept {
  std::size_t quotes = 0;
  std::optional<std::size_t> nearest;
  auto begin = position;
  for (; begin > 0 && context[begin - 1] != '\n' && context[begin - 1] != '\r'; --begin) {
    if (context[begin - 1] != '"') continue;
    if (is_unescaped(context.text, begin - 1)) ++quotes;
    if (!nearest) nearest = begin - 1;
  }
  context.count(position - begin);
  // The beginning of a string follows a separator of values.
  const auto opens_string = [&context](std::size_t quote) {
    while (quote > 0 && (context[quote - 1] == ' ' || context[quote - 1] == '\\')) --quote;
    return quote > 0 && std::string_view(":,[{=(+").find(context[quote - 1]) != std::string_view::npos;
  };
  if (nearest && !is_unescaped(context.text, *nearest) && opens_string(*nearest)) return string_state::nested;
  if (begin > 0 || context.offset == 0) return quotes % 2 != 0 ? string_state::inside : string_state::outside;
  if (quotes == 0) return string_state::unknown;
  return opens_string(*nearest) ? string_state::inside : string_state::outside;
}

/// The closing brace of a value in braces; two braces mean one in the value.
std::size_t closing_brace(std::string_view text) noexcept {
  for (auto end = text.find('}'); end != std::string_view::npos; end = text.find('}', end + 2)) {
    if (end + 1 >= text.size() || text[end + 1] != '}') return end;
  }
  return std::string_view::npos;
}

/// Whether the line looks like JSON: a string ends in it and further values follow, or it ends with a string.
bool looks_like_json(std::string_view line) noexcept {
  if (line.ends_with('"') || line.find("\",\"") != std::string_view::npos) return true;
  for (auto colon = line.find("\":"); colon != std::string_view::npos; colon = line.find("\":", colon + 2)) {
    const auto following = skip_leading(line.substr(colon + 2), " ");
    const bool is_word = following.starts_with("true") || following.starts_with("false") || following.starts_with("null");
    if (is_word ||
        (!following.empty() && std::string_view("\"\\-0123456789{[").find(following.front()) != std::string_view::npos))
      return true;
  }
  return false;
}

/// Whether a value begins with braces, which quote values in ODBC. Two braces begin a template.
bool begins_with_braces(std::string_view text, string_state state) noexcept {
  if (!text.starts_with('{') || text.starts_with("{{")) return false;
  const auto end = closing_brace(text);
  if (end == std::string_view::npos) return false;
  const char following = end + 1 < text.size() ? text[end + 1] : '\0';
  const auto line = text.substr(0, end);
  // The brace may be one of surrounding JSON.
  bool has_string_end = state == string_state::unknown && looks_like_json(line);
  for (auto quote = line.find('"'); quote != std::string_view::npos; quote = line.find('"', quote + 1)) {
    const bool is_end = state == string_state::nested || (state == string_state::inside && is_unescaped(line, quote));
    has_string_end = has_string_end || is_end;
  }
  return !has_string_end &&
         std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }) &&
         (static_cast<unsigned char>(following) <= ' ' || std::string_view(";\"'`").find(following) != std::string_view::npos);
}

}  // namespace

std::optional<span> match_connection_password(const match_context& context) {
  const bool is_long = ascii::to_lower(context[context.position]) == 's';
  const auto offset = is_long ? 3u : 0u;  // of "swor" in "password"; "pwd" begins with its anchor
  if (context.position < offset) return std::nullopt;
  const auto name_at = context.position - offset;
  const auto name = std::string_view(is_long ? "password" : "pwd");
  auto remaining = context.text_from(name_at).substr(0, max_examined_bytes);
  if (!starts_with_ignore_case(remaining, name)) return std::nullopt;
  remaining = skip_leading(remaining.substr(name.size()), " ");
  if (!remaining.starts_with('=')) return std::nullopt;
  remaining = skip_leading(remaining.substr(1), " ");
  auto previous_end = name_at;
  while (previous_end > 0 && name_at - previous_end < 8 && context[previous_end - 1] == ' ') --previous_end;
  const char front = previous_end > 0 ? context[previous_end - 1] : '\0';
  const bool is_blank_separated = follows_part(context, name_at);
  const bool is_first = previous_end != name_at || (may_begin_token(context, name_at) && front != '_' && front != '-');
  if (front != ';' && !is_first && !is_blank_separated) return std::nullopt;
  // In JSON and in programs, a quote may be escaped.
  const bool is_escaped = remaining.size() > 1 && remaining[0] == '\\' && remaining[1] == '"';
  const auto quoted = is_escaped ? remaining.substr(1) : remaining;
  // It must not be the end of a string in a program.
  const bool opens_quote = quoted.size() > 1 && (quoted[0] == '\'' || quoted[0] == '"') &&
                           std::string_view(is_escaped ? " ;,.+)&|\\" : " ;,.+)&|").find(quoted[1]) == std::string_view::npos;
  const bool is_braced = remaining.starts_with('{') && begins_with_braces(remaining, string_state_at(context, name_at));
  const char quote = opens_quote ? quoted.front() : is_braced ? '}' : '\0';
  const auto end_of_value = is_braced ? closing_brace(remaining) : 0;
  if (quote != '\0') remaining.remove_prefix(opens_quote && is_escaped ? 2 : 1);
  std::size_t size = 0;
  const auto is_end = [&](std::size_t position) {
    const char byte = remaining[position];
    if (static_cast<unsigned char>(byte) < ' ') return true;
    // The end of the surrounding string, or the closing quote of the value.
    if (byte == '\\' && position + 1 < remaining.size() && remaining[position + 1] == '"' && (quote == '\0' || is_escaped))
      return true;
    if (is_braced) return position + 1 == end_of_value;
    if (quote != '\0') return byte == quote;
    return byte == '"' || byte == '\'' || byte == '`' || byte == (is_blank_separated ? ' ' : ';');
  };
  const auto is_pair = [&](char second) {
    return size + 1 < remaining.size() && remaining[size] == '\\' && remaining[size + 1] == second;
  };
  // A doubled backslash does not escape the next character.
  while (size < remaining.size() && !is_end(size)) size += is_pair('\\') ? 2 : 1;
  context.count(2 * size);
  const auto value = remaining.substr(0, size);
  // The first part counts only if other parts follow, or if the whole string is quoted.
  const bool is_quoted = quote == '\0' && (front == '"' || front == '\'' || front == '`') && size < remaining.size() &&
                         (remaining[size] == front || is_pair(front)) && value.find(' ') == std::string_view::npos;
  const auto following = skip_leading(remaining.substr(size), is_braced ? "}; " : "; ");
  if (front != ';' && !is_blank_separated && !is_quoted && !begins_with_part(following, part_names)) {
    // If blanks separate the parts, the next one does not follow a semicolon.
    const auto blank = value.find(' ');
    if (blank == std::string_view::npos || value.substr(0, blank).ends_with(',') ||
        !begins_with_part(skip_leading(value.substr(blank), " "), part_names))
      return std::nullopt;
    size = blank;
  }
  const auto begin = static_cast<std::size_t>(remaining.data() - context.text.data());
  // A placeholder to be filled in is a name, without the characters that need braces.
  const auto inside = value.substr(0, size);
  if (is_braced ? is_name(inside) && inside.find_first_of("\"\\;") == std::string_view::npos : is_template(inside))
    return std::nullopt;
  const bool is_truncated = size == remaining.size() && begin + size < context.text.size();
  return span{begin, is_truncated ? context.extend_to_run_end(byte_set::item, begin + size) : begin + size};
}

}  // namespace hondana::secrets

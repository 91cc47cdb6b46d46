/// Matchers for passwords in SQL and curl commands, and in files such as .netrc and .pgpass.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "text/secrets/embedded_secrets.hpp"
#include "text/secrets/matcher.hpp"

namespace hondana::secrets {
namespace {

std::size_t skip_blanks(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && is_in(byte_set::blank, text[position])) ++position;
  return position;
}

/// The position after `word` at `position` and the blanks that follow it; `position` if there is another word.
std::size_t skip_word(std::string_view text, std::size_t position, std::string_view word) noexcept {
  if (!starts_with_ignore_case(text.substr(position), word)) return position;
  const auto next = skip_blanks(text, position + word.size());
  return next == position + word.size() ? position : next;
}

/// Whether `position` is inside a statement that creates or changes a user.
bool is_about_user(const match_context& context, std::size_t position) noexcept {
  constexpr std::array<std::string_view, 2> verbs{"create", "alter"};
  constexpr std::array<std::string_view, 4> nouns{"user", "role", "login", "group"};
  const auto preceding =
      context.text.substr(position - std::min(position, context_bytes_before), std::min(position, context_bytes_before));
  const auto statement = preceding.substr(preceding.rfind(';') + 1);
  context.count(2 * preceding.size());
  for (std::size_t i = 0; i < statement.size(); ++i) {
    for (const auto verb : verbs) {
      const auto noun = skip_word(statement, i, verb);
      if (noun == i) continue;
      if (std::any_of(nouns.begin(), nouns.end(), [&](auto word) { return skip_word(statement, noun, word) != noun; }))
        return true;
    }
  }
  return false;
}

/// The quoted text or word at `position`. Empty if quotes do not end on the same line.
span quoted_or_word(std::string_view text, std::size_t position) noexcept {
  const bool is_escaped = text.substr(position, 1) == "\\";
  if (is_escaped) ++position;
  const char quote = position < text.size() ? text[position] : '\0';
  if (std::string_view("'\"`").find(quote) == std::string_view::npos) {
    const auto begin = position;
    while (position < text.size() && (is_in(byte_set::item, text[position]) && text[position] != ';' && text[position] != '\\'))
      ++position;
    return {begin, position};
  }
  const auto begin = ++position;
  for (; position < text.size() && text[position] != '\n' && text[position] != '\r'; ++position) {
    if (text[position] != quote) continue;
    if (!is_escaped && text.substr(position + 1, 1) == std::string_view(&quote, 1)) {
      ++position;  // a doubled quote means one
      continue;
    }
    const auto end = is_escaped && text[position - 1] == '\\' ? position - 1 : position;
    return {begin, std::max(begin, end)};
  }
  return {begin, begin};
}

/// The position of the user after curl's switch at `position`: `-u`, also after others (`-su`) or without a blank, `--user` and
/// `--proxy-user`; `position` for other switches.
std::size_t skip_user_switch(std::string_view text, std::size_t position) noexcept {
  const auto name = text.substr(position, run_length(byte_set::word, text.substr(position)));
  const auto end = position + name.size();
  const char following = end < text.size() ? text[end] : '\0';
  if (is_user_switch(name) && is_in(byte_set::blank, following)) return skip_blanks(text, end);
  if (is_user_switch(name) && following == '=') return end + 1;
  return name.starts_with("-u") && std::string_view(":\"'").find(following) != std::string_view::npos ? position + 2 : position;
}

}  // namespace

std::optional<span> match_sql_password(const match_context& context) {
  const bool is_identified = ascii::to_lower(context[context.position]) == 'f';
  const auto name = std::string_view(is_identified ? "identified" : "password");
  const std::size_t offset = is_identified ? 6 : 3;  // of the anchor
  if (context.position < offset || !starts_with_ignore_case(context.text_from(context.position - offset), name))
    return std::nullopt;
  const auto begin = context.position - offset;
  const auto text = context.text.substr(0, begin + max_examined_bytes);
  auto position = skip_blanks(text, begin + name.size());
  if (position == begin + name.size() && (is_identified || context[position] != '=')) return std::nullopt;
  if (is_identified) {
    if (const auto plugin = skip_word(text, position, "with"); plugin != position) {
      const auto word = quoted_or_word(text, plugin);
      position =
          skip_blanks(text, word.end + (context[plugin] == '\'' || context[plugin] == '"' || context[plugin] == '`' ? 1 : 0));
    }
    const auto value = std::max(skip_word(text, position, "by"), skip_word(text, position, "as"));
    if (value == position) return std::nullopt;
    position = std::max(skip_word(text, value, "password"), skip_word(text, value, "values"));
  } else if (context[position] == '=') {
    position = skip_blanks(text, position + 1);
  }
  if (context[position] == 'N' && context[position + 1] == '\'') ++position;
  const bool is_quoted = std::string_view("'\"`\\").find(context[position]) != std::string_view::npos;
  // Oracle also allows values without quotes.
  if (!is_quoted && (!is_identified || !is_in(byte_set::word, context[position]))) return std::nullopt;
  // In prose, "identified by" is not in capitals.
  const bool is_certain = is_quoted && is_identified && context.text_from(begin).starts_with("IDENTIFIED");
  if (!is_certain && !is_about_user(context, begin)) return std::nullopt;
  const auto range = quoted_or_word(text, position);
  const auto value = text.substr(range.begin, range.end - range.begin);
  context.count(max_examined_bytes + 2 * value.size());
  // The quote ends a string in a program, and a variable follows.
  const bool is_program = value.starts_with('"') || value.starts_with('\'') || value.starts_with('\\');
  if (value.size() < 3 || is_program || starts_with_ignore_case(value, "random") || is_template(value) || is_placeholder(value))
    return std::nullopt;
  return range;
}

std::optional<span> match_curl_user(const match_context& context) {
  constexpr std::size_t max_command_bytes = 512;
  if (!may_begin_token(context, context.position) || !is_in(byte_set::blank, context[context.position + 4]))
    return std::nullopt;
  const auto text = context.text.substr(0, context.position + max_command_bytes);
  context.count(text.size() - context.position);
  for (auto position = context.position + 4; position < text.size(); ++position) {
    const bool is_end =
        (text[position] == '\n' && text[position - 1] != '\\' && text[position - 1] != '\r') || text[position] == '|';
    if (is_end) break;
    if (!is_in(byte_set::blank, text[position]) || context[position + 1] != '-') continue;
    const auto value_begin = skip_user_switch(text, position + 1);
    if (value_begin == position + 1) continue;
    const auto range = quoted_or_word(text, value_begin);
    const auto user = text.substr(range.begin, range.end - range.begin);
    const auto password = find_curl_password(user);
    context.count(2 * user.size());
    if (password == std::string_view::npos || is_placeholder(user.substr(password))) return std::nullopt;
    return span{range.begin + password, range.end};
  }
  return std::nullopt;
}

namespace {

bool ends_word(char byte) noexcept { return byte == '\0' || is_in(byte_set::blank, byte); }

/// The word before `position`, if its beginning is within the text to examine; otherwise empty.
span word_before(const match_context& context, std::size_t position) noexcept {
  auto end = position;
  while (end > 0 && is_in(byte_set::blank, context[end - 1])) --end;
  auto begin = end;
  while (begin > 0 && !is_in(byte_set::blank, context[begin - 1])) --begin;
  return begin == 0 && context.offset != 0 ? span{} : span{begin, end};
}

std::string_view text_of(const match_context& context, span range) noexcept {
  return context.text.substr(range.begin, range.end - range.begin);
}

bool is_hash_byte(char byte) noexcept {
  return is_in(byte_set::alnum, byte) || std::string_view("./$=,+-_").find(byte) != std::string_view::npos;
}

}  // namespace

std::optional<span> match_netrc(const match_context& context) {
  constexpr std::size_t offset = 3;  // of "swor"
  constexpr std::string_view name = "password";
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(name)) return std::nullopt;
  const auto name_at = context.position - offset;
  auto begin = name_at + name.size();
  if (!is_in(byte_set::blank, context[begin]) || (name_at > 0 && !ends_word(context[name_at - 1]))) return std::nullopt;
  // After `login NAME`, `machine NAME` or `default`.
  const auto last = word_before(context, name_at);
  const auto previous = word_before(context, last.begin);
  constexpr std::array<std::string_view, 3> fields{"login", "machine", "account"};
  context.count(name_at - previous.begin + max_examined_bytes);
  const bool is_entry =
      text_of(context, last) == "default" ||
      (last.begin != last.end && std::find(fields.begin(), fields.end(), text_of(context, previous)) != fields.end());
  if (!is_entry) return std::nullopt;
  while (is_in(byte_set::blank, context[begin])) ++begin;
  auto end = begin;
  while (end < context.text.size() && end - begin < max_examined_bytes && !ends_word(context[end])) ++end;
  if (end - begin == max_examined_bytes) end = context.extend_to_run_end(byte_set::item, end);
  if (!may_be_password(text_of(context, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_pgpass(const match_context& context) {
  // `host:port:database:user:password`, from the colon before the port on
  auto line = context.position;
  while (line > 0 && static_cast<unsigned char>(context[line - 1]) > ' ' && context[line - 1] != ':') --line;
  if (line == context.position || (line == 0 && context.offset != 0) || (line > 0 && context[line - 1] != '\n'))
    return std::nullopt;
  auto position = context.position + 1;
  const bool is_any = context[position] == '*';
  while (context[position] == '*' || (context[position] >= '0' && context[position] <= '9')) ++position;
  if (context[position] != ':' || (is_any && position != context.position + 2) || position > context.position + 6)
    return std::nullopt;
  for (int field = 0; field < 2; ++field) {
    const auto begin = ++position;
    while (position - begin < 64 && context[position] != ':' && static_cast<unsigned char>(context[position]) > ' ')
      position += context[position] == '\\' ? 2 : 1;
    if (position == begin || context[position] != ':') return std::nullopt;
  }
  const auto begin = position + 1;
  auto end = begin;
  while (end < context.text.size() && end - begin < max_examined_bytes && context[end] != '\n' && context[end] != '\r') ++end;
  context.count(end - line);
  if (end - begin == max_examined_bytes) end = context.extend_to_run_end(byte_set::item, end);
  if (end == begin || is_template(text_of(context, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_password_hash(const match_context& context) {
  // `$2y$05$…`, `$apr1$salt$…`, `$6$rounds=5000$salt$…`, `$argon2id$v=19$…`, `{SSHA}…`
  const bool is_framed = context[context.position] == '{';
  const auto front = context.position + (context[context.position] == ':' ? 1 : 0);
  if (front == context.position && context.position > 0 && is_in(byte_set::alnum, context[context.position - 1]))
    return std::nullopt;
  const auto close = context.text_from(front).substr(0, 12).find(is_framed ? '}' : '$', 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto begin = front + close + 1;
  const auto encoded = context.text_from(begin).substr(0, max_examined_bytes);
  std::size_t size = 0;
  while (size < encoded.size() && (is_framed ? is_in(byte_set::base64, encoded[size]) : is_hash_byte(encoded[size]))) ++size;
  context.count(size);
  const auto hash = encoded.substr(0, size);
  const auto last = hash.substr(is_framed ? 0 : hash.rfind('$') + 1);
  const bool has_salt = is_framed || hash.find('$') != std::string_view::npos;
  if (!has_salt || last.size() < 22 || is_placeholder(last)) return std::nullopt;
  return span{begin, begin + size};
}

}  // namespace hondana::secrets

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

std::size_t behind_blanks(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && is(kind::blank, text[at])) ++at;
  return at;
}

/// The position after `word` at `at` and the blanks that follow it; `at` if there is another word.
std::size_t behind_word(std::string_view text, std::size_t at, std::string_view word) noexcept {
  if (!begins_with(text.substr(at), word)) return at;
  const auto next = behind_blanks(text, at + word.size());
  return next == at + word.size() ? at : next;
}

/// Whether `at` is inside a statement that creates or changes a user.
bool is_about_user(const place& near, std::size_t at) noexcept {
  constexpr std::array<std::string_view, 2> verbs{"create", "alter"};
  constexpr std::array<std::string_view, 4> nouns{"user", "role", "login", "group"};
  const auto before = near.text.substr(at - std::min(at, reach_behind), std::min(at, reach_behind));
  const auto statement = before.substr(before.rfind(';') + 1);
  near.count(2 * before.size());
  for (std::size_t i = 0; i < statement.size(); ++i) {
    for (const auto verb : verbs) {
      const auto noun = behind_word(statement, i, verb);
      if (noun == i) continue;
      if (std::any_of(nouns.begin(), nouns.end(), [&](auto one) { return behind_word(statement, noun, one) != noun; }))
        return true;
    }
  }
  return false;
}

/// The quoted text or word at `at`. Empty if quotes do not end on the same line.
span quoted_or_word(std::string_view text, std::size_t at) noexcept {
  const bool is_escaped = text.substr(at, 1) == "\\";
  if (is_escaped) ++at;
  const char quote = at < text.size() ? text[at] : '\0';
  if (std::string_view("'\"`").find(quote) == std::string_view::npos) {
    const auto begin = at;
    while (at < text.size() && (is(kind::item, text[at]) && text[at] != ';' && text[at] != '\\')) ++at;
    return {begin, at};
  }
  const auto begin = ++at;
  for (; at < text.size() && text[at] != '\n' && text[at] != '\r'; ++at) {
    if (text[at] != quote) continue;
    if (!is_escaped && text.substr(at + 1, 1) == std::string_view(&quote, 1)) {
      ++at;  // a doubled quote means one
      continue;
    }
    const auto end = is_escaped && text[at - 1] == '\\' ? at - 1 : at;
    return {begin, std::max(begin, end)};
  }
  return {begin, begin};
}

/// The position of the user after curl's switch at `at`: `-u`, also after others (`-su`) or without a blank, `--user` and
/// `--proxy-user`; `at` for other switches.
std::size_t behind_user_switch(std::string_view text, std::size_t at) noexcept {
  const auto name = text.substr(at, run_of(kind::word, text.substr(at)));
  const auto end = at + name.size();
  const char behind = end < text.size() ? text[end] : '\0';
  if (is_user_switch(name) && is(kind::blank, behind)) return behind_blanks(text, end);
  if (is_user_switch(name) && behind == '=') return end + 1;
  return name.starts_with("-u") && std::string_view(":\"'").find(behind) != std::string_view::npos ? at + 2 : at;
}

}  // namespace

std::optional<span> match_sql_password(const place& near) {
  const bool is_identified = ascii::lower(near[near.at]) == 'f';
  const auto name = std::string_view(is_identified ? "identified" : "password");
  const std::size_t offset = is_identified ? 6 : 3;  // of the anchor
  if (near.at < offset || !begins_with(near.from(near.at - offset), name)) return std::nullopt;
  const auto begin = near.at - offset;
  const auto text = near.text.substr(0, begin + looked_at_most);
  auto at = behind_blanks(text, begin + name.size());
  if (at == begin + name.size() && (is_identified || near[at] != '=')) return std::nullopt;
  if (is_identified) {
    if (const auto plugin = behind_word(text, at, "with"); plugin != at) {
      const auto word = quoted_or_word(text, plugin);
      at = behind_blanks(text, word.end + (near[plugin] == '\'' || near[plugin] == '"' || near[plugin] == '`' ? 1 : 0));
    }
    const auto value = std::max(behind_word(text, at, "by"), behind_word(text, at, "as"));
    if (value == at) return std::nullopt;
    at = std::max(behind_word(text, value, "password"), behind_word(text, value, "values"));
  } else if (near[at] == '=') {
    at = behind_blanks(text, at + 1);
  }
  if (near[at] == 'N' && near[at + 1] == '\'') ++at;
  const bool is_quoted = std::string_view("'\"`\\").find(near[at]) != std::string_view::npos;
  // Oracle also allows values without quotes.
  if (!is_quoted && (!is_identified || !is(kind::word, near[at]))) return std::nullopt;
  // In prose, "identified by" is not in capitals.
  const bool is_certain = is_quoted && is_identified && near.from(begin).starts_with("IDENTIFIED");
  if (!is_certain && !is_about_user(near, begin)) return std::nullopt;
  const auto found = quoted_or_word(text, at);
  const auto value = text.substr(found.begin, found.end - found.begin);
  near.count(looked_at_most + 2 * value.size());
  // The quote ends a string in a program, and a variable follows.
  const bool is_program = value.starts_with('"') || value.starts_with('\'') || value.starts_with('\\');
  if (value.size() < 3 || is_program || begins_with(value, "random") || is_template(value) || is_placeholder(value))
    return std::nullopt;
  return found;
}

std::optional<span> match_curl_user(const place& near) {
  constexpr std::size_t longest_command = 512;
  if (!begins_anew(near, near.at) || !is(kind::blank, near[near.at + 4])) return std::nullopt;
  const auto text = near.text.substr(0, near.at + longest_command);
  near.count(text.size() - near.at);
  for (auto at = near.at + 4; at < text.size(); ++at) {
    const bool ends = (text[at] == '\n' && text[at - 1] != '\\' && text[at - 1] != '\r') || text[at] == '|';
    if (ends) break;
    if (!is(kind::blank, text[at]) || near[at + 1] != '-') continue;
    const auto value_at = behind_user_switch(text, at + 1);
    if (value_at == at + 1) continue;
    const auto found = quoted_or_word(text, value_at);
    const auto user = text.substr(found.begin, found.end - found.begin);
    const auto password = behind_user(user);
    near.count(2 * user.size());
    if (password == std::string_view::npos || is_placeholder(user.substr(password))) return std::nullopt;
    return span{found.begin + password, found.end};
  }
  return std::nullopt;
}

namespace {

bool ends_word(char byte) noexcept { return byte == '\0' || is(kind::blank, byte); }

/// The word before `at`, if its beginning is within the text to examine; otherwise empty.
span word_before(const place& near, std::size_t at) noexcept {
  auto end = at;
  while (end > 0 && is(kind::blank, near[end - 1])) --end;
  auto begin = end;
  while (begin > 0 && !is(kind::blank, near[begin - 1])) --begin;
  return begin == 0 && near.begin != 0 ? span{} : span{begin, end};
}

std::string_view text_of(const place& near, span what) noexcept { return near.text.substr(what.begin, what.end - what.begin); }

bool is_of_hash(char byte) noexcept {
  return is(kind::alnum, byte) || std::string_view("./$=,+-_").find(byte) != std::string_view::npos;
}

}  // namespace

std::optional<span> match_netrc(const place& near) {
  constexpr std::size_t offset = 3;  // of "swor"
  constexpr std::string_view name = "password";
  if (near.at < offset || !near.from(near.at - offset).starts_with(name)) return std::nullopt;
  const auto name_at = near.at - offset;
  auto begin = name_at + name.size();
  if (!is(kind::blank, near[begin]) || (name_at > 0 && !ends_word(near[name_at - 1]))) return std::nullopt;
  // After `login NAME`, `machine NAME` or `default`.
  const auto last = word_before(near, name_at);
  const auto before = word_before(near, last.begin);
  constexpr std::array<std::string_view, 3> fields{"login", "machine", "account"};
  near.count(name_at - before.begin + looked_at_most);
  const bool is_entry =
      text_of(near, last) == "default" ||
      (last.begin != last.end && std::find(fields.begin(), fields.end(), text_of(near, before)) != fields.end());
  if (!is_entry) return std::nullopt;
  while (is(kind::blank, near[begin])) ++begin;
  auto end = begin;
  while (end < near.text.size() && end - begin < looked_at_most && !ends_word(near[end])) ++end;
  if (end - begin == looked_at_most) end = near.uncut(kind::item, end);
  if (!may_be_password(text_of(near, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_pgpass(const place& near) {
  // `host:port:database:user:password`, from the colon before the port on
  auto line = near.at;
  while (line > 0 && static_cast<unsigned char>(near[line - 1]) > ' ' && near[line - 1] != ':') --line;
  if (line == near.at || (line == 0 && near.begin != 0) || (line > 0 && near[line - 1] != '\n')) return std::nullopt;
  auto at = near.at + 1;
  const bool is_any = near[at] == '*';
  while (near[at] == '*' || (near[at] >= '0' && near[at] <= '9')) ++at;
  if (near[at] != ':' || (is_any && at != near.at + 2) || at > near.at + 6) return std::nullopt;
  for (int field = 0; field < 2; ++field) {
    const auto begin = ++at;
    while (at - begin < 64 && near[at] != ':' && static_cast<unsigned char>(near[at]) > ' ') at += near[at] == '\\' ? 2 : 1;
    if (at == begin || near[at] != ':') return std::nullopt;
  }
  const auto begin = at + 1;
  auto end = begin;
  while (end < near.text.size() && end - begin < looked_at_most && near[end] != '\n' && near[end] != '\r') ++end;
  near.count(end - line);
  if (end - begin == looked_at_most) end = near.uncut(kind::item, end);
  if (end == begin || is_template(text_of(near, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_password_hash(const place& near) {
  // `$2y$05$…`, `$apr1$salt$…`, `$6$rounds=5000$salt$…`, `$argon2id$v=19$…`, `{SSHA}…`
  const bool is_framed = near[near.at] == '{';
  const auto front = near.at + (near[near.at] == ':' ? 1 : 0);
  if (front == near.at && near.at > 0 && is(kind::alnum, near[near.at - 1])) return std::nullopt;
  const auto close = near.from(front).substr(0, 12).find(is_framed ? '}' : '$', 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto begin = front + close + 1;
  const auto rest = near.from(begin).substr(0, looked_at_most);
  std::size_t size = 0;
  while (size < rest.size() && (is_framed ? is(kind::base64, rest[size]) : is_of_hash(rest[size]))) ++size;
  near.count(size);
  const auto hash = rest.substr(0, size);
  const auto last = hash.substr(is_framed ? 0 : hash.rfind('$') + 1);
  const bool has_salt = is_framed || hash.find('$') != std::string_view::npos;
  if (!has_salt || last.size() < 22 || is_placeholder(last)) return std::nullopt;
  return span{begin, begin + size};
}

}  // namespace hondana::secrets

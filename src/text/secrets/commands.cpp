/// Passwords in commands: those of SQL that make and change users, and those of curl.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ascii/characters.hpp"
#include "text/secrets/inner_secrets.hpp"
#include "text/secrets/near.hpp"

namespace hondana::secrets {
namespace {

std::size_t behind_blanks(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && is(kind::blank, text[at])) ++at;
  return at;
}

/// Behind `word` at `at` and the blanks that follow it; `at` where another word stands.
std::size_t behind_word(std::string_view text, std::size_t at, std::string_view word) noexcept {
  if (!begins_with(text.substr(at), word)) return at;
  const auto next = behind_blanks(text, at + word.size());
  return next == at + word.size() ? at : next;
}

/// Whether a statement that makes or changes a user begins shortly before `at` and goes on there.
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

/// What stands in quotes at `at`, or as a word; empty for quotes that do not end on their line.
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
      ++at;  // two stand for one
      continue;
    }
    const auto end = is_escaped && text[at - 1] == '\\' ? at - 1 : at;
    return {begin, std::max(begin, end)};
  }
  return {begin, begin};
}

/// Where the user begins behind the switch of curl at `at`: `-u`, also behind others (`-su`) or without a blank, `--user` and
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
  // Oracle has words without quotes, too.
  if (!is_quoted && (!is_identified || !is(kind::word, near[at]))) return std::nullopt;
  // In prose, "identified by" has no capitals.
  const bool is_certain = is_quoted && is_identified && near.from(begin).starts_with("IDENTIFIED");
  if (!is_certain && !is_about_user(near, begin)) return std::nullopt;
  const auto found = quoted_or_word(text, at);
  const auto value = text.substr(found.begin, found.end - found.begin);
  near.count(looked_at_most + 2 * value.size());
  // A quote ends the string of a program, which goes on with a variable.
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

}  // namespace hondana::secrets

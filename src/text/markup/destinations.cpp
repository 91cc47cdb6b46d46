/// Targets of Markdown's links: in parentheses, in definitions and bare.
#include <algorithm>

#include "base/ascii/characters.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/entities.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/lines.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t longest_label = 999;
constexpr std::size_t deepest_parentheses = 32;
constexpr std::size_t deepest_brackets = 30;
/// Of what stands in brackets, so that a row of open ones takes linear time.
constexpr std::size_t longest_shown = 1000;

std::size_t skip_spaces(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return at;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && is_punctuation(text[at + 1])) {
      out += text[++at];
    } else if (text[at] == '&') {
      const auto taken = decode_entity(text, at, out);
      if (taken == 0) out += '&';
      at += taken == 0 ? 0 : taken - 1;
    } else {
      out += text[at];
    }
  }
  return out;
}

/// The target itself, with or without `<>`; `at` moves behind it. False: it is none.
bool read_target(std::string_view text, std::size_t& at, std::string_view& into) noexcept {
  if (at < text.size() && text[at] == '<') {
    for (auto end = at + 1; end < text.size() && end - at < longest_target; ++end) {
      if (text[end] == '\\') {
        ++end;
      } else if (text[end] == '>') {
        into = text.substr(at + 1, end - at - 1);
        at = end + 1;
        return true;
      } else if (text[end] == '<' || text[end] == '\n') {
        return false;
      }
    }
    return false;
  }
  std::size_t depth = 0;
  auto end = at;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (ascii::is_space(c) || static_cast<unsigned char>(c) < 0x20) break;
    if (end - at > longest_target) return false;
    if (c == '\\' && end + 1 < text.size() && is_punctuation(text[end + 1])) {
      ++end;
    } else if (c == '(') {
      if (++depth > deepest_parentheses) return false;
    } else if (c == ')') {
      if (depth == 0) break;
      --depth;
    }
  }
  if (depth != 0) return false;
  into = text.substr(at, end - at);
  at = end;
  return true;
}

/// A title in quotes; `at` moves behind it. False: it does not end.
bool skip_title(std::string_view text, std::size_t& at) noexcept {
  if (at >= text.size()) return true;
  const char quote = text[at] == '(' ? ')' : text[at];
  if (quote != '"' && quote != '\'' && quote != ')') return true;
  if (text[at] == ')') return true;
  for (auto end = at + 1; end < text.size() && end - at < longest_target; ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == quote) {
      at = end + 1;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string label_of(std::string_view text) {
  std::string label;
  text = trimmed(text);
  if (text.size() > longest_label) return label;
  for (std::size_t at = 0; at < text.size();) {
    if (ascii::is_space(text[at])) {
      at = skip_spaces(text, at);
      label += ' ';
      continue;
    }
    const auto one = character_at(text, at);
    append_character(label, in_lower_case(one.point));
    at += one.bytes;
  }
  return label;
}

bool read_definition(std::string_view line, std::string& label, std::string& target) {
  if (!line.starts_with('[') || line.substr(0, 2) == "[^") return false;
  std::size_t end = 1;
  for (; end < line.size() && end <= longest_label + 1 && line[end] != ']'; ++end) {
    if (line[end] == '[') return false;
    if (line[end] == '\\') ++end;
  }
  if (end + 1 >= line.size() || line[end] != ']' || line[end + 1] != ':') return false;
  label = label_of(line.substr(1, end - 1));
  auto at = skip_spaces(line, end + 2);
  const auto begin = at;
  std::string_view found;
  if (label.empty() || at >= line.size() || !read_target(line, at, found) || at == begin) return false;
  const auto behind = at;
  at = skip_spaces(line, at);
  if (at < line.size() && (at == behind || !skip_title(line, at) || skip_spaces(line, at) != line.size())) return false;
  target = unescaped(found);
  return true;
}

std::size_t read_destination(std::string_view text, std::size_t at, std::string& target) {
  at = skip_spaces(text, at + 1);
  std::string_view found;
  if (!read_target(text, at, found)) return 0;
  const auto behind = at;
  at = skip_spaces(text, at);
  if (at != behind && !skip_title(text, at)) return 0;
  at = skip_spaces(text, at);
  if (at >= text.size() || text[at] != ')') return 0;
  target = unescaped(found);
  return at + 1;
}

std::size_t read_link(std::string_view text, std::size_t at, std::string_view& shown) {
  const auto reach = text.substr(0, std::min(text.size(), at + longest_shown));
  std::size_t depth = 0;
  auto end = at;
  for (; end < reach.size(); ++end) {
    if (reach[end] == '\\') {
      ++end;
    } else if (reach[end] == '[') {
      if (++depth > deepest_brackets) return 0;
    } else if (reach[end] == ']' && --depth == 0) {
      break;
    }
  }
  if (end >= reach.size() || text.substr(end, 2) != "](") return 0;
  std::string target;
  const auto behind = read_destination(text, end + 1, target);
  if (behind != 0) shown = text.substr(at + 1, end - at - 1);
  return behind;
}

std::size_t end_of_url(std::string_view text, std::size_t at) noexcept {
  const auto rest = text.substr(at, 8);
  const bool is_web = rest.starts_with("www.");
  const std::size_t scheme = rest.starts_with("https://") ? 8 : rest.starts_with("http://") ? 7 : is_web ? 4 : 0;
  if (scheme == 0) return at;
  auto end = at + scheme;
  std::size_t open = 0;
  std::size_t closed = 0;
  while (end < text.size() && end - at <= longest_target) {
    const auto one = character_at(text, end);
    if (one.point <= ' ' || one.point == '<' || one.point == '`' || one.point == '"') break;
    if (one.point >= 0x80 && (is_punctuation(one.point) || one.point == 0x3000 || one.point == 0xFFFD)) break;
    if (one.point == '(') ++open;
    if (one.point == ')') ++closed;
    end += one.bytes;
  }
  while (end > at + scheme) {
    const char last = text[end - 1];
    if (last == ')' && closed > open) {
      --closed;
    } else if (std::string_view("?!.,:;*_~'|]").find(last) == std::string_view::npos) {
      break;
    }
    --end;
  }
  return end == at + scheme ? at : end;
}

}  // namespace hondana::markup

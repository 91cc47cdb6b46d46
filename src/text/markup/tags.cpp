/// Reads tags as browsers do.
#include "text/markup/tags.hpp"

#include <algorithm>

#include "base/ascii/characters.hpp"
#include "text/markup/entities.hpp"
#include "text/markup/lines.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t longest_tag = 64 * 1024;
constexpr std::size_t most_of_a_tag = 64;

std::size_t pass_spaces(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return at;
}

/// The value behind a `=`; `at` moves behind it. False: its closing quote is missing.
bool read_value(std::string_view text, std::size_t& at, std::string_view& into) noexcept {
  at = pass_spaces(text, at);
  if (at >= text.size()) return false;
  const char quote = text[at];
  if (quote == '"' || quote == '\'') {
    const auto end = text.find(quote, at + 1);
    if (end == std::string_view::npos) return false;
    into = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  const auto begin = at;
  while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '<') ++at;
  into = text.substr(begin, at - begin);
  return true;
}

}  // namespace

const std::string* tag::find(std::string_view attribute) const noexcept {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [attribute](const auto& one) { return one.first == attribute; });
  return found == attributes.end() ? nullptr : &found->second;
}

bool read_tag(std::string_view text, std::size_t at, tag& into) {
  text = text.substr(0, std::min(text.size(), at + longest_tag));
  into = {};
  ++at;
  if (at < text.size() && text[at] == '/') {
    into.is_end = true;
    ++at;
  }
  if (at >= text.size() || !ascii::is_letter(text[at])) return false;
  auto begin = at;
  while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '/' && text[at] != '<') ++at;
  if (at - begin > 64) return false;
  into.name = ascii::in_lower_case(text.substr(begin, at - begin));
  while (true) {
    at = pass_spaces(text, at);
    if (at >= text.size() || text[at] == '<') return false;
    if (text[at] == '>') break;
    if (text[at] == '/') {
      ++at;
      into.is_self_closed = at < text.size() && text[at] == '>';
      continue;
    }
    begin = at++;
    while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '/' && text[at] != '=' &&
           text[at] != '<')
      ++at;
    const auto name = text.substr(begin, at - begin);
    std::string_view value;
    const auto equals = pass_spaces(text, at);
    if (equals < text.size() && text[equals] == '=') {
      at = equals + 1;
      if (!read_value(text, at, value)) return false;
    }
    if (into.attributes.size() < most_of_a_tag) into.attributes.emplace_back(ascii::in_lower_case(name), decoded(value));
  }
  into.end = at + 1;
  return true;
}

std::string without_tags(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  tag one;
  // A tag that does not end has been looked for up to the end of the text once.
  std::size_t tries = 64;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '<' || tries == 0) {
      out += text[at++];
      continue;
    }
    if (text.substr(at).starts_with("<!--")) {
      const auto end = text.find("-->", at + 4);
      if (end != std::string_view::npos) {
        at = end + 3;
        continue;
      }
      tries = 0;
    } else if (read_tag(text, at, one)) {
      at = one.end;
      continue;
    } else {
      --tries;
    }
    out += text[at++];
  }
  return out;
}

}  // namespace hondana::markup

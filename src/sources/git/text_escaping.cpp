/// Escapes text from a repository: quotes in messages, and Markdown.
#include "sources/git/text_escaping.hpp"

#include <algorithm>
#include <cstddef>

#include "base/json/utf8.hpp"

namespace hondana::git {

std::string in_quotes(std::string_view word, std::size_t most) {
  std::string out = "\"";
  json::append_replacing(out, word.substr(0, most));
  std::replace_if(out.begin(), out.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return out += word.size() > most ? "…\"" : "\"";
}

namespace {

constexpr std::string_view meaningful = "\\`*_[]<>|~&";

std::string on_one_line(std::string_view text) {
  std::string out;
  json::append_replacing(out, text);
  std::replace_if(out.begin(), out.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return out;
}

std::string mark_for(std::string_view text, std::size_t least) {
  std::size_t longest = 0;
  for (std::size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
    const auto end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  return std::string(std::max(least, longest + 1), '`');
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : on_one_line(text)) {
    if (meaningful.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  const auto line = on_one_line(text);
  const auto mark = mark_for(line, 1);
  const bool needs_space =
      line.empty() || line.starts_with('`') || line.ends_with('`') || (line.starts_with(' ') && line.ends_with(' '));
  const std::string_view space = needs_space ? " " : "";
  return mark + std::string(space) + line + std::string(space) + mark;
}

std::string fenced(std::string_view text, std::string_view language) {
  std::string shown;
  json::append_replacing(shown, text);
  for (auto at = shown.find('\0'); at != std::string::npos; at = shown.find('\0', at)) shown.replace(at, 1, "\xEF\xBF\xBD");
  const auto mark = mark_for(shown, 3);
  std::string out = mark;
  out += language;
  out += '\n';
  out += shown;
  if (!shown.ends_with('\n') && !shown.empty()) out += '\n';
  return out += mark + '\n';
}

std::string link_to(std::string_view label, std::string_view uri) {
  std::string out = "[";
  out += label;
  out += "](<";
  out += uri;
  return out += ">)";
}

}  // namespace hondana::git

/// Escapes text from a repository: quotes in messages, and Markdown.
#include "sources/git/text_escaping.hpp"

#include <algorithm>
#include <cstddef>

#include "base/json/utf8.hpp"

namespace hondana::git {

std::string quote(std::string_view text, std::size_t max_bytes) {
  std::string out = "\"";
  json::append_replacing(out, text.substr(0, max_bytes));
  std::replace_if(out.begin(), out.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return out += text.size() > max_bytes ? "…\"" : "\"";
}

namespace {

constexpr std::string_view special_characters = "\\`*_[]<>|~&";

std::string to_single_line(std::string_view text) {
  std::string out;
  json::append_replacing(out, text);
  std::replace_if(out.begin(), out.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return out;
}

std::string delimiter_for(std::string_view text, std::size_t min_length) {
  std::size_t longest_run = 0;
  for (std::size_t position = text.find('`'); position != std::string_view::npos; position = text.find('`', position)) {
    const auto end = std::min(text.find_first_not_of('`', position), text.size());
    longest_run = std::max(longest_run, end - position);
    position = end;
  }
  return std::string(std::max(min_length, longest_run + 1), '`');
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  std::string out;
  for (const char c : to_single_line(text)) {
    if (special_characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code_span(std::string_view text) {
  const auto line = to_single_line(text);
  const auto delimiter = delimiter_for(line, 1);
  const bool needs_space =
      line.empty() || line.starts_with('`') || line.ends_with('`') || (line.starts_with(' ') && line.ends_with(' '));
  const std::string_view space = needs_space ? " " : "";
  return delimiter + std::string(space) + line + std::string(space) + delimiter;
}

std::string code_block(std::string_view text, std::string_view language) {
  std::string content;
  json::append_replacing(content, text);
  for (auto position = content.find('\0'); position != std::string::npos; position = content.find('\0', position))
    content.replace(position, 1, "\xEF\xBF\xBD");
  const auto delimiter = delimiter_for(content, 3);
  std::string out = delimiter;
  out += language;
  out += '\n';
  out += content;
  if (!content.ends_with('\n') && !content.empty()) out += '\n';
  return out += delimiter + '\n';
}

std::string markdown_link(std::string_view label, std::string_view uri) {
  std::string out = "[";
  out += label;
  out += "](<";
  out += uri;
  return out += ">)";
}

}  // namespace hondana::git

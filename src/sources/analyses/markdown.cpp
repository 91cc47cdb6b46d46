/// Escaping and quoting.
#include "sources/analyses/markdown.hpp"

#include <algorithm>
#include <cstddef>

#include "base/json/utf8.hpp"

namespace hondana::analyses_source {
namespace {

constexpr std::string_view meaningful_characters = "\\`*_[]<>|~&#";

constexpr bool is_control(char c) noexcept { return (c >= 0 && c < ' ') || c == '\x7f'; }

}  // namespace

std::string in_line(std::string_view text) {
  std::string whole;
  json::append_replacing(whole, text);
  std::string out;
  out.reserve(whole.size() + 8);
  for (const char c : whole) {
    if (meaningful_characters.find(c) != std::string_view::npos) out += '\\';
    out += is_control(c) ? ' ' : c;
  }
  return out;
}

std::string quotation_of(std::string_view text) {
  std::string whole;
  json::append_replacing(whole, text);
  std::string out;
  out.reserve(whole.size() + 64);
  bool begins_line = true;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    char c = whole[at];
    // A bare carriage return ends lines in Markdown, too.
    if (c == '\r') {
      if (at + 1 < whole.size() && whole[at + 1] == '\n') continue;
      c = '\n';
    }
    if (begins_line) out += c == '\n' ? ">" : "> ";
    begins_line = c == '\n';
    if (is_control(c) && c != '\n' && c != '\t') {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
  }
  if (!begins_line) out += '\n';
  return out;
}

std::string link_to(std::string_view label, std::string_view uri) {
  return "[" + std::string(label) + "](<" + std::string(uri) + ">)";
}

}  // namespace hondana::analyses_source

/// Ends of scalars: yaml-cpp says only where they begin.
#include "text/located/yaml_text.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::located {
namespace {

std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return text.size();
}

/// Plain scalars and blocks have no escapes: but for white space, what they say is what is written.
std::size_t end_by_letters(std::string_view text, std::size_t at, std::string_view meant) noexcept {
  auto end = at;
  for (const char c : meant) {
    if (ascii::is_json_space(c)) continue;
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    if (at >= text.size() || text[at] != c) return end;
    end = ++at;
  }
  return end;
}

}  // namespace

std::size_t skip_yaml_space(std::string_view text, std::size_t at) noexcept {
  for (;;) {
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    const bool is_comment = at < text.size() && text[at] == '#' && (at == 0 || ascii::is_json_space(text[at - 1]));
    if (!is_comment) return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

std::size_t skip_yaml_properties(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {
    const bool is_verbatim = text.substr(at).starts_with("!<");
    while (at < text.size() && !ascii::is_json_space(text[at])) {
      if (is_verbatim ? text[at] == '>' : text[at] == ',' || text[at] == ']' || text[at] == '}') break;
      ++at;
    }
    if (is_verbatim && at < text.size() && text[at] == '>') ++at;
    const auto behind = skip_yaml_space(text, at);
    // With nothing behind them in their line they may belong to nothing, or to what begins in the next.
    if (behind == at) break;
    at = behind;
  }
  return at;
}

std::size_t end_of_yaml_scalar(std::string_view text, std::size_t at, std::string_view meant) noexcept {
  if (at >= text.size()) return text.size();
  if (text[at] == '"' || text[at] == '\'') return end_of_quoted(text, at);
  if (text[at] != '|' && text[at] != '>') return end_by_letters(text, at, meant);
  const auto header = std::min(text.find('\n', at), text.size());
  const auto end = end_by_letters(text, header, meant);
  if (end != header) return end;
  return header > at && text[header - 1] == '\r' ? header - 1 : header;
}

std::size_t end_of_yaml_alias(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && !ascii::is_json_space(text[at]) && text[at] != ',' && text[at] != ']' && text[at] != '}') ++at;
  return at;
}

std::string as_utf8(std::string_view scalar) {
  if (json::is_utf8(scalar)) return std::string(scalar);
  std::string widened;
  for (std::size_t at = 0; at < scalar.size();) {
    const auto byte = static_cast<unsigned char>(scalar[at]);
    const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (byte == 0x85 || byte == 0xA0) widened += '\xC2';
    widened += scalar.substr(at, size);
    at += size;
  }
  std::string repaired;
  json::append_replacing(repaired, widened);
  return repaired;
}

std::size_t first_nested_by(std::string_view text, std::size_t brackets) noexcept {
  std::size_t open = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '[' || c == '{') && ++open >= brackets) return at;
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return text.size();
}

std::size_t first_line_with_marks(std::string_view text, std::size_t marks) noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') count = 0;
    if ((c == '[' || c == '{' || c == ',') && ++count >= marks) return at;
  }
  return text.size();
}

}  // namespace hondana::located

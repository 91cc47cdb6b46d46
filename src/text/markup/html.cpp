/// Tags and character references inside Markdown.
#include "text/markup/html.hpp"

#include <algorithm>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html_tree.hpp"

namespace hondana::markup {
namespace {

/// The longest name of HTML has 31 bytes. A number may have leading zeros.
constexpr std::size_t max_reference_bytes = 40;

}  // namespace

std::size_t decode_entity(std::string_view text, std::size_t position, std::string& out) {
  auto end = position + 1;
  const auto limit = std::min(text.size(), position + max_reference_bytes);
  while (end < limit && (ascii::is_letter(text[end]) || ascii::is_digit(text[end]) || text[end] == '#')) ++end;
  if (end >= limit || text[end] != ';') return 0;
  const auto reference = text.substr(position, end + 1 - position);
  const auto decoded = decode_character_references(reference);
  // In `&ampx;`, HTML decodes `&amp` alone.
  if (decoded == reference || (decoded.size() > 1 && decoded.ends_with(';'))) return 0;
  const auto point = character_at(decoded, 0).point;
  const bool is_control = (point < ' ' && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
  out += is_control ? " " : decoded;
  return reference.size();
}

namespace {

constexpr std::size_t max_tag_bytes = 64 * 1024;
constexpr std::size_t max_tag_attributes = 64;

std::size_t skip_html_spaces(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && ascii::is_space(text[position])) ++position;
  return position;
}

std::string decode_attribute(std::string_view text) {
  std::string out;
  for (std::size_t position = 0; position < text.size();) {
    const auto consumed = text[position] == '&' ? decode_entity(text, position, out) : 0;
    if (consumed == 0) out += text[position];
    position += std::max<std::size_t>(consumed, 1);
  }
  return out;
}

/// Reads the value after a `=`, and moves `position` past it. Returns false if the closing quote is missing.
bool read_attribute_value(std::string_view text, std::size_t& position, std::string_view& value) noexcept {
  position = skip_html_spaces(text, position);
  if (position >= text.size()) return false;
  const char quote = text[position];
  if (quote == '"' || quote == '\'') {
    const auto end = text.find(quote, position + 1);
    if (end == std::string_view::npos) return false;
    value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return true;
  }
  const auto begin = position;
  while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '<')
    ++position;
  value = text.substr(begin, position - begin);
  return true;
}

}  // namespace

const std::string* html_tag::find(std::string_view attribute) const noexcept {
  const auto match =
      std::find_if(attributes.begin(), attributes.end(), [attribute](const auto& entry) { return entry.first == attribute; });
  return match == attributes.end() ? nullptr : &match->second;
}

bool read_tag(std::string_view text, std::size_t position, html_tag& out) {
  text = text.substr(0, std::min(text.size(), position + max_tag_bytes));
  out = {};
  ++position;
  if (position < text.size() && text[position] == '/') {
    out.is_end = true;
    ++position;
  }
  if (position >= text.size() || !ascii::is_letter(text[position])) return false;
  auto begin = position;
  while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '/' &&
         text[position] != '<')
    ++position;
  if (position - begin > 64) return false;
  out.name = ascii::to_lower(text.substr(begin, position - begin));
  while (true) {
    position = skip_html_spaces(text, position);
    if (position >= text.size() || text[position] == '<') return false;
    if (text[position] == '>') break;
    if (text[position] == '/') {
      ++position;
      out.is_self_closed = position < text.size() && text[position] == '>';
      continue;
    }
    begin = position++;
    while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '/' &&
           text[position] != '=' && text[position] != '<')
      ++position;
    const auto name = text.substr(begin, position - begin);
    std::string_view value;
    const auto equals = skip_html_spaces(text, position);
    if (equals < text.size() && text[equals] == '=') {
      position = equals + 1;
      if (!read_attribute_value(text, position, value)) return false;
    }
    if (out.attributes.size() < max_tag_attributes) out.attributes.emplace_back(ascii::to_lower(name), decode_attribute(value));
  }
  out.end = position + 1;
  return true;
}

}  // namespace hondana::markup

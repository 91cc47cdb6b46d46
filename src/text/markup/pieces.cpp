/// Pieces of a marked-up text, such as headings and paragraphs, and building outlines from them.
#include "text/markup/pieces.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/front_matter/yaml.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_sections = 10'000;
constexpr std::size_t max_links = 10'000;

}  // namespace

std::string id_of(std::string_view heading) {
  std::string id;
  id.reserve(heading.size());
  for (std::size_t position = 0; position < heading.size();) {
    const auto character = character_at(heading, position);
    position += character.bytes;
    if (character.point == ' ')
      id += '-';
    else if (character.point == '-' || is_word_character(character.point))
      append_utf8(id, to_lower(character.point));
  }
  if (id.empty()) id = "section";
  return id;
}

std::string outline_builder::make_unique_id(std::string id) {
  auto& uses = id_counts_[id];
  if (uses++ == 0) return id;
  // Each attempt increases the counter of this id, so the total number of attempts is at most the number of sections.
  for (auto count = uses - 1;; ++count) {
    auto next = id + '-' + std::to_string(count);
    if (id_counts_.emplace(next, 1).second) {
      id_counts_[id] = count + 1;
      return next;
    }
  }
}

bool outline_builder::on_piece(piece piece) {
  if (piece.kind == piece_kind::front_matter) {
    outline_.front_matter_end = piece.end;
    outline_.title = std::move(piece.heading);
    has_front_title_ = !outline_.title.empty();
  }
  if (piece.kind != piece_kind::heading) return true;
  if (outline_.sections.size() >= max_sections) {
    outline_.is_truncated = true;
    return true;
  }
  if (outline_.title.empty() && !has_front_title_) outline_.title = piece.heading;
  auto& section = outline_.sections.emplace_back();
  section.level = std::clamp(piece.level, 1, 6);
  section.id = make_unique_id(piece.id.empty() ? id_of(piece.heading) : std::move(piece.id));
  section.heading = std::move(piece.heading);
  section.first_line = piece.first_line;
  section.begin = piece.begin;
  return true;
}

void outline_builder::on_link(link link) {
  if (link.target.empty() || link.target.size() > max_target_bytes) return;
  if (outline_.links.size() >= max_links) {
    outline_.is_truncated = true;
    return;
  }
  if (link.text.size() > max_heading_bytes) link.text.resize(boundary_before(link.text, max_heading_bytes));
  outline_.links.push_back(std::move(link));
}

outline outline_builder::finish(std::size_t bytes, std::size_t lines) {
  std::vector<section*> open_sections;
  const auto close = [&open_sections](int level, std::size_t end, std::size_t last_line) {
    while (!open_sections.empty() && open_sections.back()->level >= level) {
      open_sections.back()->end = end;
      open_sections.back()->last_line = std::max(last_line, open_sections.back()->first_line);
      open_sections.pop_back();
    }
  };
  for (auto& section : outline_.sections) {
    close(section.level, section.begin, section.first_line - 1);
    open_sections.push_back(&section);
  }
  close(0, bytes, lines);
  return std::move(outline_);
}

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view trim_end(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The member `title`; empty: none. No value: the YAML is not a mapping.
std::optional<std::string> read_yaml_title(std::string_view yaml) {
  const auto parsed = front_matter::parse_yaml(yaml);
  if (parsed && parsed->as_object() == nullptr && !is_blank(yaml) && trim(yaml).front() != '#') return std::nullopt;
  const auto* title = parsed ? parsed->find("title") : nullptr;
  const auto* title_text = title == nullptr ? nullptr : title->as_string();
  return title_text == nullptr ? std::string() : *title_text;
}

/// The value of `title = "text"` or `title = 'text'` above the first table; empty: none. No value: there is not one key.
std::optional<std::string> read_toml_title(std::string_view toml) {
  bool has_keys = is_blank(toml);
  line_reader lines(toml);
  for (text_line line; lines.read(line);) {
    auto content = trim(toml.substr(line.begin, line.end - line.begin));
    if (content.starts_with('#')) continue;
    if (content.starts_with('[')) return std::string();
    const auto sign = content.find('=');
    if (sign == std::string_view::npos) continue;
    has_keys = true;
    if (trim(content.substr(0, sign)) != "title") continue;
    content = trim(content.substr(sign + 1));
    const char quote = content.empty() ? '\0' : content.front();
    if (quote != '"' && quote != '\'') return std::string();
    std::string title;
    for (std::size_t position = 1; position < content.size() && content[position] != quote; ++position) {
      const bool is_escape = quote == '"' && content[position] == '\\' && position + 1 < content.size();
      const char c = content[is_escape ? ++position : position];
      const std::size_t digits = !is_escape ? 0 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
      if (digits != 0 && content.size() - position > digits) {
        std::uint32_t point = 0;
        (void)std::from_chars(content.data() + position + 1, content.data() + position + 1 + digits, point, 16);
        append_utf8(title, point);
        position += digits;
      } else {
        title += is_escape && ascii::is_lower(c) ? ' ' : c;
      }
    }
    return title;
  }
  if (!has_keys) return std::nullopt;
  return std::string();
}

}  // namespace

std::optional<piece> find_front_matter(std::string_view text) {
  line_reader lines(text, text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  text_line line;
  if (!lines.read(line)) return std::nullopt;
  const auto fence = trim_end(text.substr(line.begin, line.end - line.begin));
  const bool is_toml = fence == "+++";
  if (fence != "---" && !is_toml) return std::nullopt;
  const auto begin = line.next;
  while (lines.read(line) && line.begin - begin <= front_matter::max_yaml_bytes) {
    const auto mark = trim_end(text.substr(line.begin, line.end - line.begin));
    if (mark != fence && (is_toml || mark != "...")) continue;
    piece result;
    result.kind = piece_kind::front_matter;
    result.end = line.next;
    result.last_line = line.number;
    const auto title = is_toml ? read_toml_title(text.substr(begin, line.begin - begin))
                               : read_yaml_title(text.substr(begin, line.begin - begin));
    if (!title) return std::nullopt;
    result.heading = utf8_prefix(trim(*title), max_heading_bytes);
    return result;
  }
  return std::nullopt;
}

}  // namespace hondana::markup

/// Finds title, description and metadata in the text of a document, and caches texts.
#include "sources/docs/document_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hondana/value.hpp>

#include "base/ascii/ascii.hpp"
#include "text/front_matter/front_matter.hpp"
#include "text/language/language.hpp"
#include "text/markup/inlines.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t max_searched_bytes = 16 * 1024;
constexpr std::size_t max_paragraph_length = 200;
constexpr std::size_t max_title_line_bytes = 160;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

std::string_view trim(std::string_view line) noexcept {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Whether a line consists of one kind of mark: an underline, a rule, a table border.
bool is_mark_line(std::string_view line) noexcept {
  return (line.size() >= 2 || line == "=" || line == "-") &&
         std::string_view("=-~^*_+#\"'`.:|<>").find(line.front()) != std::string_view::npos &&
         line.find_first_not_of("=-~^*_+#\"'`.:|<> ") == std::string_view::npos;
}

/// The offset after `[TEXT][NAME]`, whose first bracket is at `position`; 0: there is none.
std::size_t named_link_end(std::string_view text, std::size_t position, std::string_view& label) {
  const auto end = text.find(']', position);
  if (end == std::string_view::npos || text.substr(end, 2) != "][") return 0;
  const auto close = text.find(']', end + 2);
  if (close == std::string_view::npos) return 0;
  label = text.substr(position + 1, end - position - 1);
  return close + 1;
}

/// Removes inline code and link marks of Markdown and similar formats.
std::string strip_marks(std::string_view text) {
  std::string stripped;
  stripped.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '*') {
      const auto stars = ascii::count_stars(text, i);
      if (ascii::is_mask(stars)) stripped.append(stars, c);
      i += stars - 1;
      continue;
    }
    if (c == '`') continue;
    if (c == '[') {
      // [TEXT](TARGET "TITLE") and [TEXT][NAME] become TEXT; other brackets stay.
      std::string_view label;
      auto link_end = markup::read_link(text, i, label);
      if (link_end == 0) link_end = named_link_end(text, i, label);
      if (link_end != 0) {
        if (!stripped.empty() && stripped.back() == '!') stripped.pop_back();
        stripped += strip_marks(label);
        i = link_end - 1;
        continue;
      }
    }
    stripped += c;
  }
  return stripped;
}

/// Reads line by line, up to the end of the first paragraph.
class paragraph_finder {
 public:
  explicit paragraph_finder(markup::markup_format format) : format_(format) {}

  /// False: the paragraph is complete.
  bool add_line(std::string_view raw) {
    const auto line = trim(raw);
    if (in_fence_) {
      in_fence_ = !(line.starts_with("```") || line.starts_with("~~~") || line == "----");
      return true;
    }
    if (in_comment_) {
      in_comment_ = line.find("-->") == std::string_view::npos;
      return true;
    }
    if (line.empty()) {
      skips_block_ = false;
      return paragraph_.empty();
    }
    if (format_ != markup::markup_format::plain && opens_block(line)) return paragraph_.empty();
    if (is_mark_line(line)) {
      // The line above an underline is a heading.
      paragraph_.clear();
      return true;
    }
    const bool is_indented = raw.starts_with("    ") || raw.starts_with("\t");
    if (skips_block_ || (paragraph_.empty() && format_ != markup::markup_format::plain && (is_indented || is_mark(line)))) {
      skips_block_ = skips_block_ || line.starts_with(".. ") || line.starts_with("|");
      return true;
    }
    if (!paragraph_.empty()) paragraph_ += ' ';
    paragraph_ += line;
    return paragraph_.size() < max_searched_bytes / 4;
  }
  [[nodiscard]] std::string extract() && { return std::move(paragraph_); }

 private:
  bool opens_block(std::string_view line) {
    if (line.starts_with("```") || line.starts_with("~~~") || (line == "----" && format_ == markup::markup_format::asciidoc)) {
      in_fence_ = true;
    } else if (line.starts_with("<!--")) {
      in_comment_ = line.find("-->") == std::string_view::npos;
    } else {
      return false;
    }
    return true;
  }
  [[nodiscard]] bool is_mark(std::string_view line) const noexcept {
    if (line.starts_with('#') || line.starts_with('|') || line.starts_with("![") || line.starts_with("[![") ||
        line.starts_with('<') || line.starts_with(".. ") || line.starts_with("//") || line.starts_with("image::"))
      return true;
    if (format_ == markup::markup_format::asciidoc && (line.starts_with('=') || line.starts_with('['))) return true;
    // `:name: value` of AsciiDoc and reStructuredText.
    return line.size() > 2 && line.starts_with(':') && line.find(':', 1) != std::string_view::npos;
  }

  markup::markup_format format_;
  std::string paragraph_;
  bool in_fence_ = false;
  bool in_comment_ = false;
  bool skips_block_ = false;
};

}  // namespace

std::string one_line(std::string_view text, std::size_t max_length) {
  std::string output;
  std::size_t length = 0;
  bool has_pending_blank = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_blank(c)) {
      has_pending_blank = !output.empty();
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) continue;
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      length += has_pending_blank ? 2 : 1;
      if (length > max_length) return output + "…";
      if (has_pending_blank) output += ' ';
      has_pending_blank = false;
    }
    output += c;
  }
  return output;
}

std::string first_paragraph(markup::markup_format format, std::string_view text) {
  paragraph_finder finder(format);
  auto remaining = text.substr(0, max_searched_bytes);
  const bool is_cut = remaining.size() < text.size();
  while (!remaining.empty()) {
    const auto end = remaining.find('\n');
    // A truncated line may end within a character.
    if (end == std::string_view::npos && is_cut) {
      auto line = remaining;
      while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0) == 0x80) line.remove_suffix(1);
      if (!line.empty()) line.remove_suffix(1);
      finder.add_line(line);
      break;
    }
    if (!finder.add_line(remaining.substr(0, end)) || end == std::string_view::npos) break;
    remaining.remove_prefix(end + 1);
  }
  const auto paragraph = std::move(finder).extract();
  return one_line(format == markup::markup_format::plain ? paragraph : strip_marks(paragraph), max_paragraph_length);
}

std::string_view title_line(std::string_view text) noexcept {
  text = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  const auto end = text.find('\n');
  if (end == std::string_view::npos || end > max_title_line_bytes) return {};
  const auto following = text.substr(end + 1);
  const auto next = following.find('\n');
  const bool stands_alone = next != std::string_view::npos && trim(following.substr(0, next)).empty();
  const auto line = trim(text.substr(0, end));
  if (!stands_alone || trim(following).empty() || line.empty() || is_mark_line(line) || is_blank(text.front())) return {};
  // Indented paragraphs, list items, settings and sentences are not titles.
  for (const std::string_view begin : {"　", "- ", "* ", "・", "#", "|", "<", "{", "["}) {
    if (line.starts_with(begin)) return {};
  }
  for (const std::string_view ending : {".", ",", ":", ";", "!", "?", "。", "、", "：", "！", "？", "」"}) {
    if (line.ends_with(ending)) return {};
  }
  return line;
}

std::string escape_link_text(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text, max_paragraph_length)) {
    if (c == '[' || c == ']' || c == '\\' || c == '<' || c == '`') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

namespace {

constexpr std::size_t max_word_bytes = 64;
constexpr std::size_t max_tag_bytes = 35;
constexpr std::size_t max_subtag_bytes = 8;

constexpr std::array<std::pair<std::string_view, double>, 8> priority_words{
    {{"high", 0.9}, {"middle", 0.5}, {"medium", 0.5}, {"normal", 0.5}, {"low", 0.2}, {"高", 0.9}, {"中", 0.5}, {"低", 0.2}}};

}  // namespace

std::optional<double> parse_priority(std::string_view word) {
  if (word.size() > max_word_bytes) return std::nullopt;
  const auto folded = language::fold(word);
  const auto* known = std::find_if(priority_words.begin(), priority_words.end(),
                                   [&folded](const auto& entry) { return entry.first == folded; });
  if (known == priority_words.end()) return std::nullopt;
  return known->second;
}

std::optional<chat_role> parse_role(std::string_view word) {
  if (word == "user") return chat_role::user;
  if (word == "assistant") return chat_role::assistant;
  return std::nullopt;
}

bool is_language_tag(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_tag_bytes || !ascii::is_letter(text.front())) return false;
  std::size_t run = 0;
  for (const char c : text) {
    if (c == '-') {
      if (run == 0) return false;
      run = 0;
    } else if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      if (++run > max_subtag_bytes) return false;
    } else {
      return false;
    }
  }
  return run > 0;
}

namespace {

constexpr std::size_t max_warnings = 10;
constexpr std::size_t max_title_length = 300;
constexpr std::size_t max_description_length = 500;

class front_matter_reader {
 public:
  explicit front_matter_reader(front_matter_values& values) : values_(values) {}

  void warn(std::string message) {
    if (values_.warnings.size() < max_warnings) values_.warnings.push_back("front matter: " + std::move(message));
  }
  void read_text(const value& source, const char* name, std::size_t max_length, std::string& destination) {
    const auto* member = source.find(name);
    if (member == nullptr || member->is_null()) return;
    if (const auto* text = member->as_string()) {
      destination = one_line(*text, max_length);
    } else if (member->as_number()) {
      destination = member->to_text();
    } else {
      warn(std::string(name) + " is " + std::string(name_of(member->type())) + ", not a text");
    }
  }
  void read_priority(const value& source) {
    const auto* member = source.find("priority");
    if (member == nullptr || member->is_null()) return;
    auto number = member->as_number();
    if (const auto* word = member->as_string()) number = parse_priority(*word);
    if (number && *number >= 0.0 && *number <= 1.0) {
      values_.priority = number;
    } else {
      warn("priority is not a number from 0 to 1, high, middle or low");
    }
  }
  void read_audience(const value& source) {
    const auto* member = source.find("audience");
    if (member == nullptr || member->is_null()) return;
    const value::array single{*member};
    const auto* list = member->as_array();
    for (const auto& item : list == nullptr ? single : *list) {
      const auto* word = item.as_string();
      const auto role = word == nullptr ? std::nullopt : parse_role(*word);
      if (!role) {
        values_.audience.clear();
        return warn("audience is not user, assistant or a list of them");
      }
      if (std::find(values_.audience.begin(), values_.audience.end(), *role) == values_.audience.end())
        values_.audience.push_back(*role);
    }
  }
  void read_language(const value& source) {
    const auto* member = source.find("lang");
    if (member == nullptr || member->is_null()) return;
    const auto* tag = member->as_string();
    if (tag != nullptr && is_language_tag(*tag)) {
      values_.lang = *tag;
    } else {
      warn("lang is not a language tag such as ja or en-GB");
    }
  }

 private:
  front_matter_values& values_;
};

bool starts_with_fence(std::string_view text) noexcept {
  if (!text.starts_with("---")) return false;
  text.remove_prefix(3);
  const auto end = text.find('\n');
  return end != std::string_view::npos && text.substr(0, end).find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Whether the closing fence exists. Without it, the first fence is a thematic break.
bool has_second_fence(std::string_view text) noexcept {
  for (auto position = text.find('\n'); position != std::string_view::npos; position = text.find('\n', position + 1)) {
    const auto line = text.substr(position + 1, text.find('\n', position + 1) - position - 1);
    if (line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

front_matter_values parse_front_matter(std::string_view text) {
  front_matter_values values;
  const auto front = text.substr(0, front_matter::front_matter_prefix_bytes);
  if (!starts_with_fence(front) || !has_second_fence(front)) return values;
  front_matter_reader reader(values);
  const auto parsed = front_matter::parse_frontmatter(front);
  if (!parsed) {
    reader.warn(parsed.error().public_text);
    return values;
  }
  reader.read_text(*parsed, "title", max_title_length, values.title);
  reader.read_text(*parsed, "description", max_description_length, values.description);
  reader.read_priority(*parsed);
  reader.read_audience(*parsed);
  reader.read_language(*parsed);
  return values;
}

std::shared_ptr<const document_text> text_cache::find(const std::string& path, const disk::stamp& stamp,
                                                      const std::string& charset_rule) {
  const std::lock_guard lock(mutex_);
  const auto position = by_path_.find(path);
  if (position == by_path_.end()) return nullptr;
  const auto& properties = *position->second->text->properties;
  if (properties.stamp != stamp || properties.charset_rule != charset_rule) {
    erase(position);
    return nullptr;
  }
  by_recency_.splice(by_recency_.begin(), by_recency_, position->second);
  return position->second->text;
}

void text_cache::insert(const std::string& path, std::shared_ptr<const document_text> text) {
  const auto cost = text->cost() + path.size();
  const std::lock_guard lock(mutex_);
  if (const auto position = by_path_.find(path); position != by_path_.end()) erase(position);
  if (text->properties->is_racy || cost > max_bytes_ / 4) return;
  by_recency_.push_front({path, std::move(text), cost});
  by_path_.emplace(path, by_recency_.begin());
  cost_ += cost;
  while (cost_ > max_bytes_) erase(by_path_.find(by_recency_.back().path));
}

void text_cache::erase(std::unordered_map<std::string, std::list<cached_text>::iterator>::iterator position) {
  cost_ -= position->second->cost;
  by_recency_.erase(position->second);
  by_path_.erase(position);
}

std::size_t text_cache::bytes() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace hondana::docs

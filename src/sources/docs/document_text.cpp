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

constexpr std::size_t looked_at = 16 * 1024;
constexpr std::size_t longest_paragraph = 200;
constexpr std::size_t longest_title_line = 160;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

std::string_view trimmed(std::string_view line) noexcept {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Whether a line consists of one kind of mark: an underline, a rule, a table border.
bool is_rule(std::string_view line) noexcept {
  return (line.size() >= 2 || line == "=" || line == "-") &&
         std::string_view("=-~^*_+#\"'`.:|<>").find(line.front()) != std::string_view::npos &&
         line.find_first_not_of("=-~^*_+#\"'`.:|<> ") == std::string_view::npos;
}

/// The offset after `[TEXT][NAME]`, whose first bracket is at `at`; 0: there is none.
std::size_t end_of_named_link(std::string_view text, std::size_t at, std::string_view& shown) {
  const auto end = text.find(']', at);
  if (end == std::string_view::npos || text.substr(end, 2) != "][") return 0;
  const auto close = text.find(']', end + 2);
  if (close == std::string_view::npos) return 0;
  shown = text.substr(at + 1, end - at - 1);
  return close + 1;
}

/// Removes inline code and link marks of Markdown and similar formats.
std::string without_marks(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '*') {
      const auto stars = ascii::stars_at(text, i);
      if (ascii::is_mask(stars)) plain.append(stars, c);
      i += stars - 1;
      continue;
    }
    if (c == '`') continue;
    if (c == '[') {
      // [TEXT](TARGET "TITLE") and [TEXT][NAME] become TEXT; other brackets stay.
      std::string_view shown;
      auto behind = markup::read_link(text, i, shown);
      if (behind == 0) behind = end_of_named_link(text, i, shown);
      if (behind != 0) {
        if (!plain.empty() && plain.back() == '!') plain.pop_back();
        plain += without_marks(shown);
        i = behind - 1;
        continue;
      }
    }
    plain += c;
  }
  return plain;
}

/// Reads line by line, up to the end of the first paragraph.
class paragraph_finder {
 public:
  explicit paragraph_finder(markup::format how) : how_(how) {}

  /// False: the paragraph is complete.
  bool take(std::string_view raw) {
    const auto line = trimmed(raw);
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
      return found_.empty();
    }
    if (how_ != markup::format::plain && opens_block(line)) return found_.empty();
    if (is_rule(line)) {
      // The line above an underline is a heading.
      found_.clear();
      return true;
    }
    const bool is_indented = raw.starts_with("    ") || raw.starts_with("\t");
    if (skips_block_ || (found_.empty() && how_ != markup::format::plain && (is_indented || is_mark(line)))) {
      skips_block_ = skips_block_ || line.starts_with(".. ") || line.starts_with("|");
      return true;
    }
    if (!found_.empty()) found_ += ' ';
    found_ += line;
    return found_.size() < looked_at / 4;
  }
  [[nodiscard]] std::string take_found() && { return std::move(found_); }

 private:
  bool opens_block(std::string_view line) {
    if (line.starts_with("```") || line.starts_with("~~~") || (line == "----" && how_ == markup::format::asciidoc)) {
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
    if (how_ == markup::format::asciidoc && (line.starts_with('=') || line.starts_with('['))) return true;
    // `:name: value` of AsciiDoc and reStructuredText.
    return line.size() > 2 && line.starts_with(':') && line.find(':', 1) != std::string_view::npos;
  }

  markup::format how_;
  std::string found_;
  bool in_fence_ = false;
  bool in_comment_ = false;
  bool skips_block_ = false;
};

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  std::string made;
  std::size_t points = 0;
  bool owes_blank = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_blank(c)) {
      owes_blank = !made.empty();
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) continue;
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      points += owes_blank ? 2 : 1;
      if (points > most) return made + "…";
      if (owes_blank) made += ' ';
      owes_blank = false;
    }
    made += c;
  }
  return made;
}

std::string first_paragraph(markup::format how, std::string_view text) {
  paragraph_finder finder(how);
  auto rest = text.substr(0, looked_at);
  const bool is_cut = rest.size() < text.size();
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    // A truncated line may end within a character.
    if (end == std::string_view::npos && is_cut) {
      auto whole = rest;
      while (!whole.empty() && (static_cast<unsigned char>(whole.back()) & 0xC0) == 0x80) whole.remove_suffix(1);
      if (!whole.empty()) whole.remove_suffix(1);
      finder.take(whole);
      break;
    }
    if (!finder.take(rest.substr(0, end)) || end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  const auto found = std::move(finder).take_found();
  return one_line(how == markup::format::plain ? found : without_marks(found), longest_paragraph);
}

std::string_view title_line(std::string_view text) noexcept {
  text = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  const auto end = text.find('\n');
  if (end == std::string_view::npos || end > longest_title_line) return {};
  const auto below = text.substr(end + 1);
  const auto next = below.find('\n');
  const bool stands_alone = next != std::string_view::npos && trimmed(below.substr(0, next)).empty();
  const auto line = trimmed(text.substr(0, end));
  if (!stands_alone || trimmed(below).empty() || line.empty() || is_rule(line) || is_blank(text.front())) return {};
  // Indented paragraphs, list items, settings and sentences are not titles.
  for (const std::string_view begin : {"　", "- ", "* ", "・", "#", "|", "<", "{", "["}) {
    if (line.starts_with(begin)) return {};
  }
  for (const std::string_view ending : {".", ",", ":", ";", "!", "?", "。", "、", "：", "！", "？", "」"}) {
    if (line.ends_with(ending)) return {};
  }
  return line;
}

std::string in_brackets(std::string_view text) {
  std::string made;
  for (const char c : one_line(text, longest_paragraph)) {
    if (c == '[' || c == ']' || c == '\\' || c == '<' || c == '`') made += '\\';
    made += c;
  }
  return made;
}

namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t longest_tag = 35;
constexpr std::size_t longest_subtag = 8;

constexpr std::array<std::pair<std::string_view, double>, 8> words{
    {{"high", 0.9}, {"middle", 0.5}, {"medium", 0.5}, {"normal", 0.5}, {"low", 0.2}, {"高", 0.9}, {"中", 0.5}, {"低", 0.2}}};

}  // namespace

std::optional<double> priority_named(std::string_view word) {
  if (word.size() > longest_word) return std::nullopt;
  const auto plain = language::folded(word);
  const auto* known = std::find_if(words.begin(), words.end(), [&plain](const auto& one) { return one.first == plain; });
  if (known == words.end()) return std::nullopt;
  return known->second;
}

std::optional<role> role_named(std::string_view word) {
  if (word == "user") return role::user;
  if (word == "assistant") return role::assistant;
  return std::nullopt;
}

bool is_language_tag(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_tag || !ascii::is_letter(text.front())) return false;
  std::size_t run = 0;
  for (const char c : text) {
    if (c == '-') {
      if (run == 0) return false;
      run = 0;
    } else if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      if (++run > longest_subtag) return false;
    } else {
      return false;
    }
  }
  return run > 0;
}

namespace {

constexpr std::size_t most_warnings = 10;
constexpr std::size_t longest_title = 300;
constexpr std::size_t longest_description = 500;

class reader {
 public:
  explicit reader(statements& into) : into_(into) {}

  void warn(std::string what) {
    if (into_.warnings.size() < most_warnings) into_.warnings.push_back("front matter: " + std::move(what));
  }
  void take_text(const value& from, const char* name, std::size_t longest, std::string& to) {
    const auto* said = from.find(name);
    if (said == nullptr || said->is_null()) return;
    if (const auto* text = said->as_string()) {
      to = one_line(*text, longest);
    } else if (said->as_number()) {
      to = said->to_text();
    } else {
      warn(std::string(name) + " is " + std::string(name_of(said->type())) + ", not a text");
    }
  }
  void take_priority(const value& from) {
    const auto* said = from.find("priority");
    if (said == nullptr || said->is_null()) return;
    auto number = said->as_number();
    if (const auto* word = said->as_string()) number = priority_named(*word);
    if (number && *number >= 0.0 && *number <= 1.0) {
      into_.priority = number;
    } else {
      warn("priority is not a number from 0 to 1, high, middle or low");
    }
  }
  void take_audience(const value& from) {
    const auto* said = from.find("audience");
    if (said == nullptr || said->is_null()) return;
    const value::array alone{*said};
    const auto* all = said->as_array();
    for (const auto& one : all == nullptr ? alone : *all) {
      const auto* word = one.as_string();
      const auto who = word == nullptr ? std::nullopt : role_named(*word);
      if (!who) {
        into_.audience.clear();
        return warn("audience is not user, assistant or a list of them");
      }
      if (std::find(into_.audience.begin(), into_.audience.end(), *who) == into_.audience.end()) into_.audience.push_back(*who);
    }
  }
  void take_language(const value& from) {
    const auto* said = from.find("lang");
    if (said == nullptr || said->is_null()) return;
    const auto* tag = said->as_string();
    if (tag != nullptr && is_language_tag(*tag)) {
      into_.lang = *tag;
    } else {
      warn("lang is not a language tag such as ja or en-GB");
    }
  }

 private:
  statements& into_;
};

bool begins_with_fence(std::string_view text) noexcept {
  if (!text.starts_with("---")) return false;
  text.remove_prefix(3);
  const auto end = text.find('\n');
  return end != std::string_view::npos && text.substr(0, end).find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Whether the closing fence exists. Without it, the first fence is a thematic break.
bool has_second_fence(std::string_view text) noexcept {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const auto line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

statements statements_of(std::string_view text) {
  statements made;
  const auto front = text.substr(0, front_matter::front_bytes);
  if (!begins_with_fence(front) || !has_second_fence(front)) return made;
  reader into(made);
  const auto said = front_matter::parse_frontmatter(front);
  if (!said) {
    into.warn(said.error().public_text);
    return made;
  }
  into.take_text(*said, "title", longest_title, made.title);
  into.take_text(*said, "description", longest_description, made.description);
  into.take_priority(*said);
  into.take_audience(*said);
  into.take_language(*said);
  return made;
}

std::shared_ptr<const prose> kept_texts::find(const std::string& path, const disk::stamp& state,
                                              const std::string& charset_rule) {
  const std::lock_guard lock(mutex_);
  const auto known = by_path_.find(path);
  if (known == by_path_.end()) return nullptr;
  const auto& about = *known->second->text->about;
  if (about.state != state || about.charset_rule != charset_rule) {
    drop(known);
    return nullptr;
  }
  by_use_.splice(by_use_.begin(), by_use_, known->second);
  return known->second->text;
}

void kept_texts::keep(const std::string& path, std::shared_ptr<const prose> text) {
  const auto cost = text->cost() + path.size();
  const std::lock_guard lock(mutex_);
  if (const auto known = by_path_.find(path); known != by_path_.end()) drop(known);
  if (text->about->is_racy || cost > most_ / 4) return;
  by_use_.push_front({path, std::move(text), cost});
  by_path_.emplace(path, by_use_.begin());
  cost_ += cost;
  while (cost_ > most_) drop(by_path_.find(by_use_.back().path));
}

void kept_texts::drop(std::unordered_map<std::string, std::list<kept>::iterator>::iterator which) {
  cost_ -= which->second->cost;
  by_use_.erase(which->second);
  by_path_.erase(which);
}

std::size_t kept_texts::bytes() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace hondana::docs

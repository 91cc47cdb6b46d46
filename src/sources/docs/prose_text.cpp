/// Finding and trimming them.
#include "sources/docs/prose_text.hpp"

#include <algorithm>

#include "base/ascii/characters.hpp"
#include "base/ascii/stars.hpp"
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

/// A line of one sort of mark only: an underline, a rule, a fence of a table.
bool is_rule(std::string_view line) noexcept {
  return (line.size() >= 2 || line == "=" || line == "-") &&
         std::string_view("=-~^*_+#\"'`.:|<>").find(line.front()) != std::string_view::npos &&
         line.find_first_not_of("=-~^*_+#\"'`.:|<> ") == std::string_view::npos;
}

/// What is behind `[TEXT][NAME]`, whose first bracket stands at `at`; 0: there is none.
std::size_t end_of_named_link(std::string_view text, std::size_t at, std::string_view& shown) {
  const auto end = text.find(']', at);
  if (end == std::string_view::npos || text.substr(end, 2) != "][") return 0;
  const auto close = text.find(']', end + 2);
  if (close == std::string_view::npos) return 0;
  shown = text.substr(at + 1, end - at - 1);
  return close + 1;
}

/// The inline code and link marks of Markdown and its like.
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
      // [TEXT](TARGET "TITLE") and [TEXT][NAME] are TEXT; other brackets stay.
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

/// Reads line by line, and stops behind the first paragraph.
class paragraph_finder {
 public:
  explicit paragraph_finder(markup::format how) : how_(how) {}

  /// False: it is found.
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
      // What stands above an underline was a heading.
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
    // A line that is cut off may end within a character.
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
  // An indent of a paragraph, items of lists, settings and sentences.
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

}  // namespace hondana::docs

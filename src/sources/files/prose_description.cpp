/// Titles and first paragraphs of Markdown, reStructuredText and plain text.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "sources/files/description.hpp"
#include "text/markup/inlines.hpp"

namespace hondana::files {
namespace {

/// Whether a line consists of one repeated mark, as under headings and between sections.
bool is_rule(std::string_view line, std::string_view marks) noexcept {
  return !line.empty() && marks.find(line.front()) != std::string_view::npos &&
         line.find_first_not_of(line.front()) == std::string_view::npos;
}

std::string_view without_quotes(std::string_view value) noexcept {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value.remove_prefix(1);
    value.remove_suffix(1);
  }
  return value;
}

/// Removes YAML front matter from `text`, and returns its title and description.
description take_front_matter(std::string_view& text) {
  auto rest = text;
  if (trimmed(take_line(rest)) != "---") return {};
  description found;
  while (!rest.empty()) {
    const auto line = take_line(rest);
    if (const auto mark = trimmed(line); mark == "---" || mark == "...") {
      text = rest;
      return found;
    }
    const auto value = [line](std::string_view key) {
      return line.starts_with(key) ? std::string(without_quotes(trimmed(line.substr(key.size())))) : std::string();
    };
    if (found.title.empty()) found.title = tidied(value("title:"));
    if (found.summary.empty()) found.summary = tidied(value("description:"));
  }
  return {};  // never closed, so it is not front matter
}

/// Removes the markup of links, pictures, code and strong emphasis.
std::string without_marks(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_picture = text.substr(i, 2) == "![";
    if (is_picture || text[i] == '[') {
      std::string_view shown;
      const auto behind = markup::read_link(text, i + (is_picture ? 1 : 0), shown);
      if (behind != 0) {
        if (!is_picture) plain += without_marks(shown);  // a picture leaves no text, nor does a link around it
        i = behind;
        continue;
      }
    }
    if (const auto stars = ascii::stars_at(text, i); ascii::is_mask(stars)) {
      plain.append(stars, '*');
      i += stars;
      continue;
    }
    if (text[i] == '`' || text.substr(i, 2) == "**" || text.substr(i, 2) == "__") {
      i += text[i] == '`' ? 1 : 2;
      continue;
    }
    plain += text[i++];
  }
  return plain;
}

/// The text of an ATX heading, which may be empty; nothing for any other line.
std::optional<std::string_view> heading_of(std::string_view line) noexcept {
  const auto level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > 6 || (level < line.size() && line[level] != ' ' && line[level] != '\t')) return std::nullopt;
  line = trimmed(line.substr(level));
  const auto end = line.find_last_not_of('#');
  if (end == std::string_view::npos) return std::string_view();
  if (end + 1 < line.size() && (line[end] == ' ' || line[end] == '\t')) line = trimmed(line.substr(0, end));
  return line;
}

bool starts_list(std::string_view line) noexcept {
  if (line.size() >= 2 && (line.front() == '-' || line.front() == '*' || line.front() == '+') && line[1] == ' ') return true;
  const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')') &&
         (digits + 1 == line.size() || line[digits + 1] == ' ');
}

/// Reads Markdown line by line until it has a title and a paragraph.
class markdown_front {
 public:
  explicit markdown_front(description known) : found_(std::move(known)) {}

  /// False when no more lines are needed.
  bool take(std::string_view raw) {
    const auto line = trimmed(raw);
    if (skip_until_.empty()) return take_outside(raw, line);
    if (line.find(skip_until_) != std::string_view::npos) skip_until_ = {};
    return true;
  }

  description finish() {
    end_paragraph();
    return std::move(found_);
  }

 private:
  bool take_outside(std::string_view raw, std::string_view line) {
    if (line.empty()) {
      end_paragraph();
    } else if (line.starts_with("```") || line.starts_with("~~~")) {
      end_paragraph();
      skip_until_ = line.starts_with('`') ? "```" : "~~~";
    } else if (line.starts_with("<!--")) {
      end_paragraph();
      if (line.find("-->") == std::string_view::npos) skip_until_ = "-->";
    } else if (const auto heading = heading_of(line)) {
      end_paragraph();
      if (found_.title.empty()) found_.title = tidied(without_marks(*heading));
    } else if (!paragraph_.empty() && is_rule(line, "=-")) {
      if (found_.title.empty()) found_.title = tidied(without_marks(paragraph_));
      paragraph_.clear();
    } else if (paragraph_.empty() && is_no_prose(raw, line)) {
      in_other_block_ = true;
    } else if (!in_other_block_) {
      (paragraph_ += ' ') += line.starts_with("> ") ? line.substr(2) : line;
    }
    return found_.title.empty() || found_.summary.empty();
  }

  static bool is_no_prose(std::string_view raw, std::string_view line) noexcept {
    return raw.starts_with("    ") || raw.starts_with('\t') || line.front() == '<' || line.front() == '|' ||
           starts_list(line) || is_rule(line, "-*_") || line.starts_with("import ") || line.starts_with("export ") ||
           line.starts_with(":::");
  }

  void end_paragraph() {
    in_other_block_ = false;
    if (found_.summary.empty() && !is_boilerplate(paragraph_)) found_.summary = tidied(without_marks(paragraph_));
    paragraph_.clear();
  }

  description found_;
  std::string paragraph_;
  std::string_view skip_until_;
  bool in_other_block_ = false;  // a list, table, quoted code or HTML, up to the next empty line
};

}  // namespace

description describe_markdown(std::string_view text) {
  markdown_front front(take_front_matter(text));
  while (!text.empty() && front.take(take_line(text))) {
  }
  return front.finish();
}

description describe_plain(std::string_view text, bool has_titles) {
  constexpr std::string_view marks = "=-~^*+#\"'`_.:";
  description found;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (found.summary.empty() && !is_boilerplate(paragraph)) found.summary = tidied(paragraph);
    paragraph.clear();
  };
  while (!text.empty() && (found.summary.empty() || (has_titles && found.title.empty()))) {
    const auto line = trimmed(take_line(text));
    if (is_rule(line, marks) && line.size() >= 2) {
      if (!paragraph.empty() && found.title.empty() && has_titles) found.title = tidied(paragraph);
      paragraph.clear();
    } else if (line.empty()) {
      end_paragraph();
    } else if (has_titles && (line.starts_with("..") || line.front() == ':')) {
      end_paragraph();  // a directive, comment or field
    } else {
      (paragraph += ' ') += line;
    }
  }
  end_paragraph();
  return found;
}

}  // namespace hondana::files

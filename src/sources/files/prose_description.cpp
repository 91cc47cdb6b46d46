/// Titles and first paragraphs of Markdown, reStructuredText, HTML and plain text.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "sources/files/description.hpp"
#include "text/markup/html.hpp"
#include "text/markup/inlines.hpp"

namespace hondana::files {
namespace {

/// Whether a line consists of one repeated mark, as under headings and between sections.
bool is_rule(std::string_view line, std::string_view marks) noexcept {
  return !line.empty() && marks.find(line.front()) != std::string_view::npos &&
         line.find_first_not_of(line.front()) == std::string_view::npos;
}

std::string_view unquote(std::string_view value) noexcept {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value.remove_prefix(1);
    value.remove_suffix(1);
  }
  return value;
}

/// Removes YAML front matter from `text`, and returns its title and description.
description extract_front_matter(std::string_view& text) {
  auto remaining = text;
  if (trim(pop_line(remaining)) != "---") return {};
  description described;
  while (!remaining.empty()) {
    const auto line = pop_line(remaining);
    if (const auto marker = trim(line); marker == "---" || marker == "...") {
      text = remaining;
      return described;
    }
    const auto value = [line](std::string_view key) {
      return line.starts_with(key) ? std::string(unquote(trim(line.substr(key.size())))) : std::string();
    };
    if (described.title.empty()) described.title = to_single_line(value("title:"));
    if (described.summary.empty()) described.summary = to_single_line(value("description:"));
  }
  return {};  // never closed, so it is not front matter
}

/// Removes the markup of links, pictures, code and strong emphasis.
std::string strip_markup(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_image = text.substr(i, 2) == "![";
    if (is_image || text[i] == '[') {
      std::string_view label;
      const auto link_end = markup::read_link(text, i + (is_image ? 1 : 0), label);
      if (link_end != 0) {
        if (!is_image) plain += strip_markup(label);  // a picture leaves no text, nor does a link around it
        i = link_end;
        continue;
      }
    }
    if (const auto stars = ascii::count_stars(text, i); ascii::is_mask(stars)) {
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
std::optional<std::string_view> parse_heading(std::string_view line) noexcept {
  const auto level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > 6 || (level < line.size() && line[level] != ' ' && line[level] != '\t')) return std::nullopt;
  line = trim(line.substr(level));
  const auto end = line.find_last_not_of('#');
  if (end == std::string_view::npos) return std::string_view();
  if (end + 1 < line.size() && (line[end] == ' ' || line[end] == '\t')) line = trim(line.substr(0, end));
  return line;
}

bool starts_list(std::string_view line) noexcept {
  if (line.size() >= 2 && (line.front() == '-' || line.front() == '*' || line.front() == '+') && line[1] == ' ') return true;
  const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')') &&
         (digits + 1 == line.size() || line[digits + 1] == ' ');
}

/// Reads Markdown line by line until it has a title and a paragraph.
class markdown_summarizer {
 public:
  explicit markdown_summarizer(description initial) : description_(std::move(initial)) {}

  /// False when no more lines are needed.
  bool add_line(std::string_view raw_line) {
    const auto line = trim(raw_line);
    if (skip_until_.empty()) return add_content_line(raw_line, line);
    if (line.find(skip_until_) != std::string_view::npos) skip_until_ = {};
    return true;
  }

  description finish() {
    end_paragraph();
    return std::move(description_);
  }

 private:
  bool add_content_line(std::string_view raw_line, std::string_view line) {
    if (line.empty()) {
      end_paragraph();
    } else if (line.starts_with("```") || line.starts_with("~~~")) {
      end_paragraph();
      skip_until_ = line.starts_with('`') ? "```" : "~~~";
    } else if (line.starts_with("<!--")) {
      end_paragraph();
      if (line.find("-->") == std::string_view::npos) skip_until_ = "-->";
    } else if (const auto heading = parse_heading(line)) {
      end_paragraph();
      if (description_.title.empty()) description_.title = to_single_line(strip_markup(*heading));
    } else if (!paragraph_.empty() && is_rule(line, "=-")) {
      if (description_.title.empty()) description_.title = to_single_line(strip_markup(paragraph_));
      paragraph_.clear();
    } else if (paragraph_.empty() && is_not_prose(raw_line, line)) {
      is_in_other_block_ = true;
    } else if (!is_in_other_block_) {
      (paragraph_ += ' ') += line.starts_with("> ") ? line.substr(2) : line;
    }
    return description_.title.empty() || description_.summary.empty();
  }

  static bool is_not_prose(std::string_view raw_line, std::string_view line) noexcept {
    return raw_line.starts_with("    ") || raw_line.starts_with('\t') || line.front() == '<' || line.front() == '|' ||
           starts_list(line) || is_rule(line, "-*_") || line.starts_with("import ") || line.starts_with("export ") ||
           line.starts_with(":::");
  }

  void end_paragraph() {
    is_in_other_block_ = false;
    if (description_.summary.empty() && !is_boilerplate(paragraph_))
      description_.summary = to_single_line(strip_markup(paragraph_));
    paragraph_.clear();
  }

  description description_;
  std::string paragraph_;
  std::string_view skip_until_;
  bool is_in_other_block_ = false;  // a list, table, quoted code or HTML, up to the next empty line
};

}  // namespace

description describe_markdown(std::string_view text) {
  markdown_summarizer summarizer(extract_front_matter(text));
  while (!text.empty() && summarizer.add_line(pop_line(text))) {
  }
  return summarizer.finish();
}

description describe_plain(std::string_view text, bool has_titles) {
  constexpr std::string_view marks = "=-~^*+#\"'`_.:";
  description described;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (described.summary.empty() && !is_boilerplate(paragraph)) described.summary = to_single_line(paragraph);
    paragraph.clear();
  };
  while (!text.empty() && (described.summary.empty() || (has_titles && described.title.empty()))) {
    const auto line = trim(pop_line(text));
    if (is_rule(line, marks) && line.size() >= 2) {
      if (!paragraph.empty() && described.title.empty() && has_titles) described.title = to_single_line(paragraph);
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
  return described;
}

description describe_html(std::string_view text) {
  const auto page = markup::read_html(text);
  description described{to_single_line(page.text_outline.title), to_single_line(page.description)};
  for (const auto& piece : page.pieces) {
    if (!described.summary.empty()) break;
    const auto paragraph = std::string_view(page.text).substr(piece.begin, piece.end - piece.begin);
    if (piece.kind == markup::piece_kind::prose && !is_boilerplate(paragraph)) described.summary = to_single_line(paragraph);
  }
  return described;
}

}  // namespace hondana::files

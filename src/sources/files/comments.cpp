/// Leading comments and docstrings of source files.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "sources/files/describe.hpp"

namespace hondana::files {
namespace {

/// Lines for tools rather than people.
bool is_for_tools(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 17> signs{
      "-*-",          "vim:",          "SPDX-",   "coding:",    "coding=",  "@license",        "eslint",
      "clang-format", "pylint:",       "flake8",  "ts-nocheck", "ts-check", "prettier-ignore", "@flow",
      "shellcheck ",  "syntax=docker", "go:build"};
  return std::any_of(signs.begin(), signs.end(),
                     [line](std::string_view sign) { return line.find(sign) != std::string_view::npos; });
}

bool has_word(std::string_view line) noexcept {
  return std::any_of(line.begin(), line.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
  });
}

/// Gathers the lines of comments into paragraphs, and keeps the first that is about the file.
class comment_paragraphs {
 public:
  void take(std::string_view line) {
    line = trimmed(line);
    for (const std::string_view mark : {"@brief ", "\\brief ", "@file ", "\\file "}) {
      if (!line.starts_with(mark)) continue;
      // A file's own name says nothing new.
      line = mark.substr(1) == "file " ? std::string_view() : line.substr(mark.size());
    }
    if (!has_word(line)) {
      end();
    } else if (!is_for_tools(line)) {
      (paragraph_ += ' ') += line;
    }
  }
  void end() {
    if (chosen_.empty() && !is_boilerplate(paragraph_)) chosen_ = tidied(paragraph_);
    paragraph_.clear();
  }
  [[nodiscard]] bool is_done() const noexcept { return !chosen_.empty(); }
  [[nodiscard]] std::string finish() {
    end();
    return std::move(chosen_);
  }

 private:
  std::string paragraph_;
  std::string chosen_;
};

/// A comment line without the marks that may precede its words: `///`, `//!`, `##`, ` * `.
std::string_view inside(std::string_view line, std::string_view mark) noexcept {
  line.remove_prefix(mark.size());
  while (!line.empty() && (line.front() == mark.back() || line.front() == '!' || line.front() == '<')) line.remove_prefix(1);
  return line;
}

std::string_view without_star(std::string_view line) noexcept {
  line = trimmed(line);
  while (line.starts_with('*')) line.remove_prefix(1);
  return line;
}

/// What may stand before the first comment without being code.
bool is_preamble(std::string_view line) noexcept {
  return line.starts_with("#!") || line.starts_with("<?") || line.starts_with("<!DOCTYPE") || line.starts_with("<!doctype") ||
         line == "@echo off" || line == "---" || line == "\"use strict\";" || line == "'use strict';" || line == "#pragma once";
}

bool starts_with_folded(std::string_view line, std::string_view mark) noexcept {
  return line.size() >= mark.size() && std::equal(mark.begin(), mark.end(), line.begin(), [](char m, char c) {
           return m == c || (c >= 'a' && c <= 'z' && m == c - ('a' - 'A'));
         });
}

}  // namespace

std::string leading_comment(std::string_view text, const comment_style& style) {
  comment_paragraphs found;
  while (!text.empty() && !found.is_done()) {
    auto line = trimmed(take_line(text));
    if (line.empty()) {
      found.end();
    } else if (is_preamble(line)) {
      continue;
    } else if (!style.block_begin.empty() && line.starts_with(style.block_begin)) {
      line.remove_prefix(style.block_begin.size());
      while (!found.is_done()) {
        const auto close = line.find(style.block_end);
        found.take(without_star(line.substr(0, close)));
        if (close != std::string_view::npos || text.empty()) break;
        line = take_line(text);
      }
      found.end();
    } else if (!style.line.empty() && starts_with_folded(line, style.line)) {
      found.take(inside(line, style.line));
    } else if (!style.other_line.empty() && line.starts_with(style.other_line)) {
      found.take(inside(line, style.other_line));
    } else {
      break;
    }
  }
  return found.finish();
}

std::string docstring_of(std::string_view text) {
  // Blank lines and comments may stand before it.
  std::string_view line;
  do {
    if (text.empty()) return {};
    const auto before = text;
    line = trimmed(take_line(text));
    if (line.empty() || line.front() == '#') continue;
    text = before.substr(static_cast<std::size_t>(line.data() - before.data()));
    break;
  } while (true);
  const auto prefix = std::min(text.find_first_not_of("rRuU"), text.size());
  if (prefix > 1) return {};
  text.remove_prefix(prefix);
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    if (!text.starts_with(quote)) continue;
    text.remove_prefix(quote.size());
    text = text.substr(0, quote.size() == 1 ? std::min(text.find(quote), text.find('\n')) : text.find(quote));
    comment_paragraphs found;
    while (!text.empty() && !found.is_done()) found.take(take_line(text));
    return found.finish();
  }
  return {};
}

}  // namespace hondana::files

/// Titles and descriptions of files by media type, and from the comments of source code.
#include "sources/files/description.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"

namespace hondana::files {
namespace {

constexpr comment_style slashes{"//", {}, "/*", "*/"};
constexpr comment_style hash_comments{"#", {}, {}, {}};
constexpr comment_style hash_or_semicolon{"#", ";", {}, {}};
constexpr comment_style semicolons{";", {}, {}, {}};
constexpr comment_style percent{"%", {}, {}, {}};
constexpr comment_style dashes{"--", {}, "/*", "*/"};
constexpr comment_style dashes_lua{"--", {}, "--[[", "]]"};
constexpr comment_style dashes_haskell{"--", {}, "{-", "-}"};
constexpr comment_style tags{{}, {}, "<!--", "-->"};
constexpr comment_style stylesheet{{}, {}, "/*", "*/"};
constexpr comment_style parens{{}, {}, "(*", "*)"};
constexpr comment_style quotes_vim{"\"", {}, {}, {}};
constexpr comment_style rem{"REM ", "::", {}, {}};
constexpr comment_style powershell{"#", {}, "<#", "#>"};

enum class describe_method : unsigned char { none, markdown, titled_prose, prose, python, html, comments };

struct description_rule {
  std::string_view type;
  describe_method method;
  const comment_style* style;
};

constexpr std::array description_rules{
    description_rule{"text/markdown", describe_method::markdown, nullptr},
    description_rule{"text/mdx", describe_method::markdown, nullptr},
    description_rule{"text/x-rst", describe_method::titled_prose, nullptr},
    description_rule{"text/plain", describe_method::prose, nullptr},
    description_rule{"text/x-python", describe_method::python, nullptr},
    description_rule{"text/x-cython", describe_method::python, nullptr},
    description_rule{"text/x-starlark", describe_method::python, nullptr},
    description_rule{"text/x-bazel", describe_method::python, nullptr},
    description_rule{"application/toml", describe_method::comments, &hash_comments},
    description_rule{"application/yaml", describe_method::comments, &hash_comments},
    description_rule{"application/graphql", describe_method::comments, &hash_comments},
    description_rule{"application/jsonc", describe_method::comments, &slashes},
    description_rule{"application/json5", describe_method::comments, &slashes},
    description_rule{"application/xml", describe_method::comments, &tags},
    description_rule{"application/xhtml+xml", describe_method::html, &tags},
    description_rule{"image/svg+xml", describe_method::comments, &tags},
    description_rule{"text/css", describe_method::comments, &stylesheet},
    description_rule{"text/html", describe_method::html, &tags},
    description_rule{"text/javascript", describe_method::comments, &slashes},
    description_rule{"text/jsx", describe_method::comments, &slashes},
    description_rule{"text/tsx", describe_method::comments, &slashes},
    description_rule{"text/typescript", describe_method::comments, &slashes},
    description_rule{"text/wgsl", describe_method::comments, &slashes},
    description_rule{"text/vnd.graphviz", describe_method::comments, &slashes},
    description_rule{"text/x-ada", describe_method::comments, &dashes},
    description_rule{"text/x-asm", describe_method::comments, &hash_or_semicolon},
    description_rule{"text/x-awk", describe_method::comments, &hash_comments},
    description_rule{"text/x-bat", describe_method::comments, &rem},
    description_rule{"text/x-c++hdr", describe_method::comments, &slashes},
    description_rule{"text/x-c++src", describe_method::comments, &slashes},
    description_rule{"text/x-chdr", describe_method::comments, &slashes},
    description_rule{"text/x-clojure", describe_method::comments, &semicolons},
    description_rule{"text/x-cmake", describe_method::comments, &hash_comments},
    description_rule{"text/x-coffeescript", describe_method::comments, &hash_comments},
    description_rule{"text/x-crystal", describe_method::comments, &hash_comments},
    description_rule{"text/x-csharp", describe_method::comments, &slashes},
    description_rule{"text/x-csrc", describe_method::comments, &slashes},
    description_rule{"text/x-cuda", describe_method::comments, &slashes},
    description_rule{"text/x-dart", describe_method::comments, &slashes},
    description_rule{"text/x-dockerfile", describe_method::comments, &hash_comments},
    description_rule{"text/x-dsrc", describe_method::comments, &slashes},
    description_rule{"text/x-elixir", describe_method::comments, &hash_comments},
    description_rule{"text/x-elm", describe_method::comments, &dashes_haskell},
    description_rule{"text/x-erlang", describe_method::comments, &percent},
    description_rule{"text/x-fish", describe_method::comments, &hash_comments},
    description_rule{"text/x-fsharp", describe_method::comments, &slashes},
    description_rule{"text/x-glsl", describe_method::comments, &slashes},
    description_rule{"text/x-go", describe_method::comments, &slashes},
    description_rule{"text/x-go-mod", describe_method::comments, &slashes},
    description_rule{"text/x-groovy", describe_method::comments, &slashes},
    description_rule{"text/x-haskell", describe_method::comments, &dashes_haskell},
    description_rule{"text/x-hcl", describe_method::comments, &hash_comments},
    description_rule{"text/x-ini", describe_method::comments, &hash_or_semicolon},
    description_rule{"text/x-java", describe_method::comments, &slashes},
    description_rule{"text/x-julia", describe_method::comments, &hash_comments},
    description_rule{"text/x-kotlin", describe_method::comments, &slashes},
    description_rule{"text/x-less", describe_method::comments, &slashes},
    description_rule{"text/x-lisp", describe_method::comments, &semicolons},
    description_rule{"text/x-lua", describe_method::comments, &dashes_lua},
    description_rule{"text/x-makefile", describe_method::comments, &hash_comments},
    description_rule{"text/x-nim", describe_method::comments, &hash_comments},
    description_rule{"text/x-nix", describe_method::comments, &hash_comments},
    description_rule{"text/x-objc++src", describe_method::comments, &slashes},
    description_rule{"text/x-objcsrc", describe_method::comments, &slashes},
    description_rule{"text/x-ocaml", describe_method::comments, &parens},
    description_rule{"text/x-perl", describe_method::comments, &hash_comments},
    description_rule{"text/x-php", describe_method::comments, &slashes},
    description_rule{"text/x-powershell", describe_method::comments, &powershell},
    description_rule{"text/x-protobuf", describe_method::comments, &slashes},
    description_rule{"text/x-qml", describe_method::comments, &slashes},
    description_rule{"text/x-r", describe_method::comments, &hash_comments},
    description_rule{"text/x-ruby", describe_method::comments, &hash_comments},
    description_rule{"text/x-rust", describe_method::comments, &slashes},
    description_rule{"text/x-sass", describe_method::comments, &slashes},
    description_rule{"text/x-scala", describe_method::comments, &slashes},
    description_rule{"text/x-scheme", describe_method::comments, &semicolons},
    description_rule{"text/x-scss", describe_method::comments, &slashes},
    description_rule{"text/x-sed", describe_method::comments, &hash_comments},
    description_rule{"text/x-shellscript", describe_method::comments, &hash_comments},
    description_rule{"text/x-solidity", describe_method::comments, &slashes},
    description_rule{"text/x-sql", describe_method::comments, &dashes},
    description_rule{"text/x-svelte", describe_method::comments, &tags},
    description_rule{"text/x-swift", describe_method::comments, &slashes},
    description_rule{"text/x-systemd-unit", describe_method::comments, &hash_comments},
    description_rule{"text/x-tcl", describe_method::comments, &hash_comments},
    description_rule{"text/x-tex", describe_method::comments, &percent},
    description_rule{"text/x-thrift", describe_method::comments, &slashes},
    description_rule{"text/x-verilog", describe_method::comments, &slashes},
    description_rule{"text/x-vhdl", describe_method::comments, &dashes},
    description_rule{"text/x-vim", describe_method::comments, &quotes_vim},
    description_rule{"text/x-vue", describe_method::comments, &tags},
    description_rule{"text/x-zig", describe_method::comments, &slashes},
};

description_rule find_rule(std::string_view type) noexcept {
  const auto match = std::find_if(description_rules.begin(), description_rules.end(),
                                  [type](const description_rule& rule) { return rule.type == type; });
  return match == description_rules.end() ? description_rule{{}, describe_method::none, nullptr} : *match;
}

}  // namespace

bool is_describable(std::string_view mime_type) noexcept { return find_rule(mime_type).method != describe_method::none; }

description describe(std::string_view mime_type, std::string_view front, bool is_complete) {
  if (front.starts_with("\xEF\xBB\xBF")) front.remove_prefix(3);
  if (!is_complete) {
    // The last line may be incomplete and is dropped. If it fills the whole front, only an incomplete code point is dropped.
    const auto line = front.rfind('\n');
    front =
        line == std::string_view::npos ? front.substr(0, front.size() - json::incomplete_tail(front)) : front.substr(0, line);
  }
  if (!json::is_utf8(front) || json::has_nul(front)) return {};
  const auto rule = find_rule(mime_type);
  switch (rule.method) {
    case describe_method::none:
      return {};
    case describe_method::markdown:
      return describe_markdown(front);
    case describe_method::titled_prose:
      return describe_plain(front, true);
    case describe_method::prose:
      return describe_plain(front, false);
    case describe_method::python:
      if (auto text = extract_docstring(front); !text.empty()) return {{}, std::move(text)};
      return {{}, leading_comment(front, hash_comments)};
    case describe_method::html: {
      auto described = describe_html(front);
      if (described.summary.empty()) described.summary = leading_comment(front, *rule.style);
      return described;
    }
    case describe_method::comments:
      break;
  }
  return {{}, leading_comment(front, *rule.style)};
}

std::string to_single_line(std::string_view text, std::size_t max_code_points) {
  std::string line;
  std::size_t code_points = 0;
  std::size_t before_limit = 0;  // bytes before the position of the ellipsis
  std::size_t last_word = 0;     // bytes before the last space ahead of that position
  bool has_gap = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t size = std::min<std::size_t>(byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4, text.size() - i);
    const auto code_point = text.substr(i, size);
    i += size;
    // U+0080 to U+009F are control characters, too. U+2028, U+2029 and bidirectional marks are as harmful.
    const bool is_control =
        byte < 0x20 || byte == 0x7F || (byte == 0xC2 && size == 2 && static_cast<unsigned char>(code_point[1]) < 0xA0) ||
        (code_point >= "\u202A" && code_point <= "\u202E") || (code_point >= "\u2066" && code_point <= "\u2069");
    if (is_control || byte == ' ' || code_point == "\u00A0" || code_point == "\u2028" || code_point == "\u2029") {
      has_gap = !line.empty();
      continue;
    }
    if (has_gap) {
      if (code_points < max_code_points) last_word = line.size();
      line += ' ';
      ++code_points;
      has_gap = false;
      if (code_points == max_code_points - 1) before_limit = line.size() - 1;
    }
    line += code_point;
    if (++code_points == max_code_points - 1) before_limit = line.size();
    if (code_points > max_code_points) {
      line.resize(last_word > before_limit / 2 ? std::min(last_word, before_limit) : before_limit);
      return line += "…";
    }
  }
  return line;
}

bool is_boilerplate(std::string_view paragraph) {
  constexpr std::array<std::string_view, 19> phrases{"copyright",
                                                     "(c) 20",
                                                     "spdx-license",
                                                     "licensed under",
                                                     "all rights reserved",
                                                     "permission is hereby granted",
                                                     "redistribution and use",
                                                     "free software",
                                                     "without warranty",
                                                     "warranties",
                                                     "apache license",
                                                     "mit license",
                                                     "gnu general public",
                                                     "bsd-style license",
                                                     "governed by a",
                                                     "license, version",
                                                     "found in the license",
                                                     "see license",
                                                     "public license"};
  const auto folded = ascii::to_lower(paragraph);
  return std::any_of(phrases.begin(), phrases.end(),
                     [&folded](std::string_view phrase) { return folded.find(phrase) != std::string::npos; });
}

std::string_view pop_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trim(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(" \t\r\n\f\v");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n\f\v") + 1 - begin);
}

namespace {

/// Whether a line is for tools, such as editors and linters, and not for readers.
bool is_for_tools(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 17> markers{
      "-*-",          "vim:",          "SPDX-",   "coding:",    "coding=",  "@license",        "eslint",
      "clang-format", "pylint:",       "flake8",  "ts-nocheck", "ts-check", "prettier-ignore", "@flow",
      "shellcheck ",  "syntax=docker", "go:build"};
  return std::any_of(markers.begin(), markers.end(),
                     [line](std::string_view marker) { return line.find(marker) != std::string_view::npos; });
}

bool has_word(std::string_view line) noexcept {
  return std::any_of(line.begin(), line.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
  });
}

/// Joins the lines of comments into paragraphs, and selects the first one that is about the file.
class comment_paragraphs {
 public:
  void add_line(std::string_view line) {
    line = trim(line);
    for (const std::string_view mark : {"@brief ", "\\brief ", "@file ", "\\file "}) {
      if (!line.starts_with(mark)) continue;
      // The file's own name adds no information.
      line = mark.substr(1) == "file " ? std::string_view() : line.substr(mark.size());
    }
    if (!has_word(line)) {
      end_paragraph();
    } else if (!is_for_tools(line)) {
      (paragraph_ += ' ') += line;
    }
  }
  void end_paragraph() {
    if (selected_.empty() && !is_boilerplate(paragraph_)) selected_ = to_single_line(paragraph_);
    paragraph_.clear();
  }
  [[nodiscard]] bool is_done() const noexcept { return !selected_.empty(); }
  [[nodiscard]] std::string finish() {
    end_paragraph();
    return std::move(selected_);
  }

 private:
  std::string paragraph_;
  std::string selected_;
};

/// A comment line without the marks in front of its text, such as `///`, `//!` and `##`.
std::string_view comment_text(std::string_view line, std::string_view mark) noexcept {
  line.remove_prefix(mark.size());
  while (!line.empty() && (line.front() == mark.back() || line.front() == '!' || line.front() == '<')) line.remove_prefix(1);
  return line;
}

std::string_view strip_stars(std::string_view line) noexcept {
  line = trim(line);
  while (line.starts_with('*')) line.remove_prefix(1);
  return line;
}

/// Whether a line that is not code may precede the first comment.
bool is_preamble(std::string_view line) noexcept {
  return line.starts_with("#!") || line.starts_with("<?") || line.starts_with("<!DOCTYPE") || line.starts_with("<!doctype") ||
         line == "@echo off" || line == "---" || line == "\"use strict\";" || line == "'use strict';" || line == "#pragma once";
}

bool starts_with_ignore_case(std::string_view line, std::string_view mark) noexcept {
  return line.size() >= mark.size() && std::equal(mark.begin(), mark.end(), line.begin(), [](char m, char c) {
           return m == c || (c >= 'a' && c <= 'z' && m == c - ('a' - 'A'));
         });
}

}  // namespace

std::string leading_comment(std::string_view text, const comment_style& style) {
  comment_paragraphs paragraphs;
  while (!text.empty() && !paragraphs.is_done()) {
    auto line = trim(pop_line(text));
    if (line.empty()) {
      paragraphs.end_paragraph();
    } else if (is_preamble(line)) {
      continue;
    } else if (!style.block_begin.empty() && line.starts_with(style.block_begin)) {
      line.remove_prefix(style.block_begin.size());
      while (!paragraphs.is_done()) {
        const auto close = line.find(style.block_end);
        paragraphs.add_line(strip_stars(line.substr(0, close)));
        if (close != std::string_view::npos || text.empty()) break;
        line = pop_line(text);
      }
      paragraphs.end_paragraph();
    } else if (!style.line.empty() && starts_with_ignore_case(line, style.line)) {
      paragraphs.add_line(comment_text(line, style.line));
    } else if (!style.other_line.empty() && line.starts_with(style.other_line)) {
      paragraphs.add_line(comment_text(line, style.other_line));
    } else {
      break;
    }
  }
  return paragraphs.finish();
}

std::string extract_docstring(std::string_view text) {
  // Blank lines and comments may precede it.
  std::string_view line;
  do {
    if (text.empty()) return {};
    const auto remaining = text;
    line = trim(pop_line(text));
    if (line.empty() || line.front() == '#') continue;
    text = remaining.substr(static_cast<std::size_t>(line.data() - remaining.data()));
    break;
  } while (true);
  const auto prefix = std::min(text.find_first_not_of("rRuU"), text.size());
  if (prefix > 1) return {};
  text.remove_prefix(prefix);
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    if (!text.starts_with(quote)) continue;
    text.remove_prefix(quote.size());
    text = text.substr(0, quote.size() == 1 ? std::min(text.find(quote), text.find('\n')) : text.find(quote));
    comment_paragraphs paragraphs;
    while (!text.empty() && !paragraphs.is_done()) paragraphs.add_line(pop_line(text));
    return paragraphs.finish();
  }
  return {};
}

}  // namespace hondana::files

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

enum class reading_of : unsigned char { nothing, markdown, titled_prose, prose, python, comments };

struct manner {
  std::string_view type;
  reading_of how;
  const comment_style* style;
};

constexpr std::array manners{
    manner{"text/markdown", reading_of::markdown, nullptr},
    manner{"text/mdx", reading_of::markdown, nullptr},
    manner{"text/x-rst", reading_of::titled_prose, nullptr},
    manner{"text/plain", reading_of::prose, nullptr},
    manner{"text/x-python", reading_of::python, nullptr},
    manner{"text/x-cython", reading_of::python, nullptr},
    manner{"text/x-starlark", reading_of::python, nullptr},
    manner{"text/x-bazel", reading_of::python, nullptr},
    manner{"application/toml", reading_of::comments, &hash_comments},
    manner{"application/yaml", reading_of::comments, &hash_comments},
    manner{"application/graphql", reading_of::comments, &hash_comments},
    manner{"application/jsonc", reading_of::comments, &slashes},
    manner{"application/json5", reading_of::comments, &slashes},
    manner{"application/xml", reading_of::comments, &tags},
    manner{"application/xhtml+xml", reading_of::comments, &tags},
    manner{"image/svg+xml", reading_of::comments, &tags},
    manner{"text/css", reading_of::comments, &stylesheet},
    manner{"text/html", reading_of::comments, &tags},
    manner{"text/javascript", reading_of::comments, &slashes},
    manner{"text/jsx", reading_of::comments, &slashes},
    manner{"text/tsx", reading_of::comments, &slashes},
    manner{"text/typescript", reading_of::comments, &slashes},
    manner{"text/wgsl", reading_of::comments, &slashes},
    manner{"text/vnd.graphviz", reading_of::comments, &slashes},
    manner{"text/x-ada", reading_of::comments, &dashes},
    manner{"text/x-asm", reading_of::comments, &hash_or_semicolon},
    manner{"text/x-awk", reading_of::comments, &hash_comments},
    manner{"text/x-bat", reading_of::comments, &rem},
    manner{"text/x-c++hdr", reading_of::comments, &slashes},
    manner{"text/x-c++src", reading_of::comments, &slashes},
    manner{"text/x-chdr", reading_of::comments, &slashes},
    manner{"text/x-clojure", reading_of::comments, &semicolons},
    manner{"text/x-cmake", reading_of::comments, &hash_comments},
    manner{"text/x-coffeescript", reading_of::comments, &hash_comments},
    manner{"text/x-crystal", reading_of::comments, &hash_comments},
    manner{"text/x-csharp", reading_of::comments, &slashes},
    manner{"text/x-csrc", reading_of::comments, &slashes},
    manner{"text/x-cuda", reading_of::comments, &slashes},
    manner{"text/x-dart", reading_of::comments, &slashes},
    manner{"text/x-dockerfile", reading_of::comments, &hash_comments},
    manner{"text/x-dsrc", reading_of::comments, &slashes},
    manner{"text/x-elixir", reading_of::comments, &hash_comments},
    manner{"text/x-elm", reading_of::comments, &dashes_haskell},
    manner{"text/x-erlang", reading_of::comments, &percent},
    manner{"text/x-fish", reading_of::comments, &hash_comments},
    manner{"text/x-fsharp", reading_of::comments, &slashes},
    manner{"text/x-glsl", reading_of::comments, &slashes},
    manner{"text/x-go", reading_of::comments, &slashes},
    manner{"text/x-go-mod", reading_of::comments, &slashes},
    manner{"text/x-groovy", reading_of::comments, &slashes},
    manner{"text/x-haskell", reading_of::comments, &dashes_haskell},
    manner{"text/x-hcl", reading_of::comments, &hash_comments},
    manner{"text/x-ini", reading_of::comments, &hash_or_semicolon},
    manner{"text/x-java", reading_of::comments, &slashes},
    manner{"text/x-julia", reading_of::comments, &hash_comments},
    manner{"text/x-kotlin", reading_of::comments, &slashes},
    manner{"text/x-less", reading_of::comments, &slashes},
    manner{"text/x-lisp", reading_of::comments, &semicolons},
    manner{"text/x-lua", reading_of::comments, &dashes_lua},
    manner{"text/x-makefile", reading_of::comments, &hash_comments},
    manner{"text/x-nim", reading_of::comments, &hash_comments},
    manner{"text/x-nix", reading_of::comments, &hash_comments},
    manner{"text/x-objc++src", reading_of::comments, &slashes},
    manner{"text/x-objcsrc", reading_of::comments, &slashes},
    manner{"text/x-ocaml", reading_of::comments, &parens},
    manner{"text/x-perl", reading_of::comments, &hash_comments},
    manner{"text/x-php", reading_of::comments, &slashes},
    manner{"text/x-powershell", reading_of::comments, &powershell},
    manner{"text/x-protobuf", reading_of::comments, &slashes},
    manner{"text/x-qml", reading_of::comments, &slashes},
    manner{"text/x-r", reading_of::comments, &hash_comments},
    manner{"text/x-ruby", reading_of::comments, &hash_comments},
    manner{"text/x-rust", reading_of::comments, &slashes},
    manner{"text/x-sass", reading_of::comments, &slashes},
    manner{"text/x-scala", reading_of::comments, &slashes},
    manner{"text/x-scheme", reading_of::comments, &semicolons},
    manner{"text/x-scss", reading_of::comments, &slashes},
    manner{"text/x-sed", reading_of::comments, &hash_comments},
    manner{"text/x-shellscript", reading_of::comments, &hash_comments},
    manner{"text/x-solidity", reading_of::comments, &slashes},
    manner{"text/x-sql", reading_of::comments, &dashes},
    manner{"text/x-svelte", reading_of::comments, &tags},
    manner{"text/x-swift", reading_of::comments, &slashes},
    manner{"text/x-systemd-unit", reading_of::comments, &hash_comments},
    manner{"text/x-tcl", reading_of::comments, &hash_comments},
    manner{"text/x-tex", reading_of::comments, &percent},
    manner{"text/x-thrift", reading_of::comments, &slashes},
    manner{"text/x-verilog", reading_of::comments, &slashes},
    manner{"text/x-vhdl", reading_of::comments, &dashes},
    manner{"text/x-vim", reading_of::comments, &quotes_vim},
    manner{"text/x-vue", reading_of::comments, &tags},
    manner{"text/x-zig", reading_of::comments, &slashes},
};

manner manner_of(std::string_view type) noexcept {
  const auto found = std::find_if(manners.begin(), manners.end(), [type](const manner& one) { return one.type == type; });
  return found == manners.end() ? manner{{}, reading_of::nothing, nullptr} : *found;
}

}  // namespace

bool is_describable(std::string_view mime_type) noexcept { return manner_of(mime_type).how != reading_of::nothing; }

description describe(std::string_view mime_type, std::string_view front, bool is_whole) {
  if (front.starts_with("\xEF\xBB\xBF")) front.remove_prefix(3);
  if (!is_whole) {
    // The last line may be incomplete and is dropped. If it fills the whole front, only an incomplete code point is dropped.
    const auto line = front.rfind('\n');
    front =
        line == std::string_view::npos ? front.substr(0, front.size() - json::incomplete_tail(front)) : front.substr(0, line);
  }
  if (!json::is_utf8(front) || json::has_nul(front)) return {};
  const auto manner = manner_of(mime_type);
  switch (manner.how) {
    case reading_of::nothing:
      return {};
    case reading_of::markdown:
      return describe_markdown(front);
    case reading_of::titled_prose:
      return describe_plain(front, true);
    case reading_of::prose:
      return describe_plain(front, false);
    case reading_of::python:
      if (auto text = docstring_of(front); !text.empty()) return {{}, std::move(text)};
      return {{}, leading_comment(front, hash_comments)};
    case reading_of::comments:
      break;
  }
  return {{}, leading_comment(front, *manner.style)};
}

std::string tidied(std::string_view text, std::size_t limit) {
  std::string tidy;
  std::size_t points = 0;
  std::size_t before_limit = 0;  // bytes before the position of the ellipsis
  std::size_t last_word = 0;     // bytes before the last space ahead of that position
  bool gap = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t size = std::min<std::size_t>(byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4, text.size() - i);
    const auto point = text.substr(i, size);
    i += size;
    // U+0080 to U+009F are control characters, too. U+2028, U+2029 and bidirectional marks are as harmful.
    const bool is_control = byte < 0x20 || byte == 0x7F ||
                            (byte == 0xC2 && size == 2 && static_cast<unsigned char>(point[1]) < 0xA0) ||
                            (point >= "\u202A" && point <= "\u202E") || (point >= "\u2066" && point <= "\u2069");
    if (is_control || byte == ' ' || point == "\u00A0" || point == "\u2028" || point == "\u2029") {
      gap = !tidy.empty();
      continue;
    }
    if (gap) {
      if (points < limit) last_word = tidy.size();
      tidy += ' ';
      ++points;
      gap = false;
      if (points == limit - 1) before_limit = tidy.size() - 1;
    }
    tidy += point;
    if (++points == limit - 1) before_limit = tidy.size();
    if (points > limit) {
      tidy.resize(last_word > before_limit / 2 ? std::min(last_word, before_limit) : before_limit);
      return tidy += "…";
    }
  }
  return tidy;
}

bool is_boilerplate(std::string_view paragraph) {
  constexpr std::array<std::string_view, 19> signs{"copyright",
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
  const auto folded = ascii::in_lower_case(paragraph);
  return std::any_of(signs.begin(), signs.end(),
                     [&folded](std::string_view sign) { return folded.find(sign) != std::string::npos; });
}

std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(" \t\r\n\f\v");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n\f\v") + 1 - begin);
}

namespace {

/// Whether a line is for tools, such as editors and linters, and not for readers.
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

/// Joins the lines of comments into paragraphs, and selects the first one that is about the file.
class comment_paragraphs {
 public:
  void take(std::string_view line) {
    line = trimmed(line);
    for (const std::string_view mark : {"@brief ", "\\brief ", "@file ", "\\file "}) {
      if (!line.starts_with(mark)) continue;
      // The file's own name adds no information.
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

/// A comment line without the marks in front of its text, such as `///`, `//!` and `##`.
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

/// Whether a line that is not code may precede the first comment.
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
  // Blank lines and comments may precede it.
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

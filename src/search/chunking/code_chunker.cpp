/// The chunker for source code, which looks for declarations.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "search/chunking/chunkers.hpp"
#include "text/markup/characters.hpp"

namespace hondana::chunking {

/// The name that a line declares; empty if simple rules find none. `content`: the line without its indentation; `is_outermost`:
/// the line is not indented. Looks at the first 400 bytes.
[[nodiscard]] std::string_view declared_name(family syntax, std::string_view content, bool is_outermost) noexcept;

/// Whether a line only closes or continues an earlier block: `}`, `);`, `end`.
[[nodiscard]] bool is_closing(std::string_view content) noexcept;

namespace {

using ascii::is_digit;
using ascii::is_space;
using markup::trim;

constexpr std::size_t max_scan_bytes = 400;

/// Words that may precede the keyword, sorted.
constexpr std::array<std::string_view, 50> modifiers{
    "abstract", "actual",   "async",    "case",    "companion", "const",     "constexpr", "create",  "crate",    "data",
    "declare",  "default",  "enum",     "expect",  "export",    "extern",    "external",  "extends", "final",    "fileprivate",
    "if",       "implicit", "indirect", "inline",  "inner",     "internal",  "lazy",      "local",   "mutating", "not",
    "open",     "or",       "override", "partial", "private",   "protected", "public",    "pub",     "readonly", "replace",
    "required", "sealed",   "static",   "suspend", "temp",      "temporary", "typename",  "unique",  "unsafe",   "virtual"};

constexpr std::array<std::string_view, 52> keywords{
    "actor",       "class",     "concept",   "contract", "def",     "defimpl",  "defmacro",  "defmodule", "defp",
    "defprotocol", "extension", "fn",        "fun",      "func",    "function", "given",     "impl",      "index",
    "input",       "instance",  "interface", "macro",    "message", "method",   "mixin",     "mod",       "module",
    "namespace",   "newtype",   "object",    "output",   "package", "proc",     "procedure", "proto",     "protocol",
    "provider",    "record",    "resource",  "rpc",      "scalar",  "schema",   "service",   "struct",    "sub",
    "table",       "template",  "trait",     "trigger",  "type",    "union",    "view"};
/// Keywords that declare something only at the outermost level.
constexpr std::array<std::string_view, 6> outermost_keywords{"const", "let", "var", "val", "typedef", "using"};
/// Words that begin statements, not declarations.
constexpr std::array<std::string_view, 16> statements{"if",    "for",  "while", "switch", "return", "else",  "catch", "do",
                                                      "throw", "case", "new",   "delete", "assert", "await", "yield", "sizeof"};

template <std::size_t count>
bool contains(const std::array<std::string_view, count>& words, std::string_view word) noexcept {
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view candidate) { return ascii::equals_ignore_case(candidate, word); });
}

constexpr bool is_name_character(char c) noexcept {
  return ascii::is_letter(c) || is_digit(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view consume_word(std::string_view& text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_name_character(text[end])) ++end;
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// `a::b`, `a.b`, `name?`, `"quoted"`
std::string_view read_name(std::string_view text) noexcept {
  text = trim(text);
  if (text.empty()) return {};
  if (text.front() == '"' || text.front() == '\'' || text.front() == '`') {
    const auto end = text.find(text.front(), 1);
    return end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
  }
  std::size_t end = 0;
  const auto continues = [&text](std::size_t position) {
    if (is_name_character(text[position])) return true;
    if (position > 0 && (text[position] == '?' || text[position] == '!')) return true;
    return position > 0 && position + 1 < text.size() && (text[position] == ':' || text[position] == '.') &&
           (is_name_character(text[position + 1]) || text[position + 1] == ':');
  };
  while (end < text.size() && continues(end)) ++end;
  return text.substr(0, end);
}

/// The name after a keyword, without template parameters and receivers.
std::string_view name_after(std::string_view keyword, std::string_view text) noexcept {
  text = trim(text);
  if (text.starts_with('(')) {
    const auto end = text.find(')');
    if (!ascii::equals_ignore_case(keyword, "func") || end == std::string_view::npos) return {};
    text = trim(text.substr(end + 1));
  }
  if (text.starts_with('<')) {
    const auto end = text.find('>');
    if (end != std::string_view::npos) text = trim(text.substr(end + 1));
  }
  if (text.starts_with('*') || text.starts_with('&')) text.remove_prefix(1);
  auto name = read_name(text);
  while (contains(modifiers, name) || name == "class" || name == "struct" || name == "exists" || name == "EXISTS") {
    const auto name_end = text.find(name) + name.size();
    const auto next = read_name(text.substr(name_end));
    if (next.empty()) break;
    text = text.substr(name_end);
    name = next;
  }
  return name;
}

/// The name in `Type name(`, if no assignment and no statement keyword precedes it.
std::string_view function_without_keyword(std::string_view content) noexcept {
  const auto open = content.find('(');
  if (open == std::string_view::npos || open == 0) return {};
  auto head = content.substr(0, open);
  while (!head.empty() && is_space(head.back())) head.remove_suffix(1);
  if (head.find_first_of("=\"'#/;.+|{}") != std::string_view::npos) return {};
  auto begin = head.size();
  while (begin > 0 && (is_name_character(head[begin - 1]) || head[begin - 1] == ':' || head[begin - 1] == '~')) --begin;
  const auto name = head.substr(begin);
  auto first = head;
  const auto word = consume_word(first);
  if (name.empty() || is_digit(name.front()) || begin == 0 || contains(statements, word)) return {};
  // A call or a prototype ends with a semicolon; a definition does not.
  const auto trimmed_content = trim(content);
  return trimmed_content.ends_with(';') ? std::string_view() : name;
}

std::string_view name_by_keyword(std::string_view content, bool is_outermost) noexcept {
  auto remaining = content;
  for (int words = 0; words < 6; ++words) {
    remaining = trim(remaining);
    auto tail = remaining;
    const auto word = consume_word(tail);
    if (word.empty()) return {};
    const bool is_name = !tail.empty() && (is_space(tail.front()) || tail.front() == '<');
    if (is_name && contains(keywords, word)) return name_after(word, tail);
    if (!is_name && word != "pub") return {};
    if (is_name && is_outermost && contains(outermost_keywords, word)) {
      // In `const enum` and `const fn`, another keyword follows.
      const auto name = name_after(word, tail);
      const auto inner = name_by_keyword(trim(tail), false);
      return inner.empty() ? name : inner;
    }
    if (ascii::equals_ignore_case(word, "enum")) return name_after(word, tail);
    if (!contains(modifiers, word)) return {};
    if (tail.starts_with('(')) {
      const auto end = tail.find(')');
      if (end == std::string_view::npos) return {};
      tail.remove_prefix(end + 1);
    }
    remaining = tail;
  }
  return {};
}

std::string_view name_before(std::string_view content, std::string_view mark) noexcept {
  const auto position = content.find(mark);
  if (position == std::string_view::npos || position == 0) return {};
  const auto name = read_name(content.substr(0, position));
  return name.size() == trim(content.substr(0, position)).size() ? name : std::string_view();
}

std::string_view member_name(std::string_view content) noexcept {
  if (content.front() == '#' || content.front() == '-') return {};
  const auto colon = content.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  if (colon + 1 < content.size() && !is_space(content[colon + 1])) return {};
  auto name = trim(content.substr(0, colon));
  if (name.size() > 1 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
    name = name.substr(1, name.size() - 2);
  return name.size() <= 100 ? name : std::string_view();
}

}  // namespace

bool is_closing(std::string_view content) noexcept {
  if (content.empty()) return false;
  const char first = content.front();
  if (first == '}' || first == ')' || first == ']' || first == '{') return true;
  auto remaining = content;
  const auto word = consume_word(remaining);
  return word == "end" || word == "else" || word == "END" || word == "fi" || word == "done" || word == "esac";
}

std::string_view declared_name(family syntax, std::string_view content, bool is_outermost) noexcept {
  content = content.substr(0, max_scan_bytes);
  if (content.empty() || is_closing(content)) return {};
  switch (syntax) {
    case family::c_like: {
      const auto name = name_by_keyword(content, is_outermost);
      return name.empty() ? function_without_keyword(content) : name;
    }
    case family::keyword:
      return name_by_keyword(content, is_outermost);
    case family::shell: {
      const auto name = name_by_keyword(content, false);
      return name.empty() ? name_before(content, "()") : name;
    }
    case family::assigned: {
      const auto typed = name_before(content, " ::");
      if (!typed.empty()) return typed;
      const auto assigned = name_before(content, "<- function");
      return assigned.empty() ? name_by_keyword(content, is_outermost) : assigned;
    }
    case family::lisp: {
      if (!content.starts_with("(def") && !content.starts_with("(ns")) return {};
      const auto end = content.find(' ');
      if (end == std::string_view::npos) return {};
      const auto after_keyword = content.substr(end + 1);
      return after_keyword.substr(0, after_keyword.find_first_of(" \t()[]"));
    }
    case family::sections: {
      if (!content.starts_with('[')) return {};
      const auto name = content.substr(content.starts_with("[[") ? 2 : 1);
      return name.substr(0, name.find(']'));
    }
    case family::members:
      return member_name(content);
    case family::selectors: {
      const auto open = content.find('{');
      return open == std::string_view::npos ? std::string_view() : trim(content.substr(0, open));
    }
    case family::lines:
      return {};
  }
  return {};
}

namespace {

constexpr std::size_t max_name_bytes = 120;
constexpr std::size_t max_path_depth = 8;

class code_chunker {
 public:
  code_chunker(family syntax, std::string_view text, const chunking_options& options)
      : syntax_(syntax), text_(text), packer_(options, true) {}

  chunked_text run() {
    markup::line_reader lines(text_, text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    for (markup::text_line line; !packer_.is_full() && lines.read(line);) add_line(line);
    return packer_.finish({});
  }

 private:
  void add_line(const markup::text_line& line) {
    auto raw = text_.substr(line.begin, line.end - line.begin);
    while (!raw.empty() && ascii::is_space(raw.back())) raw.remove_suffix(1);
    if (raw.empty()) {
      has_blank_ = true;
      return;
    }
    std::size_t columns = 0;
    std::size_t indent_bytes = 0;
    for (; indent_bytes < raw.size() && (raw[indent_bytes] == ' ' || raw[indent_bytes] == '\t'); ++indent_bytes)
      columns += raw[indent_bytes] == '\t' ? 4 : 1;
    const auto content = raw.substr(indent_bytes);
    const bool is_close = is_closing(content);
    const auto name = declared_name(syntax_, content, columns == 0);
    const bool is_free = has_blank_ || was_closed_ || (!name.empty() && !is_attached_);
    const bool is_section = columns == 0 && !is_close && is_free;
    update_path(name, columns, content, is_close);
    // A section of a declaration begins with the comments before it.
    if (is_section && packer_.size() >= packer_.options().target_bytes / 2) packer_.flush();

    unit unit;
    unit.source = raw;
    unit.begin = line.begin;
    unit.end = line.begin + raw.size();
    unit.first_line = unit.last_line = line.number;
    const int depth = static_cast<int>(std::min<std::size_t>(columns / 2, 8));
    unit.rank = is_close     ? ranks::line + 9
                : is_section ? ranks::section
                : is_free    ? ranks::block + 2 * depth
                             : ranks::line + depth;
    unit.leading_glue = has_blank_ ? glue::paragraph : glue::line;
    unit.breadcrumbs = breadcrumbs_;
    packer_.add(std::move(unit));

    has_blank_ = false;
    was_closed_ = is_close && columns == 0 && content.front() != '{' && !content.starts_with("else");
    is_attached_ = is_attachment(content);
  }

  /// Whether the line is a comment, an attribute or a decorator, which belongs to the next line.
  static bool is_attachment(std::string_view content) noexcept {
    const auto begins = [content](std::string_view mark) { return content.starts_with(mark); };
    return begins("//") || begins("/*") || begins("*") || begins("#[") || begins("@") || begins("--") || begins(";;") ||
           begins("# ") || begins("[[") || begins("template");
  }

  void update_path(std::string_view name, std::size_t columns, std::string_view content, bool is_close) {
    const bool is_adjacent = content.front() == '#' || is_attachment(content) || content.ends_with(':');
    const auto previous_depth = names_.size();
    while (!names_.empty() && !is_close && (!name.empty() || !is_adjacent || has_blank_) && names_.back().first >= columns)
      names_.pop_back();
    if (!name.empty() && names_.size() < max_path_depth)
      names_.emplace_back(columns, std::string(markup::utf8_prefix(name, max_name_bytes)));
    if (breadcrumbs_ != nullptr && previous_depth == names_.size() && name.empty()) return;
    auto breadcrumbs = std::make_shared<path>();
    breadcrumbs->reserve(names_.size());
    for (const auto& entry : names_) breadcrumbs->push_back(entry.second);
    breadcrumbs_ = std::move(breadcrumbs);
  }

  family syntax_;
  std::string_view text_;
  packer packer_;
  bool has_blank_ = false;
  bool was_closed_ = false;
  bool is_attached_ = false;
  std::vector<std::pair<std::size_t, std::string>> names_{};
  std::shared_ptr<const path> breadcrumbs_{};
};

}  // namespace

chunked_text chunk_code(family syntax, std::string_view text, const chunking_options& options) {
  return code_chunker(syntax, text, options).run();
}

}  // namespace hondana::chunking

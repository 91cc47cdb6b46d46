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
[[nodiscard]] std::string_view declared_in(family how, std::string_view content, bool is_outermost) noexcept;

/// Whether a line only closes or continues an earlier block: `}`, `);`, `end`.
[[nodiscard]] bool is_closing(std::string_view content) noexcept;

namespace {

using ascii::is_digit;
using ascii::is_space;
using markup::trimmed;

constexpr std::size_t longest_look = 400;

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
bool has(const std::array<std::string_view, count>& all, std::string_view word) noexcept {
  return std::any_of(all.begin(), all.end(), [word](std::string_view one) { return ascii::is_same(one, word); });
}

constexpr bool is_of_name(char c) noexcept {
  return ascii::is_letter(c) || is_digit(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view take_word(std::string_view& text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_of_name(text[end])) ++end;
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// `a::b`, `a.b`, `name?`, `"quoted"`
std::string_view name_at(std::string_view text) noexcept {
  text = trimmed(text);
  if (text.empty()) return {};
  if (text.front() == '"' || text.front() == '\'' || text.front() == '`') {
    const auto end = text.find(text.front(), 1);
    return end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
  }
  std::size_t end = 0;
  const auto continues = [&text](std::size_t at) {
    if (is_of_name(text[at])) return true;
    if (at > 0 && (text[at] == '?' || text[at] == '!')) return true;
    return at > 0 && at + 1 < text.size() && (text[at] == ':' || text[at] == '.') &&
           (is_of_name(text[at + 1]) || text[at + 1] == ':');
  };
  while (end < text.size() && continues(end)) ++end;
  return text.substr(0, end);
}

/// The name after a keyword, without template parameters and receivers.
std::string_view name_behind(std::string_view keyword, std::string_view rest) noexcept {
  rest = trimmed(rest);
  if (rest.starts_with('(')) {
    const auto end = rest.find(')');
    if (!ascii::is_same(keyword, "func") || end == std::string_view::npos) return {};
    rest = trimmed(rest.substr(end + 1));
  }
  if (rest.starts_with('<')) {
    const auto end = rest.find('>');
    if (end != std::string_view::npos) rest = trimmed(rest.substr(end + 1));
  }
  if (rest.starts_with('*') || rest.starts_with('&')) rest.remove_prefix(1);
  auto name = name_at(rest);
  while (has(modifiers, name) || name == "class" || name == "struct" || name == "exists" || name == "EXISTS") {
    const auto behind = rest.find(name) + name.size();
    const auto next = name_at(rest.substr(behind));
    if (next.empty()) break;
    rest = rest.substr(behind);
    name = next;
  }
  return name;
}

/// The name in `Type name(`, if no assignment and no statement keyword precedes it.
std::string_view function_without_keyword(std::string_view content) noexcept {
  const auto open = content.find('(');
  if (open == std::string_view::npos || open == 0) return {};
  auto before = content.substr(0, open);
  while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
  if (before.find_first_of("=\"'#/;.+|{}") != std::string_view::npos) return {};
  auto begin = before.size();
  while (begin > 0 && (is_of_name(before[begin - 1]) || before[begin - 1] == ':' || before[begin - 1] == '~')) --begin;
  const auto name = before.substr(begin);
  auto first = before;
  const auto word = take_word(first);
  if (name.empty() || is_digit(name.front()) || begin == 0 || has(statements, word)) return {};
  // A call or a prototype ends with a semicolon; a definition does not.
  const auto shown = trimmed(content);
  return shown.ends_with(';') ? std::string_view() : name;
}

std::string_view by_keyword(std::string_view content, bool is_outermost) noexcept {
  auto rest = content;
  for (int words = 0; words < 6; ++words) {
    rest = trimmed(rest);
    auto behind = rest;
    const auto word = take_word(behind);
    if (word.empty()) return {};
    const bool is_name = !behind.empty() && (is_space(behind.front()) || behind.front() == '<');
    if (is_name && has(keywords, word)) return name_behind(word, behind);
    if (!is_name && word != "pub") return {};
    if (is_name && is_outermost && has(outermost_keywords, word)) {
      // In `const enum` and `const fn`, another keyword follows.
      const auto name = name_behind(word, behind);
      const auto inner = by_keyword(trimmed(behind), false);
      return inner.empty() ? name : inner;
    }
    if (ascii::is_same(word, "enum")) return name_behind(word, behind);
    if (!has(modifiers, word)) return {};
    if (behind.starts_with('(')) {
      const auto end = behind.find(')');
      if (end == std::string_view::npos) return {};
      behind.remove_prefix(end + 1);
    }
    rest = behind;
  }
  return {};
}

std::string_view before_mark(std::string_view content, std::string_view mark) noexcept {
  const auto found = content.find(mark);
  if (found == std::string_view::npos || found == 0) return {};
  const auto name = name_at(content.substr(0, found));
  return name.size() == trimmed(content.substr(0, found)).size() ? name : std::string_view();
}

std::string_view member(std::string_view content) noexcept {
  if (content.front() == '#' || content.front() == '-') return {};
  const auto colon = content.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  if (colon + 1 < content.size() && !is_space(content[colon + 1])) return {};
  auto name = trimmed(content.substr(0, colon));
  if (name.size() > 1 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
    name = name.substr(1, name.size() - 2);
  return name.size() <= 100 ? name : std::string_view();
}

}  // namespace

bool is_closing(std::string_view content) noexcept {
  if (content.empty()) return false;
  const char first = content.front();
  if (first == '}' || first == ')' || first == ']' || first == '{') return true;
  auto rest = content;
  const auto word = take_word(rest);
  return word == "end" || word == "else" || word == "END" || word == "fi" || word == "done" || word == "esac";
}

std::string_view declared_in(family how, std::string_view content, bool is_outermost) noexcept {
  content = content.substr(0, longest_look);
  if (content.empty() || is_closing(content)) return {};
  switch (how) {
    case family::c_like: {
      const auto name = by_keyword(content, is_outermost);
      return name.empty() ? function_without_keyword(content) : name;
    }
    case family::keyword:
      return by_keyword(content, is_outermost);
    case family::shell: {
      const auto name = by_keyword(content, false);
      return name.empty() ? before_mark(content, "()") : name;
    }
    case family::assigned: {
      const auto typed = before_mark(content, " ::");
      if (!typed.empty()) return typed;
      const auto assigned = before_mark(content, "<- function");
      return assigned.empty() ? by_keyword(content, is_outermost) : assigned;
    }
    case family::lisp: {
      if (!content.starts_with("(def") && !content.starts_with("(ns")) return {};
      const auto end = content.find(' ');
      if (end == std::string_view::npos) return {};
      const auto rest = content.substr(end + 1);
      return rest.substr(0, rest.find_first_of(" \t()[]"));
    }
    case family::sections: {
      if (!content.starts_with('[')) return {};
      const auto name = content.substr(content.starts_with("[[") ? 2 : 1);
      return name.substr(0, name.find(']'));
    }
    case family::members:
      return member(content);
    case family::selectors: {
      const auto open = content.find('{');
      return open == std::string_view::npos ? std::string_view() : trimmed(content.substr(0, open));
    }
    case family::lines:
      return {};
  }
  return {};
}

namespace {

constexpr std::size_t longest_name = 120;
constexpr std::size_t deepest_path = 8;

class code_cutter {
 public:
  code_cutter(family how, std::string_view text, const cutting& by) : how_(how), text_(text), packer_(by, true) {}

  cut run() {
    markup::line_reader lines(text_, text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    for (markup::line one; !packer_.is_full() && lines.read(one);) take(one);
    return packer_.finish({});
  }

 private:
  void take(const markup::line& one) {
    auto raw = text_.substr(one.begin, one.end - one.begin);
    while (!raw.empty() && ascii::is_space(raw.back())) raw.remove_suffix(1);
    if (raw.empty()) {
      has_blank_ = true;
      return;
    }
    std::size_t columns = 0;
    std::size_t bytes = 0;
    for (; bytes < raw.size() && (raw[bytes] == ' ' || raw[bytes] == '\t'); ++bytes) columns += raw[bytes] == '\t' ? 4 : 1;
    const auto content = raw.substr(bytes);
    const bool is_close = is_closing(content);
    const auto name = declared_in(how_, content, columns == 0);
    const bool is_free = has_blank_ || was_closed_ || (!name.empty() && !is_attached_);
    const bool is_section = columns == 0 && !is_close && is_free;
    note(name, columns, content, is_close);
    // A section of a declaration begins with the comments before it.
    if (is_section && packer_.size() >= packer_.how().wanted / 2) packer_.flush();

    unit made;
    made.seen = raw;
    made.begin = one.begin;
    made.end = one.begin + raw.size();
    made.first_line = made.last_line = one.number;
    const int depth = static_cast<int>(std::min<std::size_t>(columns / 2, 8));
    made.rank = is_close     ? ranks::line + 9
                : is_section ? ranks::section
                : is_free    ? ranks::block + 2 * depth
                             : ranks::line + depth;
    made.before = has_blank_ ? glue::paragraph : glue::line;
    made.where = where_;
    packer_.add(std::move(made));

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

  void note(std::string_view name, std::size_t columns, std::string_view content, bool is_close) {
    const bool is_beside = content.front() == '#' || is_attachment(content) || content.ends_with(':');
    const auto before = names_.size();
    while (!names_.empty() && !is_close && (!name.empty() || !is_beside || has_blank_) && names_.back().first >= columns)
      names_.pop_back();
    if (!name.empty() && names_.size() < deepest_path)
      names_.emplace_back(columns, std::string(markup::front_of(name, longest_name)));
    if (where_ != nullptr && before == names_.size() && name.empty()) return;
    auto made = std::make_shared<path>();
    made->reserve(names_.size());
    for (const auto& one : names_) made->push_back(one.second);
    where_ = std::move(made);
  }

  family how_;
  std::string_view text_;
  packer packer_;
  bool has_blank_ = false;
  bool was_closed_ = false;
  bool is_attached_ = false;
  std::vector<std::pair<std::size_t, std::string>> names_{};
  std::shared_ptr<const path> where_{};
};

}  // namespace

cut cut_code(family how, std::string_view text, const cutting& by) { return code_cutter(how, text, by).run(); }

}  // namespace hondana::chunking

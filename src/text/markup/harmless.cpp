/// Finds in a text what could be run.
#include "text/markup/harmless.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::markup {
namespace {

/// What such names stand for in code: nothing of HTML has them. All else in angles is escaped.
constexpr std::array<std::string_view, 26> names_of_code{
    "algorithm", "array",    "bool", "char", "cstddef", "cstdint", "cstdio", "double", "float",
    "int",       "iostream", "K",    "long", "memory",  "name",    "size_t", "string", "string_view",
    "T",         "tuple",    "type", "U",    "utility", "V",       "vector", "void"};

constexpr std::array<std::string_view, 3> running_schemes{"javascript:", "vbscript:", "data:"};

/// `<vector>`, `<stdio.h>`, `<std::string>`: without attributes, and no element.
bool is_code(std::string_view behind) noexcept {
  const auto end = behind.substr(0, 64).find('>');
  if (end == std::string_view::npos) return false;
  const auto name = behind.substr(0, end);
  const bool is_plain =
      std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; });
  if (is_plain) return std::find(names_of_code.begin(), names_of_code.end(), name) != names_of_code.end();
  return name.ends_with(".h") || name.ends_with(".hpp") || name.starts_with("std::");
}

bool begins_tag(std::string_view behind) noexcept {
  if (behind.empty()) return false;
  const char next = behind.front();
  if (next == '/' || next == '!' || next == '?') return true;
  return ascii::is_letter(next) && !is_code(behind);
}

bool runs(std::string_view target) noexcept {
  while (!target.empty() && (ascii::is_space(target.front()) || target.front() == '<')) target.remove_prefix(1);
  return std::any_of(running_schemes.begin(), running_schemes.end(),
                     [target](std::string_view one) { return ascii::begins_with(target, one); });
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto behind = text.substr(at + 1);
    if (c == '<' && begins_tag(behind))
      out += "&lt;";
    else
      out += c;
    const bool is_target = c == ']' && behind.size() > 1 && (behind.front() == '(' || behind.front() == ':');
    if (is_target && runs(behind.substr(1, 32))) {
      out.append(1, ' ').append(1, behind.front()).append(1, ' ');
      ++at;
    }
  }
  return out;
}

}  // namespace hondana::markup

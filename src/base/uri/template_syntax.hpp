/// Parses and expands URI templates (RFC 6570).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {

inline constexpr std::size_t max_template_bytes = 8192;
inline constexpr std::size_t max_expressions = 64;
/// Over all expressions; with it the number of automaton states is bounded.
inline constexpr std::size_t max_variables = 256;

/// How one operator expands. `lead` starts a non-empty expansion ('\0': nothing does), `separator` stands between values.
struct operation {
  char sign;  ///< As written after the brace; '\0' for simple expansion.
  char lead;
  char separator;
  bool named;                ///< Values follow their variable's name.
  bool equals_before_empty;  ///< An empty named value still has its `=`.
  bool keeps_reserved;       ///< Reserved characters and escapes pass as they are.
};

struct variable {
  std::string name;          ///< As written.
  std::string key;           ///< The name with its escapes in canonical form, as it stands in a canonical URI.
  std::uint32_t prefix = 0;  ///< Code points to take; 0: all.
  bool explode = false;
};

struct expression {
  operation op;
  std::vector<variable> variables;
};

struct literal {
  std::string expanded;   ///< Non-ASCII characters escaped, escapes as written (RFC 6570 section 3.1).
  std::string canonical;  ///< As it stands in a canonical URI.
};

struct template_syntax {
  std::vector<std::variant<literal, expression>> parts;  ///< Never two literals in a row, none empty.
  std::vector<std::string> names;                        ///< In order of first appearance.
  std::map<std::string, std::size_t> repeated;           ///< The names that stand in several places, and in how many.
};

/// Errors: invalid_argument naming the byte position, or the limit that is exceeded.
[[nodiscard]] result<template_syntax> parse_template(std::string_view text);

/// Errors: invalid_argument for a prefix modifier on a list or associative array.
///
/// Names in an exploded associative array are escaped like values, where section 3.2.1 would let reserved characters pass: a
/// name that holds `&` must not start another parameter.
[[nodiscard]] result<std::string> expand_template(const template_syntax& syntax, const uri_template_values& values);

/// The first `count` code points of `value`; an octet that starts no well-formed UTF-8 is one by itself. With
/// `whole_escapes` an escape of three characters counts once (section 2.4.1: no escape is split).
[[nodiscard]] std::string_view code_point_prefix(std::string_view value, std::size_t count, bool whole_escapes) noexcept;

}  // namespace hondana::uri

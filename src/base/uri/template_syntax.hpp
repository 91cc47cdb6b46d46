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
/// The maximum number of variables in all expressions together.
inline constexpr std::size_t max_variables = 256;

/// How an operator, such as the `?` of `{?a,b}`, expands its variables.
struct template_operator {
  char symbol;               ///< The character after the opening brace; '\0' for simple expansion.
  char lead;                 ///< The character before a non-empty expansion; '\0': none.
  char separator;            ///< The character between two values.
  bool is_named;             ///< Each value follows the name of its variable.
  bool equals_before_empty;  ///< A named value that is empty is still followed by `=`.
  bool keeps_reserved;       ///< Reserved characters and escapes of values are copied unchanged.
};

struct variable {
  std::string name;                 ///< As written in the template.
  std::string key;                  ///< The name with canonical escapes, as it occurs in a canonical URI.
  std::uint32_t prefix_length = 0;  ///< The number after `:`, the maximum number of code points; 0: no maximum.
  bool is_exploded = false;         ///< `*` follows the name.
};

struct expression {
  template_operator op;
  std::vector<variable> variables;
};

/// Text outside of expressions.
struct literal {
  std::string expanded;   ///< For expansion: non-ASCII characters are escaped, escapes stay as written (RFC 6570 section 3.1).
  std::string canonical;  ///< As it occurs in a canonical URI.
};

struct template_syntax {
  std::vector<std::variant<literal, expression>> parts;  ///< Never two literals in a row, and no empty literals.
  std::vector<std::string> names;                        ///< Variable names in order of first appearance, each once.
  std::map<std::string, std::size_t> repeated;           ///< Names that occur several times, with their number of occurrences.
};

/// Parses a template. Errors: invalid_argument, whose text names the byte position or the exceeded limit.
[[nodiscard]] result<template_syntax> parse_template(std::string_view text);

/// Expands a template. Variables without a value in `values` expand to nothing.
/// Errors: invalid_argument for a prefix modifier on a list or associative array.
///
/// Names in an exploded associative array are escaped like values. RFC 6570 section 3.2.1 would copy reserved characters, but
/// a name that contains `&` must not start another parameter.
[[nodiscard]] result<std::string> expand_template(const template_syntax& syntax, const uri_template_values& values);

/// Returns the first `count` code points of `value`, or all. An octet that does not start well-formed UTF-8 counts as one.
/// `escapes_as_one`: an escape of three characters counts as one code point (RFC 6570 section 2.4.1).
[[nodiscard]] std::string_view code_point_prefix(std::string_view value, std::size_t count, bool escapes_as_one) noexcept;

}  // namespace hondana::uri

/// Which characters each variable of a template may take, so that every place where one ends can be told.
#pragma once

#include <hondana/error.hpp>
#include <vector>

#include "base/uri/octet_set.hpp"
#include "base/uri/template_syntax.hpp"

namespace hondana::uri {

/// What the variables of one expression take when a URI is matched. A set that has `%` takes whole escapes.
struct value_sets {
  std::vector<octet_set> values;  ///< By variable.
  octet_set names;                ///< Named expressions: the names in an exploded associative array.
};

/// One element for each part of `syntax`; empty for literals.
///
/// A variable takes unreserved characters and escapes; with `+` and `#` reserved ones too. Beyond that:
/// - `,` belongs to the value of `. / ; ? &` (a list), and of `+` and `#` when the expression has just one variable and does
///   not explode it;
/// - an exploded value of the unnamed operators takes `=`;
/// - a label takes `.` only when it is the expression's one variable, not exploded and not before another label;
/// - `+` and `#` leave `?` and `#` out wherever a later `{?...}` or `{#...}` needs them, and `;` and `&` directly before
///   `{;...}` and `{&...}`; any other variable leaves `.` out directly before `{....}`.
///
/// Errors: invalid_argument when, with these sets, two neighbours cannot be told apart; the text names both.
[[nodiscard]] result<std::vector<value_sets>> find_boundaries(const template_syntax& syntax);

}  // namespace hondana::uri

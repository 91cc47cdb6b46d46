/// From the captures of a match to the values of variables.
#pragma once

#include <hondana/uri.hpp>
#include <optional>
#include <vector>

#include "base/uri/template_matcher.hpp"
#include "base/uri/template_syntax.hpp"

namespace hondana::uri {

/// Decodes `captures` and gathers lists and associative arrays. Nothing when a parameter is repeated, or when a variable that
/// stands in several places has values that contradict each other.
[[nodiscard]] std::optional<uri_template_values> bind(const template_syntax& syntax, const std::vector<capture>& captures);

}  // namespace hondana::uri

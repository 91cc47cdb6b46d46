/// MathML as text on one line.
#pragma once

#include <string>

#include "text/markup/html_tree.hpp"

namespace hondana::markup {

/// Returns the formula in an element `math` in linear form: `(a+b)/2`, `x^2`, `x_i`, `√(x+1)`, `³√x`, `∑_(i=1)^n`, `[1, 0; 0,
/// 1]`. Annotations are left out. Of more than 64 nested elements, the inner ones are text.
[[nodiscard]] std::string math_text(const GumboNode& math);

}  // namespace hondana::markup

/// What stands within a paragraph of reStructuredText.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/markup/inlines.hpp"

namespace hondana::markup {

/// The addresses of `.. _name: address`, by `label_of` the name.
[[nodiscard]] definitions targets_in(std::string_view text);

/// Links are `` `text <url>`_ ``, `` `name`_ `` with a known target, `:doc:`, `:ref:`, `:numref:` and `:download:` as their
/// target stands there, and bare URLs.
[[nodiscard]] inline_text read_roles(std::string_view text, std::size_t line, const definitions& defined);

}  // namespace hondana::markup

/// Inline markup of reStructuredText, and the targets and substitutions that it refers to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/markup/inlines.hpp"

namespace hondana::markup {

/// What the references of a document refer to. Names are as `normalize_label` returns them.
struct restructured_definitions {
  link_definitions targets{};  ///< Addresses by name. A target inside the document is `#name`.
  std::vector<std::string> anonymous_targets{};
  std::unordered_map<std::string, std::string> substitutions{};  ///< Texts by name, with inline markup.
};

/// Collects targets such as `.. _name: address` and `__ address`, and substitutions such as `.. |name| replace:: text`.
/// At most 10 000 of each.
[[nodiscard]] restructured_definitions collect_restructured_definitions(std::string_view text);

/// A name and an address, as in `name: address` and `` `name`: address `` after `.. _`. False: it is not a target.
[[nodiscard]] bool read_restructured_target(std::string_view content, std::string_view& name,
                                            std::string_view& address) noexcept;

/// Reads inline markup. Links are references such as `name_`, `` `text <address>`_ `` and `text__`, bare URLs, and the roles
/// `:doc:`, `:ref:`, `:numref:` and `:download:`. `next_anonymous`: the number of anonymous references before `text`; counts
/// further ones. `expands_substitutions`: whether to replace `|name|`.
[[nodiscard]] inline_text read_restructured_inline(std::string_view text, std::size_t line,
                                                   const restructured_definitions& definitions, std::size_t& next_anonymous,
                                                   bool expands_substitutions);

}  // namespace hondana::markup

/// What a scalar of YAML means.
#pragma once

#include <optional>
#include <string_view>

#include <hondana/value.hpp>

namespace hondana::front_matter {

/// A plain scalar by the core schema; nothing for an infinity, NaN, or a number beyond all that JSON's readers have.
/// Source: yaml.org/spec/1.2.2, section 10.3.2.
[[nodiscard]] std::optional<value> resolve_plain(std::string_view text);

}  // namespace hondana::front_matter

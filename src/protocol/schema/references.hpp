/// URI references inside a schema document.
#pragma once

#include <string>
#include <string_view>

#include <hondana/value.hpp>

namespace hondana::schema {

/// `reference` against `base`, RFC 3986 section 5.2; an empty base gives the reference itself.
[[nodiscard]] std::string resolved(std::string_view base, std::string_view reference);

/// What a fragment that is a JSON pointer (percent-encoded) points to below `root`; null when there is nothing.
[[nodiscard]] const value* pointed(const value& root, std::string_view fragment);

}  // namespace hondana::schema

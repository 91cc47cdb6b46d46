/// Expansion of URI templates (RFC 6570 section 3).
#pragma once

#include <cstddef>
#include <hondana/uri.hpp>
#include <string>
#include <string_view>

#include "base/uri/template_syntax.hpp"

namespace hondana::uri {

/// Errors: invalid_argument for a prefix modifier on a list or associative array.
///
/// Names in an exploded associative array are escaped like values, where section 3.2.1 would let reserved characters pass: a
/// name that holds `&` must not start another parameter.
[[nodiscard]] result<std::string> expand_template(const template_syntax& syntax, const uri_template_values& values);

/// The first `count` code points of `value`; an octet that starts no well-formed UTF-8 is one by itself. With
/// `whole_escapes` an escape of three characters counts once (section 2.4.1: no escape is split).
[[nodiscard]] std::string_view code_point_prefix(std::string_view value, std::size_t count, bool whole_escapes) noexcept;

}  // namespace hondana::uri

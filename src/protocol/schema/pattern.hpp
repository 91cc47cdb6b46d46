/// Regular expressions of schemas.
#pragma once

#include <memory>
#include <string>

#include <re2/re2.h>

#include <tl/expected.hpp>

namespace hondana::schema {

/// An ECMA 262 expression as RE2 understands it: matching is linear, look-around and back-references are refused. A match
/// anywhere counts. Errors: the reason, in RE2's words.
[[nodiscard]] tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text);

}  // namespace hondana::schema

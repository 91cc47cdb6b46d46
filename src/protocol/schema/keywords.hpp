/// Keywords whose values are no schemas, and how what is wrong with a schema is told.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include <hondana/value.hpp>

#include "protocol/schema/program.hpp"

namespace hondana::schema {

/// What is wrong with a schema, as an exception inside this room only: its readers are deep, and there is one way out.
struct fault {
  std::string text;
};

[[noreturn]] void refuse(const std::string& place, std::string_view why);
[[nodiscard]] std::string inside(const std::string& place, std::string_view step);

/// The string a keyword must have; refused otherwise.
[[nodiscard]] const std::string& text_of(const value& from, const std::string& place);
/// A compiled pattern, or refused.
[[nodiscard]] std::shared_ptr<const RE2> pattern_of(const std::string& text, const std::string& place);
/// Reads `name` into the node; false when it is not one of these keywords.
bool read_value(node& into, const std::string& name, const value& part, const std::string& place);

}  // namespace hondana::schema

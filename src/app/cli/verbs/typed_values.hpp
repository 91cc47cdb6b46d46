/// Words of a command line as the values a JSON Schema wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

namespace hondana::cli {

/// `text` as what `schema` says of its type; without a type: JSON if it is, else a string. Errors: invalid_argument.
[[nodiscard]] result<value> typed_value(std::string_view text, const value& schema);

/// `name=value` words as the arguments of a tool with this input schema. A name that comes several times makes an array.
/// Errors: invalid_argument, naming the word, and the arguments there are.
[[nodiscard]] result<value> typed_arguments(const std::vector<std::string>& words, const value& input_schema);

/// Whether an object schema wants the member.
[[nodiscard]] bool is_required(const value& schema, std::string_view name);

/// Errors: invalid_argument, naming what the input schema of `called` requires and `arguments` lacks, and how it is given.
[[nodiscard]] result<void> has_all_required(const value& arguments, const tool& called);

}  // namespace hondana::cli

/// Trees of configuration as lines of text, for tests.
#pragma once

#include <string>
#include <string_view>

#include "text/located/format.hpp"
#include "text/located/node.hpp"

namespace hondana::test {

/// A line for every value that is no list or table with something in it: `LINE PATH = JSON <as it is written>`; the path has
/// the line of its last key in brackets where that is another. Then the remarks. Of a failure, its text.
[[nodiscard]] std::string told(located::config_format how, std::string_view text, const located::parse_limits& most = {});

[[nodiscard]] std::string told(const located::document& what, std::string_view text);

}  // namespace hondana::test

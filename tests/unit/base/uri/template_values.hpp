/// Short spellings for what a match gives.
#pragma once

#include <hondana/uri.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uri_test {

using list = std::vector<std::string>;
using array = std::vector<std::pair<std::string, std::string>>;
using values = hondana::uri_template_values;

inline std::optional<values> match(std::string_view text, std::string_view uri) {
  return hondana::uri_template::compile(text).value().match(uri);
}

}  // namespace uri_test

/// Walking through the parameters of a query.
#pragma once

#include <algorithm>
#include <string_view>

namespace hondana::uri {

/// One parameter as it stands in a URI, escaped.
struct written_parameter {
  std::string_view name{};
  std::string_view value{};  ///< Empty without a `=`.
};

/// Takes the first parameter off `query`, with the `&` behind it: both empty where there is nothing before the `&`.
[[nodiscard]] inline written_parameter take_parameter(std::string_view& query) noexcept {
  const auto one = query.substr(0, query.find('&'));
  query.remove_prefix(std::min(query.size(), one.size() + 1));
  const auto name = one.substr(0, one.find('='));
  return {name, one.substr(std::min(one.size(), name.size() + 1))};
}

}  // namespace hondana::uri

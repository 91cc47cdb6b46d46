/// Values for the parameters of a log.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/records/query.hpp"

namespace hondana::logs {

struct completing_source {
  records::instant now = 0;
  /// The newest records, masked; empty: the caller may not read them.
  std::function<result<records::page>(std::size_t lines)> newest{};
  /// See `records::log::own_fields`; goes with `newest`.
  std::function<result<std::vector<std::pair<std::string, std::string>>>(std::string_view name, std::size_t records)>
      own_fields{};
};

/// Levels, formats, numbers of lines, times; fields that the newest records have, and behind `path:` their values. Errors: of
/// `newest`. A field whose name says that its values are secrets has none.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completing_source& from);

}  // namespace hondana::logs

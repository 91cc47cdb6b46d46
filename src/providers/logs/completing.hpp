/// Values for the parameters of a log.
#pragma once

#include <cstddef>
#include <functional>

#include <hondana/provider.hpp>

#include "records/query.hpp"

namespace hondana::logs {

struct completing_source {
  bool is_journal = false;
  records::instant now = 0;
  /// The newest records, masked; empty: the caller may not read them.
  std::function<result<records::page>(std::size_t lines)> newest{};
};

/// Levels, formats, numbers of lines, times; fields that the newest records have, and behind `path:` their values. Errors: of
/// `newest`.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completing_source& from);

}  // namespace hondana::logs

/// Visits the records of a log in files from the oldest on, across rotations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/log.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

struct walk_request {
  std::optional<instant> since{};
  std::optional<instant> until{};
  const budget& most;
  const call& by;
  bool redact = true;
  const std::function<bool(const record&)>& each;
};

/// As `log::walk`. `again` lists the files again, since they may be rotated during the walk. If records are lost by that, the
/// walk is not whole, and a remark says why.
[[nodiscard]] result<walk_end> walk_through(const std::function<result<listed_set>()>& again, members& with,
                                            const walk_request& request);

}  // namespace hondana::records

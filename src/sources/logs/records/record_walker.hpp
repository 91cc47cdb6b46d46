/// Visits the records of a log in files from the oldest on, across rotations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

struct walk_request {
  std::optional<instant> since{};
  std::optional<instant> until{};
  const read_budget& budget;
  const request_context& context;
  bool redact = true;
  const std::function<bool(const log_record&)>& visit;
};

/// As `log_backend::walk`. `list` lists the files again, since they may be rotated during the walk. If records are lost by
/// that, the walk is not complete, and a remark says why.
[[nodiscard]] result<walk_result> walk_records(const std::function<result<file_listing>()>& list, file_opener& opener,
                                               const walk_request& request);

}  // namespace hondana::records

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

/// The arguments of `log_backend::walk`. The referenced objects must outlive the call of `walk_records`.
struct walk_request {
  std::optional<instant> since{};
  std::optional<instant> until{};
  const read_budget& budget;
  const request_context& context;
  bool redact = true;
  const std::function<bool(const log_record&)>& visit;
};

/// Visits records as `log_backend::walk` does. `list`: lists the files; it is called again if they are rotated during the walk.
/// If records are lost by that, the walk is not complete, and a remark says why.
[[nodiscard]] result<walk_result> walk_records(const std::function<result<file_listing>()>& list, file_opener& opener,
                                               const walk_request& request);

}  // namespace hondana::records

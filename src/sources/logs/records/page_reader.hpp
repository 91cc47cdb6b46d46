/// Reads one page of a log in files, the newest record first.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/matcher.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

/// A query with its limits. The referenced objects must outlive the call of `read_page`.
struct page_request {
  const log_query& query;
  const record_matcher& matcher;  ///< Compiled from `query`.
  const read_budget& budget;
  const request_context& context;
  bool redact = true;
};

/// Reads one page. Errors: as `log_backend::read`. After content_changed (the files were just rotated or truncated), the caller
/// should retry with a new listing.
[[nodiscard]] result<log_page> read_page(const file_listing& listing, file_opener& opener, const page_request& request);

/// Makes a remark that a file is left out because of an error.
[[nodiscard]] std::string skipped_note(const std::string& name, const failure& error);
/// Makes a remark that only a part of a file could be read.
[[nodiscard]] std::string partial_note(const log_file& file);

/// Files that were last modified this long before `since` are skipped. In microseconds. The margin allows for times without
/// zones and for wrong clocks.
inline constexpr instant write_slack = 26 * 3'600'000'000ll;

}  // namespace hondana::records

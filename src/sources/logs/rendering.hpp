/// Renders pages of records and summaries as text, Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "sources/logs/address.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// A page to render. Records are shown oldest first, as in the log. Further pages are older.
struct page_report {
  const log_address& address;
  const records::log_page& page;
  std::string next_uri{};     ///< URI of the next older page. Empty at the beginning of the log.
  bool has_prefixes = false;  ///< The texts lack time, source and level, so these are added. Set for journals.
};

/// Plain text: the records, followed by lines that begin with "-- ": remarks, the reason for an early end, `-- older: URI`.
/// Record lines that begin with "-- ", or with backslashes and "-- ", get an additional backslash, so that they cannot be
/// mistaken for these.
[[nodiscard]] std::string to_text(const page_report& report);
[[nodiscard]] std::string to_json(const page_report& report);

/// `name`: of the log. Links lead to its records.
[[nodiscard]] std::string to_markdown(const log_summary& report, std::string_view name);
[[nodiscard]] std::string to_json(const log_summary& report, std::string_view name);

}  // namespace hondana::logs

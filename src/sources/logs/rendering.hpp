/// Renders pages of records and summaries as text, Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "sources/logs/address.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// A page to render. Records are shown oldest first, as in the log.
struct page_report {
  const log_address& address;
  const records::log_page& page;
  std::string next_uri{};     ///< URI of the next page, which has older records. Empty at the beginning of the log.
  bool has_prefixes = false;  ///< `to_text` puts time, source and level before each record: for journals.
};

/// Renders the records as plain text, followed by lines that begin with "-- ": remarks, the reason for an early end, and
/// `-- older: URI`. Lines of records that begin with "-- ", or with backslashes and "-- ", get an additional backslash, so that
/// they cannot be mistaken for these.
[[nodiscard]] std::string to_text(const page_report& report);
/// Renders a page as a JSON object.
[[nodiscard]] std::string to_json(const page_report& report);

/// Renders a summary as Markdown, with a URI of all errors. `name`: of the log.
[[nodiscard]] std::string to_markdown(const log_summary& report, std::string_view name);
/// Renders a summary as a JSON object. `name`: of the log.
[[nodiscard]] std::string to_json(const log_summary& report, std::string_view name);

}  // namespace hondana::logs

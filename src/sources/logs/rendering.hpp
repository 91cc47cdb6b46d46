/// Renders pages of records and summaries as text, Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "sources/logs/address.hpp"
#include "sources/logs/records/log.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// What a page is told with. Records come with the oldest first, as the log has them; pages go back in time.
struct told_page {
  const address& at;
  const records::page& what;
  std::string next{};      ///< The URI of the page before, empty at the beginning of the log.
  bool has_heads = false;  ///< Time, source and level do not stand in the texts, as in a journal.
};

/// Records line by line, and behind them lines that begin with "-- ": remarks, why it ended early, `-- older: URI`. A line of a
/// record that begins so, or with backslashes and that, has a backslash more in front, so that it is never taken for one.
[[nodiscard]] std::string text_of(const told_page& page);
[[nodiscard]] std::string json_of(const told_page& page);

/// `name`: of the log. URIs in it lead to the records.
[[nodiscard]] std::string markdown_of(const summary& what, std::string_view name);
[[nodiscard]] std::string json_of(const summary& what, std::string_view name);

}  // namespace hondana::logs

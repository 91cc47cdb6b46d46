/// One page of a journal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/journal.hpp"
#include "sources/logs/journal_entry.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/records/match.hpp"
#include "sources/logs/records/query.hpp"

namespace hondana::logs {

/// A query, split into what the journal's fields decide and what the records themselves do.
struct journal_query {
  records::query what;  ///< Without fields of the journal.
  journal_fields fields;
  records::matcher matches;
  std::string mark;  ///< Of all but the number of lines and the cursor.

  /// Errors: of `records::matcher::compile`.
  [[nodiscard]] static result<journal_query> of(const records::query& asked);
};

/// The journal's own cursor in one of a page. Errors: invalid_argument for what is none of this query.
[[nodiscard]] result<std::string> cursor_in(const journal_query& of, std::string_view text);
[[nodiscard]] std::string page_cursor(const journal_query& of, std::string_view cursor);

/// As an entry is answered; its text has `most` bytes at most.
[[nodiscard]] records::record record_of(journal_entry&& one, std::size_t most);

/// Goes back from where the query begins. `in` stands anywhere. Errors: invalid_argument for a cursor; cancelled, timed_out,
/// source_unavailable.
[[nodiscard]] result<records::page> read_page(const journal_library& by, sd_journal* in, const journal_query& of, bool redact,
                                              const records::budget& most, const call& call);

}  // namespace hondana::logs

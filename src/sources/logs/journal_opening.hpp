/// A journal, opened, that shows what is wanted of it.
#pragma once

#include <string>

#include <hondana/error.hpp>

#include "sources/logs/journal.hpp"
#include "sources/logs/journal_library.hpp"

namespace hondana::logs {

/// What is longer is not looked at.
inline constexpr std::size_t longest_datum = std::size_t{1} << 20;

/// Whether there are files that may be read is for `look_at_journal` to say. Errors: access_denied, source_unavailable.
[[nodiscard]] result<journal_handle> open_matching(const journal_library& by, const journal_options& what);

/// `doing`: "read", for the text. `code`: what a function of the library returned.
[[nodiscard]] failure journal_failure(std::string_view doing, int code);

/// The greatest of syslog's numbers that is still at least that grave.
[[nodiscard]] int priority_of(records::severity level) noexcept;

}  // namespace hondana::logs

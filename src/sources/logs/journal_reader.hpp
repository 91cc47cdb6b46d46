/// Reads entries of a journal, masks them, and puts them into pages from the newest back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/journal.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/records/log.hpp"
#include "sources/logs/records/matcher.hpp"
#include "text/secrets/masking_reader.hpp"

namespace hondana::logs {

/// What must be equal in an entry.
using journal_fields = std::vector<std::pair<std::string, std::string>>;

/// Whether a field's name is one of the journal's: capitals, digits and underscores.
[[nodiscard]] bool is_journal_field(std::string_view name) noexcept;

struct journal_entry {
  records::instant time = 0;
  std::string process;  ///< Whose lines belong together.
  std::string message;  ///< As `records::answerable` gives it, not masked; the front of it where it is long.
  std::string tail{};   ///< The last `tail_bytes` of what is longer than that, the same way; else empty.
  std::size_t cut = 0;  ///< Bytes behind `message`.
  std::optional<records::severity> level{};
  std::string source;
  bool has_fields = true;  ///< As asked for.
  std::string cursor{};

  [[nodiscard]] std::size_t held_bytes() const noexcept { return message.size() + tail.size(); }
};

/// So much of the end of an entry decides about the next ones of its process.
inline constexpr std::size_t tail_bytes = 24u << 10;

/// What of an entry is read.
enum class entry_part : std::uint8_t { all, tail };

/// Reads the entry that a journal stands at. Values are compared as they are answered: masked where `redact`. Of its message so
/// much is kept as decides about `record_bytes` of it; of a long one only what comes after it needs where `part` says so.
[[nodiscard]] journal_entry read_entry(const journal_library& by, sd_journal* from, const journal_fields& asked, bool redact,
                                       std::size_t record_bytes, entry_part part = entry_part::all);
/// Adds the fields of the entry that a journal stands at, but for the message: `name` empty, the names of all; else the values
/// of that one. As they are answered.
void add_fields(const journal_library& by, sd_journal* from, std::string_view name, bool redact, journal_fields& into);
[[nodiscard]] std::string cursor_at(const journal_library& by, sd_journal* from);

/// Masks entries from the oldest on: what `redact_text` masks in each as a whole, and private keys that a process wrote line by
/// line. The lines of the last few thousand processes are known. Threads: one at a time.
class entry_masker {
 public:
  /// Returns how many stretches were masked.
  std::size_t mask(journal_entry& one);
  /// An entry that comes before those that are masked.
  void pass(const journal_entry& one);

 private:
  [[nodiscard]] secrets::line_masker& lines_of(const std::string& process);

  static constexpr std::size_t most_processes = 2048;
  std::map<std::string, secrets::line_masker> recent_, former_;
};

/// A key has no more lines: so many entries before a page decide what is masked in it.
inline constexpr std::size_t deciding_entries = 256;

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

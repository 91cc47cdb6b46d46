/// Reads entries of a journal, masks them, and collects them into pages, newest first.
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
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/matcher.hpp"
#include "text/secrets/masking_reader.hpp"

namespace hondana::logs {

/// Names and values of fields.
using journal_fields = std::vector<std::pair<std::string, std::string>>;

/// Whether a name is that of a journal field: up to 64 capitals, digits and underscores, no digit first.
[[nodiscard]] bool is_journal_field(std::string_view name) noexcept;

/// An entry of a journal.
struct journal_entry {
  records::instant time = 0;
  std::string process;        ///< The process ID. Consecutive entries of a process may form one text, such as a key.
  std::string message;        ///< The unmasked message, converted by `records::sanitize`. Only its beginning if it is long.
  std::string tail{};         ///< The last `tail_bytes` of a longer message, converted the same way. Otherwise empty.
  std::size_t cut_bytes = 0;  ///< Number of bytes of the message that follow `message`.
  std::optional<records::severity> level{};
  std::string source;          ///< The unit or identifier, masked if secrets are masked.
  bool matches_fields = true;  ///< Whether all requested fields match.
  std::string cursor{};        ///< The result of `read_cursor`, if the caller sets it.

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return message.size() + tail.size(); }
};

/// How much of the end of an entry can influence the masking of later entries of the same process.
inline constexpr std::size_t tail_bytes = 24u << 10;

/// The part of an entry's message to read.
enum class entry_part : std::uint8_t { full, tail };

/// Reads the current entry of a journal, without its cursor. Compares the values of `filters` with the form that clients see:
/// masked if `redact`.
/// Keeps as much of the message as the masking of its first `max_bytes` needs. With `entry_part::tail`, keeps only the end
/// of a long message, which is enough to mask later entries.
[[nodiscard]] journal_entry read_entry(const journal_library& library, sd_journal* journal, const journal_fields& filters,
                                       bool redact, std::size_t max_bytes, entry_part part = entry_part::full);
/// Adds fields of the current entry to `fields`, in the form that clients see. If `name` is empty, adds the names of all fields
/// except MESSAGE, with empty values. Otherwise adds the values of the field `name`.
void add_fields(const journal_library& library, sd_journal* journal, std::string_view name, bool redact,
                journal_fields& fields);
/// Returns libsystemd's cursor of the current entry; empty after an error.
[[nodiscard]] std::string read_cursor(const journal_library& library, sd_journal* journal);

/// Masks what `redact_text` finds in each entry, and private keys that a process wrote line by line. The caller must pass the
/// entries from the oldest on. Keeps state for the last few thousand processes. Threads: one at a time.
class entry_masker {
 public:
  /// Masks `message` and returns the number of masked secrets.
  std::size_t mask(journal_entry& entry);
  /// Updates the state with an entry without masking it.
  void observe(const journal_entry& entry);

 private:
  [[nodiscard]] secrets::line_masker& masker_for(const std::string& process);

  static constexpr std::size_t max_processes = 2048;
  std::map<std::string, secrets::line_masker> recent_, older_;
};

/// How many entries before a page influence its masking. Private keys do not have more lines.
inline constexpr std::size_t context_entries = 256;

/// A query, split into the part for journal fields and the part for records.
struct journal_query {
  records::log_query query;         ///< Without journal fields.
  journal_fields fields;            ///< Journal fields and the values that they must have.
  records::record_matcher matcher;  ///< Of `query`.
  std::string digest;               ///< A digest of the whole query without the number of lines and the cursor.

  /// Errors: those of `records::record_matcher::compile`.
  [[nodiscard]] static result<journal_query> compile(const records::log_query& full_query);
};

/// Extracts the result of `read_cursor` from a page cursor. Errors: invalid_argument if it does not belong to this query.
[[nodiscard]] result<std::string> decode_cursor(const journal_query& query, std::string_view text);
/// Makes a page cursor. `cursor`: a result of `read_cursor`.
[[nodiscard]] std::string encode_cursor(const journal_query& query, std::string_view cursor);

/// Converts an entry to a record with at most `max_bytes` bytes of text.
[[nodiscard]] records::log_record to_record(journal_entry&& entry, std::size_t max_bytes);

/// Reads a page, from the cursor or the newest record of the query backwards. The position of `journal` does not matter.
/// Errors: invalid_argument for a cursor. cancelled, timed_out, access_denied, source_unavailable.
[[nodiscard]] result<records::log_page> read_page(const journal_library& library, sd_journal* journal,
                                                  const journal_query& query, bool redact, const records::read_budget& budget,
                                                  const request_context& context);

}  // namespace hondana::logs

/// One entry of a journal as it is read, and its masking.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "providers/logs/journal_library.hpp"
#include "records/query.hpp"
#include "secrets/line_masker.hpp"

namespace hondana::logs {

/// What must be equal in an entry.
using journal_fields = std::vector<std::pair<std::string, std::string>>;

/// Whether a field's name is one of the journal's: capitals, digits and underscores.
[[nodiscard]] bool is_journal_field(std::string_view name) noexcept;

struct journal_entry {
  records::instant time = 0;
  std::string process;  ///< Whose lines belong together.
  std::string message;  ///< Well-formed UTF-8 without NUL, not masked.
  std::optional<records::severity> level{};
  std::string source;
  bool has_fields = true;  ///< As asked for.
  std::string cursor{};
};

/// Reads the entry that a journal stands at. Values are compared as they are answered: masked where `redact`.
[[nodiscard]] journal_entry read_entry(const journal_library& by, sd_journal* from, const journal_fields& asked, bool redact);
[[nodiscard]] std::string cursor_at(const journal_library& by, sd_journal* from);

/// Masks entries from the oldest on: what `redact_text` masks in each as a whole, and private keys that a process wrote line by
/// line. The lines of the last few thousand processes are known. Threads: one at a time.
class entry_masker {
 public:
  /// Returns how many stretches were masked.
  std::size_t mask(journal_entry& one);

 private:
  [[nodiscard]] secrets::line_masker& lines_of(const std::string& process);

  static constexpr std::size_t most_processes = 2048;
  std::map<std::string, secrets::line_masker> recent_, former_;
};

/// A key has no more lines: so many entries before a page decide what is masked in it.
inline constexpr std::size_t deciding_entries = 256;

}  // namespace hondana::logs

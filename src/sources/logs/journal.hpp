/// The log of systemd's journal, as a source of records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log.hpp"

namespace hondana::logs {

struct journal_options {
  std::string folder{};                    ///< Of journal files; absolute. Empty: the system's journal.
  std::vector<std::string> units{};        ///< Empty: all. What systemd itself says about a unit belongs to it.
  std::vector<std::string> identifiers{};  ///< SYSLOG_IDENTIFIER; empty: all.
  std::optional<records::severity> at_least{};
  bool redact = true;
};

/// Loads libsystemd; the journal itself need not be there yet. A record's text is its MESSAGE, its level its PRIORITY, its
/// source the unit or the identifier. Fields in queries whose names are in capitals are those of the journal, all others those
/// of messages that are JSON or logfmt. Journal files are mapped by libsystemd. Errors: of `loaded_journal_library`.
[[nodiscard]] result<std::shared_ptr<records::log>> open_journal(journal_options with);

}  // namespace hondana::logs

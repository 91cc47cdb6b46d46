/// The log of systemd's journal, as a source of records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

/// Which journal, and which of its entries, are served.
struct journal_options {
  std::string folder{};                          ///< Absolute path of a folder of journal files. Empty: the system journal.
  std::vector<std::string> units{};              ///< systemd units; also messages of systemd about them. Empty: all.
  std::vector<std::string> identifiers{};        ///< Values of SYSLOG_IDENTIFIER. Empty: all.
  std::optional<records::severity> min_level{};  ///< nullopt: all, also entries without a level.
  bool redact = true;                            ///< Mask secrets.
};

/// Loads libsystemd and creates a log for a journal, which need not exist yet.
/// The text of a record is MESSAGE, its level PRIORITY, its source the unit or the identifier. In queries, field names in
/// capitals (`is_journal_field`) are fields of the journal. Others are fields of messages in JSON or logfmt. libsystemd maps
/// journal files into memory. Errors: those of `loaded_journal_library`.
[[nodiscard]] result<std::shared_ptr<records::log_backend>> open_journal(journal_options options);

}  // namespace hondana::logs

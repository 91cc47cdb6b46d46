/// The log of systemd's journal, as a source of records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

struct journal_options {
  std::string folder{};                    ///< Absolute path of a folder of journal files. Empty: the system journal.
  std::vector<std::string> units{};        ///< Empty: all. Messages of systemd about a unit belong to the unit.
  std::vector<std::string> identifiers{};  ///< Values of SYSLOG_IDENTIFIER. Empty: all.
  std::optional<records::severity> min_level{};
  bool redact = true;
};

/// Loads libsystemd and creates a log for a journal, which need not exist yet.
/// The text of a record is MESSAGE, its level PRIORITY, its source the unit or the identifier. In queries, field names in
/// capitals are fields of the journal. Others are fields of messages in JSON or logfmt. libsystemd maps journal files into
/// memory. Errors: those of `loaded_journal_library`.
[[nodiscard]] result<std::shared_ptr<records::log_backend>> open_journal(journal_options options);

}  // namespace hondana::logs

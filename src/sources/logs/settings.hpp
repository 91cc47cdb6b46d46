/// Reads the `[[source]]` table of a log, and creates the source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"
#include "sources/logs/journal.hpp"
#include "sources/logs/records/file_log.hpp"

namespace hondana::logs {

/// The settings of one log. Members that `provider_options` also has mean the same there.
struct settings {
  std::string name;                          ///< A slug.
  std::optional<journal_options> journal{};  ///< nullopt: the log is in `files`.
  records::file_log_options files{};
  bool redact = true;
  bool watch = true;
  std::size_t lines = 100;
  std::uint64_t max_scanned_bytes = 256u << 20;
  std::chrono::milliseconds timeout{2000};
  records::instant lookback = 0;
};

/// Reads the table of a log, and rejects unknown keys. Errors: invalid_argument, with file, line and key.
[[nodiscard]] result<settings> read_settings(config::section& section);

}  // namespace hondana::logs

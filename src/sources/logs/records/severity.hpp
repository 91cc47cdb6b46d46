/// Finds the severity of a record in its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/timestamp.hpp"

namespace hondana::records {

/// Returns the severity of a syslog priority from 0 to 7; nullopt for other numbers.
[[nodiscard]] std::optional<severity> severity_of_priority(std::int64_t priority) noexcept;
/// Returns the severity of a number in a field called `level`: 0 to 7 as in syslog, 10 to 60 as in pino and bunyan, 100 to 600
/// as in Monolog. nullopt for other numbers.
[[nodiscard]] std::optional<severity> severity_of_number(std::int64_t level) noexcept;

/// Finds the severity of a record, in JSON in the whole record, otherwise in its first line; nullopt: unknown. Linear time.
/// `time`: the time of the record, if it was found in `text`. Without it, levels that are recognized by their position after
/// the time are not found. Recognizes:
/// * fields of JSON and logfmt: `level`, `severity`, `lvl`, `log.level`, `levelname`, `priority` and the like, also of MongoDB,
///   Serilog and OpenTelemetry, and the level within a line that Docker or another container runtime has wrapped.
/// * syslog's `<PRI>`, the letters of glog, and the names of Cisco's messages.
/// * a column directly after the time, or a letter before it.
/// * words near the beginning: in capitals, in brackets, or with a colon. Also at the beginning of the second line.
/// * the status in access logs: error from 500 on, warning from 400 on, else info.
[[nodiscard]] std::optional<severity> detect_severity(std::string_view text,
                                                      const std::optional<timestamp>& time = std::nullopt);

}  // namespace hondana::records

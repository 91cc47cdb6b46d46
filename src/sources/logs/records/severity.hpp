/// Finds the severity of a record in its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::records {

/// The severity of a syslog priority from 0 to 7. Nothing for other numbers.
[[nodiscard]] std::optional<severity> severity_of_priority(std::int64_t priority) noexcept;
/// The severity of a number in a field called `level`: 0 to 7 as in syslog, 10 to 60 as in pino and bunyan.
[[nodiscard]] std::optional<severity> severity_of_number(std::int64_t level) noexcept;

/// The severity of a record, from its first line. Linear time. Recognizes:
/// * fields of JSON and logfmt: `level`, `severity`, `lvl`, `log.level`, `levelname`, `priority`.
/// * syslog's `<PRI>`, and the letters of glog.
/// * words near the beginning: in capitals, in brackets, or with a colon.
/// * the status in access logs: error from 500 on, warning from 400 on, else info.
[[nodiscard]] std::optional<severity> detect_severity(std::string_view text);

}  // namespace hondana::records

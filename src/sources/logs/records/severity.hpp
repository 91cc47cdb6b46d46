/// Finds the severity of a record in its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sources/logs/records/log.hpp"

namespace hondana::records {

/// Of syslog's priorities 0 to 7; nothing for other numbers.
[[nodiscard]] std::optional<severity> severity_of_priority(std::int64_t priority) noexcept;
/// Of a number in a field called `level`: 0 to 7 as syslog has them, 10 to 60 as pino and bunyan.
[[nodiscard]] std::optional<severity> severity_of_number(std::int64_t level) noexcept;

/// Of a record, by its first line: fields of JSON and logfmt (`level`, `severity`, `lvl`, `log.level`, `levelname`,
/// `priority`), syslog's `<PRI>`, the letters of glog, words near the front (in capitals, in brackets, or with a colon), and of
/// access logs the status: from 500 on an error, from 400 on a warning, else info. Linear time.
[[nodiscard]] std::optional<severity> severity_of(std::string_view text);

}  // namespace hondana::records

/// A log as a busy program writes it.
#pragma once

#include <cstdint>
#include <string>

namespace logs_bench {

/// Line number `number`, with its line end: a time that is a millisecond after that of the line before, a level, and "seq=N ".
[[nodiscard]] std::string log_line(std::int64_t first_millisecond, std::uint64_t number);
/// RFC 3339 in UTC with milliseconds.
[[nodiscard]] std::string time_text(std::int64_t milliseconds);

/// A big log on disk, written once, all of its blocks real.
struct written_log {
  std::uint64_t lines = 0;
  std::int64_t first_millisecond = 0;  ///< Since 1970; the last line is of now.
};
/// Writes `bytes` and a bit. Throws.
[[nodiscard]] written_log write_log(const std::string& path, std::uint64_t bytes);

/// Lets the kernel forget what it keeps in memory of a file.
void forget_pages(const std::string& path);

/// Appends to a file that others rotate: opens it anew for each piece. Throws.
void append_to(const std::string& path, const std::string& text);

}  // namespace logs_bench

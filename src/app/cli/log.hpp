/// The program's log on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "app/cli/providers.hpp"

namespace hondana::cli {

/// Writes lines to a descriptor without blocking for long. Otherwise a host that does not read standard error, together with a
/// peer whose requests fill it, could stop all work. Lines that do not fit are dropped and counted; the next line that fits
/// reports the number. The flags of the descriptor, which other processes may share, do not change. Threads: one at a time.
class log_output {
 public:
  /// How long a write waits for the reader. After a line was dropped, writes do not wait until a line fits again.
  static constexpr std::chrono::milliseconds write_timeout{200};

  explicit log_output(int descriptor) noexcept : descriptor_(descriptor) {}
  /// Writes `line`, which ends in a newline, or drops it.
  void write(std::string_view line);

 private:
  /// Returns the number of bytes written.
  [[nodiscard]] std::size_t write_some(std::string_view text) const;

  int descriptor_;
  std::size_t dropped_ = 0;    // dropped lines that were not reported
  bool is_truncated_ = false;  // the last line, or the last report, was cut off
};

/// A log that writes "TIME message" lines to standard error. Secrets are masked and control characters replaced. Threads: any.
[[nodiscard]] log_function standard_log();

}  // namespace hondana::cli

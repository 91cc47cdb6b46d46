/// The program's log on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "app/cli/providers.hpp"

namespace hondana::cli {

/// Writes lines and never waits long for their reader: a host that leaves our standard error unread, and a peer whose requests
/// fill it, must not bring work to a stop. What does not fit is dropped and counted, and the next line that fits says so.
/// The flags of the descriptor, which others may share, stay as they are. Threads: one at a time.
class log_output {
 public:
  /// How long a reader that has kept up so far is waited for; one that has not is waited for no more.
  static constexpr std::chrono::milliseconds patience{200};

  explicit log_output(int descriptor) noexcept : descriptor_(descriptor) {}
  /// `line` ends in a newline.
  void write(std::string_view line);

 private:
  /// How much of it was taken.
  [[nodiscard]] std::size_t put(std::string_view text) const;

  int descriptor_;
  std::size_t dropped_ = 0;
  bool is_torn_ = false;  // the last line that was taken has no end
};

/// A log that writes "TIME message" lines to standard error, with control characters made visible. Threads: any.
[[nodiscard]] log_function standard_log();

}  // namespace hondana::cli

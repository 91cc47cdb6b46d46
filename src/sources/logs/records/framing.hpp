/// Decides at which lines of a log file records begin.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/logs/records/timestamp.hpp"

namespace re2 {
class RE2;
}

namespace hondana::records {

/// The parsed setting `multi_line`.
struct framing_options {
  bool is_every_line = false;                    ///< Every line is a record.
  std::shared_ptr<const re2::RE2> first_line{};  ///< Matches the first line of each record. Null: automatic mode.
};
/// Parses `file_log_options::multi_line`. Errors: invalid_argument for an invalid expression.
[[nodiscard]] result<framing_options> parse_framing(std::string_view setting);

/// Decides whether a record begins at a line, from this line alone, so that the result does not depend on where reading starts.
/// In automatic mode, a sample of the file decides: if lines begin with times, or are JSON, these begin records. Otherwise
/// every line does, unless it is empty, indented, or looks like part of a stack trace. Threads: any.
class record_framing {
 public:
  static constexpr std::size_t sample_bytes = 64u << 10;  ///< Of the beginning of a file.
  static constexpr std::size_t line_bytes = 4u << 10;     ///< Of a line. The rest is ignored.

  record_framing() = default;
  /// `sample`: the beginning of the file.
  record_framing(framing_options options, std::string_view sample, const timestamp_parser& timestamps);

  /// Whether a record begins at the beginning of `line`. Ignores everything after its first line end.
  [[nodiscard]] bool is_record_start(std::string_view line) const;
  /// Whether a line of the sample has a time.
  [[nodiscard]] bool has_times() const noexcept { return has_times_; }

 private:
  framing_options options_{};
  timestamp_parser timestamps_{};
  bool uses_times_ = false;
  bool uses_braces_ = false;
  bool has_times_ = false;
};

}  // namespace hondana::records

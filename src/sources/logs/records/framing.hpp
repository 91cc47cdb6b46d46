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

/// Decides whether a record begins at a line, from this line and the one before, so that the result does not depend on where
/// reading starts. In automatic mode, a sample of the file decides: if lines begin with times, or are JSON, these begin
/// records. Otherwise every line does, unless it is empty, indented, or looks like part of a stack trace. In the logs of
/// container runtimes, the parts of a line that was split belong to one record. In MySQL's slow log, so do the lines of an
/// entry. Threads: any.
class record_framing {
 public:
  static constexpr std::size_t sample_bytes = 64u << 10;  ///< Of the beginning of a file.
  static constexpr std::size_t line_bytes = 4u << 10;     ///< Of a line. The rest is ignored.

  record_framing() = default;
  /// `sample`: the beginning of the file.
  record_framing(framing_options options, std::string_view sample, const timestamp_parser& timestamps);

  /// Whether a record begins at the beginning of `line`. Ignores everything after its first line end. `before`: the text before
  /// it, with the line end, of which only the last `previous_bytes()` count. Empty: there is none.
  [[nodiscard]] bool is_record_start(std::string_view line, std::string_view before = {}) const;
  /// Whether a line of the sample has a time.
  [[nodiscard]] bool has_times() const noexcept { return has_times_; }
  /// How many bytes before a line influence whether a record begins at it.
  [[nodiscard]] std::size_t previous_bytes() const noexcept;
  /// Whether the log is that of a container runtime (CRI), so that a record may consist of parts, which `join_container_parts`
  /// joins.
  [[nodiscard]] bool has_container_parts() const noexcept { return has_container_parts_; }

 private:
  framing_options options_{};
  timestamp_parser timestamps_{};
  bool uses_times_ = false;
  bool uses_braces_ = false;
  bool has_times_ = false;
  bool has_container_parts_ = false;
  bool is_slow_log_ = false;
};

}  // namespace hondana::records

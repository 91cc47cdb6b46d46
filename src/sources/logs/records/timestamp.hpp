/// Recognizes timestamps in log lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/time_zone.hpp"

namespace hondana::records {

struct written_time;

/// A time that was found in a line.
struct timestamp {
  instant time = 0;
  std::size_t begin = 0;  ///< Position in the text, without brackets and quotes. Usually in its first line.
  std::size_t end = 0;
};

/// Recognizes times in log lines. Linear time in the examined part of a line. Threads: any.
///
/// Recognizes the forms of `parse_written_time`, and seconds since 1970 with 10 digits and fractions of them with 13, 16 or 19
/// digits. In JSON also the objects of MongoDB, Log4j and Protocol Buffers, and the times of OTLP.
class timestamp_parser {
 public:
  static constexpr std::size_t max_line_bytes = 512;
  static constexpr std::size_t max_json_bytes = 16u << 10;  // some loggers write the time last

  /// `zone`: the zone of times without one. `latest`: when the file was last modified. A time without a year gets the last year
  /// in which it is at most a day after `latest`. Times with years of two digits that are later are not recognized.
  timestamp_parser(time_zone zone, instant latest) noexcept : zone_(zone), latest_(latest) {}
  timestamp_parser() noexcept : timestamp_parser(time_zone(), 0) {}

  /// Finds the time of the first line of a text; nullopt: there is none. Searches at the beginning, after a priority, after a
  /// few words or brackets, and in fields of JSON, logfmt and LTSV. In an entry of MySQL's slow log without a line "# Time:",
  /// also searches for the statement `SET timestamp`.
  [[nodiscard]] std::optional<timestamp> find_in_line(std::string_view line) const;
  /// Parses a time at the beginning of a text. `timestamp::begin` is 0. nullopt: there is none.
  [[nodiscard]] std::optional<timestamp> parse_prefix(std::string_view text) const;
  /// Parses a text that consists only of a time. nullopt: it does not.
  [[nodiscard]] std::optional<instant> parse_value(std::string_view text) const;

 private:
  [[nodiscard]] std::optional<instant> resolve(const written_time& written) const;
  [[nodiscard]] std::optional<timestamp> find_in_json(std::string_view line, std::size_t begin) const;
  [[nodiscard]] std::optional<instant> parse_json_value(std::string_view raw) const;
  [[nodiscard]] std::optional<instant> find_otlp_time(std::string_view line) const;
  /// Searches after a few words of a line: a level, a thread, the address of a client.
  [[nodiscard]] std::optional<timestamp> find_after_words(std::string_view line, std::size_t begin) const;

  time_zone zone_;
  instant latest_;
};

}  // namespace hondana::records

/// Decides at which lines of a log file records begin.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/logs/records/time_stamp.hpp"

namespace re2 {
class RE2;
}

namespace hondana::records {

/// The setting `multi_line`.
struct framing_choice {
  bool every_line = false;
  std::shared_ptr<const re2::RE2> first_line{};  ///< Null: found out.
};
/// Errors: invalid_argument.
[[nodiscard]] result<framing_choice> framing_named(std::string_view setting);

/// Says of a line whether a record begins there, by the line alone, so that it does not matter from where one comes. Left to
/// itself it goes by a sample: where lines begin with times, or are JSON, those begin records; else every line does that is not
/// empty, not indented, and not a part of a stack trace by its words. Threads: any.
class framing {
 public:
  static constexpr std::size_t sample_bytes = 64u << 10;  ///< Of the front of a file.
  static constexpr std::size_t line_bytes = 4u << 10;     ///< Of a line; the rest of it does not count.

  framing() = default;
  framing(framing_choice how, std::string_view sample, const time_reader& times);

  /// `line` may have what follows it behind, too.
  [[nodiscard]] bool begins(std::string_view line) const;
  /// Whether there were times in the sample.
  [[nodiscard]] bool has_times() const noexcept { return has_times_; }

 private:
  framing_choice how_{};
  time_reader times_{};
  bool by_times_ = false;
  bool by_braces_ = false;
  bool has_times_ = false;
};

}  // namespace hondana::records

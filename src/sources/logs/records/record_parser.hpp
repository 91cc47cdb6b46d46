/// Finds the records in a block of a log file, and parses each: text, time, level and cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/log.hpp"
#include "sources/logs/records/masked_window.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {

/// Whether a record begins at the beginning of a line, `at`; a member's first line always begins one.
[[nodiscard]] bool begins_at(const block& in, std::uint64_t at, const framing& by);

/// All of [begin, end), in order.
void record_starts(const block& in, const framing& by, std::vector<std::uint64_t>& into);
/// The first at or behind `from`, and the last before `before`, which is no further than the block's end.
[[nodiscard]] std::optional<std::uint64_t> next_start(const block& in, const framing& by, std::uint64_t from);
[[nodiscard]] std::optional<std::uint64_t> last_start(const block& in, const framing& by, std::uint64_t before);

/// Makes records of one member. Threads: one at a time.
class record_maker {
 public:
  record_maker(const member& of, window& through, std::size_t most_bytes) : of_(of), through_(through), most_(most_bytes) {}

  struct made {
    record what{};
    std::size_t masked = 0;
  };
  /// Of [begin, end), at the whole record's ends; `at_hand` may hold it. The time is the record's own, if it says one. Errors:
  /// as `window::load`.
  [[nodiscard]] result<made> make(const block& at_hand, std::uint64_t begin, std::uint64_t end);

  /// The time of the last record before `begin` that says one, as far as `looks_back_bytes` go. Errors: as `window::load`.
  [[nodiscard]] result<std::optional<instant>> time_before(const block& at_hand, std::uint64_t begin);
  static constexpr std::uint64_t looks_back_bytes = 256u << 10;

 private:
  static constexpr std::uint64_t looks_ahead_bytes = 2u << 10;  // less than `window::ahead`

  /// Looks from the last record in a block that begins before `begin` up to the first.
  bool look_in(const block& in, std::uint64_t begin);

  const member& of_;
  window& through_;
  const std::size_t most_;
  // What `time_before` found last: it is the time of all between.
  std::uint64_t known_from_ = 0;
  std::uint64_t known_to_ = 0;
  std::optional<instant> known_{};
};

}  // namespace hondana::records

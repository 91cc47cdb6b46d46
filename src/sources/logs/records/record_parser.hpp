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

/// Whether a record begins at `at`, which is the beginning of a line. The first line of a file always begins a record.
[[nodiscard]] bool begins_at(const block& in, std::uint64_t at, const framing& by);

/// The beginnings of all records in [begin, end), in order.
void record_starts(const block& in, const framing& by, std::vector<std::uint64_t>& into);
/// The first beginning of a record at or after `from`, or the last one before `before`, which must be within the block.
[[nodiscard]] std::optional<std::uint64_t> next_start(const block& in, const framing& by, std::uint64_t from);
[[nodiscard]] std::optional<std::uint64_t> last_start(const block& in, const framing& by, std::uint64_t before);

/// Creates records from the contents of one file. Threads: one at a time.
class record_maker {
 public:
  record_maker(const member& of, window& through, std::size_t most_bytes) : of_(of), through_(through), most_(most_bytes) {}

  struct made {
    record what{};
    std::size_t masked = 0;
  };
  /// Creates the record [begin, end), which must be a whole record. `at_hand` is a loaded block, which may contain it. The time
  /// is set only if the record has its own. Errors: as `window::load`.
  [[nodiscard]] result<made> make(const block& at_hand, std::uint64_t begin, std::uint64_t end);

  /// The time of the last record before `begin` that has one, searching at most `looks_back_bytes`. Errors: as `window::load`.
  [[nodiscard]] result<std::optional<instant>> time_before(const block& at_hand, std::uint64_t begin);
  static constexpr std::uint64_t looks_back_bytes = 256u << 10;

 private:
  static constexpr std::uint64_t looks_ahead_bytes = 2u << 10;  // less than `window::ahead`

  /// Searches a block backwards from `begin` for a record with a time.
  bool look_in(const block& in, std::uint64_t begin);

  const member& of_;
  window& through_;
  const std::size_t most_;
  // The last result of `time_before`, which is valid for the whole range.
  std::uint64_t known_from_ = 0;
  std::uint64_t known_to_ = 0;
  std::optional<instant> known_{};
};

}  // namespace hondana::records

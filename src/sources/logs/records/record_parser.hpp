/// Finds the records in a block of a log file, and parses each: text, time, level and cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/masked_window.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {

/// Whether a record begins at `offset`, which is the beginning of a line. The first line of a file always begins a record.
[[nodiscard]] bool is_record_start(const masked_block& block, std::uint64_t offset, const record_framing& framing);

/// Sets `starts` to the positions in [block.begin, block.end) where records begin, in order.
void find_record_starts(const masked_block& block, const record_framing& framing, std::vector<std::uint64_t>& starts);
/// Finds the first position in [offset, block.end) where a record begins; nullopt if there is none.
[[nodiscard]] std::optional<std::uint64_t> find_next_start(const masked_block& block, const record_framing& framing,
                                                           std::uint64_t offset);
/// Finds the last position in [block.begin, end) where a record begins; nullopt if there is none. `end` must be in the block.
[[nodiscard]] std::optional<std::uint64_t> find_last_start(const masked_block& block, const record_framing& framing,
                                                           std::uint64_t end);

/// Creates records from the contents of one file. Threads: one at a time.
class record_parser {
 public:
  /// `window`: of `file`. Both must outlive this object. `max_bytes`: of the text of a record.
  record_parser(const log_file& file, masked_window& window, std::size_t max_bytes)
      : file_(file), window_(window), max_bytes_(max_bytes) {}

  struct parsed_record {
    log_record record{};
    std::size_t masked_count = 0;  ///< Number of masked secrets.
  };
  /// Creates the record [begin, end), which must be a whole record. Its time is set only if it has its own. `block`: any loaded
  /// block; if it does not include the record, another one is loaded. Errors: as `masked_window::load`.
  [[nodiscard]] result<parsed_record> parse(const masked_block& block, std::uint64_t begin, std::uint64_t end);

  /// Returns the time of the last record before `begin` that has one; nullopt if there is none within `lookback_bytes`.
  /// `block`: as for `parse`. Errors: as `masked_window::load`.
  [[nodiscard]] result<std::optional<instant>> previous_time(const masked_block& block, std::uint64_t begin);
  static constexpr std::uint64_t lookback_bytes = 256u << 10;

 private:
  static constexpr std::uint64_t lookahead_bytes = 2u << 10;  // less than `masked_window::lookahead_bytes`

  /// Searches a block backwards from `begin` for a record with a time, and stores it in `known_time_`. False: there is none.
  bool find_time_in(const masked_block& block, std::uint64_t begin);

  const log_file& file_;
  masked_window& window_;
  const std::size_t max_bytes_;
  // The last result of `previous_time`, and the range of `begin` for which it is valid: after `known_begin_`.
  std::uint64_t known_begin_ = 0;
  std::uint64_t known_end_ = 0;
  std::optional<instant> known_time_{};
};

}  // namespace hondana::records

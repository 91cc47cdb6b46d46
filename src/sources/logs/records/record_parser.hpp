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

/// The beginnings of all records in [begin, end), in order.
void find_record_starts(const masked_block& block, const record_framing& framing, std::vector<std::uint64_t>& starts);
/// The first beginning of a record at or after `offset`, or the last one before `end`, which must be within the block.
[[nodiscard]] std::optional<std::uint64_t> find_next_start(const masked_block& block, const record_framing& framing,
                                                           std::uint64_t offset);
[[nodiscard]] std::optional<std::uint64_t> find_last_start(const masked_block& block, const record_framing& framing,
                                                           std::uint64_t end);

/// Creates records from the contents of one file. Threads: one at a time.
class record_parser {
 public:
  record_parser(const log_file& file, masked_window& window, std::size_t max_bytes)
      : file_(file), window_(window), max_bytes_(max_bytes) {}

  struct parsed_record {
    log_record record{};
    std::size_t masked_count = 0;
  };
  /// Creates the record [begin, end), which must be a whole record. `block` is a loaded block, which may contain it. The time
  /// is set only if the record has its own. Errors: as `masked_window::load`.
  [[nodiscard]] result<parsed_record> parse(const masked_block& block, std::uint64_t begin, std::uint64_t end);

  /// The time of the last record before `begin` that has one, searching at most `lookback_bytes`. Errors: as
  /// `masked_window::load`.
  [[nodiscard]] result<std::optional<instant>> previous_time(const masked_block& block, std::uint64_t begin);
  static constexpr std::uint64_t lookback_bytes = 256u << 10;

 private:
  static constexpr std::uint64_t lookahead_bytes = 2u << 10;  // less than `masked_window::lookahead_bytes`

  /// Searches a block backwards from `begin` for a record with a time.
  bool find_time_in(const masked_block& block, std::uint64_t begin);

  const log_file& file_;
  masked_window& window_;
  const std::size_t max_bytes_;
  // The last result of `previous_time`, which is valid for the whole range.
  std::uint64_t known_begin_ = 0;
  std::uint64_t known_end_ = 0;
  std::optional<instant> known_time_{};
};

}  // namespace hondana::records

/// A stretch of time of a log, counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sources/logs/message_counter.hpp"
#include "sources/logs/records/query.hpp"

namespace hondana::logs {

inline constexpr std::size_t severities = 7;

[[nodiscard]] constexpr bool is_error(std::optional<records::severity> level) noexcept {
  return level && *level >= records::severity::error;
}

/// What came in [begin, end). The last one of a window takes what is later, too.
struct slice {
  static constexpr std::size_t parts_count = 60;

  records::instant begin = 0, end = 0;
  bool is_whole = false;  ///< All that can be read of it was gone through.
  std::vector<std::string> remarks{};
  bool is_lasting = true;  ///< See `records::walk_end`.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;                            ///< And what is graver.
  std::array<std::uint64_t, severities + 1> levels{};  ///< The last: records without one.
  std::optional<records::instant> first{}, last{};
  struct part {
    std::uint64_t total = 0, errors = 0, critical = 0;
  };
  std::array<part, parts_count> parts{};  ///< Of equal lengths.
  message_counter messages{};

  [[nodiscard]] records::instant part_begin(std::size_t number) const noexcept {
    return begin + (end - begin) * static_cast<records::instant>(number) / static_cast<records::instant>(parts_count);
  }
  void add(const records::record& one);
};

}  // namespace hondana::logs

/// Where records begin in a block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/window.hpp"

namespace hondana::records {

/// Whether a record begins at the beginning of a line, `at`; a member's first line always begins one.
[[nodiscard]] bool begins_at(const block& in, std::uint64_t at, const framing& by);

/// All of [begin, end), in order.
void record_starts(const block& in, const framing& by, std::vector<std::uint64_t>& into);
/// The first at or behind `from`, and the last before `before`, which is no further than the block's end.
[[nodiscard]] std::optional<std::uint64_t> next_start(const block& in, const framing& by, std::uint64_t from);
[[nodiscard]] std::optional<std::uint64_t> last_start(const block& in, const framing& by, std::uint64_t before);

}  // namespace hondana::records

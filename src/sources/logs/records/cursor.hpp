/// A place in a log that stays the same when its files are renamed, compressed and followed by others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/bytes/digest.hpp"
#include "sources/logs/records/member.hpp"

namespace hondana::records {

/// Everything that is older than a place in a member.
struct position {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t front_bytes = 0;  ///< Of the member's front, `telling_bytes` at most,
  bytes::digest front{};          ///< and their digest.
  std::uint64_t end = 0;          ///< Records that end there, or before, are wanted;
  std::uint64_t scanned = 0;      ///< from here up to `end` none begins.
  bytes::digest before{};         ///< Of up to `anchor_bytes` before `end`.

  static constexpr std::uint64_t anchor_bytes = 256;
};

[[nodiscard]] std::string to_text(const position& at);
/// Nothing for what `to_text` does not give.
[[nodiscard]] std::optional<position> position_in(std::string_view text);

/// Errors: content_changed when the member is shorter by now, source_unavailable.
[[nodiscard]] result<position> position_at(const member& in, std::uint64_t end, std::uint64_t scanned);

/// Whether a member's front is that of the place.
[[nodiscard]] bool may_hold(const opened_file& one, const position& at) noexcept;
/// Whether it is that very place.
[[nodiscard]] result<bool> holds(const member& one, const position& at);

}  // namespace hondana::records

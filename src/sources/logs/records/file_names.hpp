/// The names that files of a log get when they are rotated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::records {

/// What a name says of a member's place among others.
struct file_rank {
  enum class scheme : std::uint8_t {
    live,      ///< The file that is written.
    numbered,  ///< app.log.1, app.log.2.gz, app.1.log: higher numbers are older.
    dated,     ///< app.log-20260131.gz, app.log-20260131-1700000000, app.log.2026-01-31, app-2026-01-31.log, …-31.2.log.
    other      ///< Matched by a pattern of the settings.
  };
  scheme how = scheme::live;
  std::vector<std::uint64_t> numbers{};

  /// Whether this is older, for ranks of the same scheme.
  [[nodiscard]] bool is_before(const file_rank& than) const noexcept;
};

/// Of the name of a file beside `live`; nothing for what is no member of that log. A suffix for compressed files (.gz, .xz,
/// .zst, .zstd) may follow any of them.
[[nodiscard]] std::optional<file_rank> rank_of(std::string_view name, std::string_view live);

/// Without a suffix for compressed files.
[[nodiscard]] std::string_view unpacked_name(std::string_view name) noexcept;

}  // namespace hondana::records

/// Parses `?lines=` and `?bytes=`, and locates the range in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/files/open_file.hpp"

namespace hondana::files {

enum class range_unit : std::uint8_t { lines, bytes };

/// A range from `first` to `last`, both included. Lines count from 1, bytes from 0. Without `last` it extends to the end of the
/// file.
struct range {
  range_unit unit = range_unit::bytes;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};

/// Parses the query of a canonical URI, without `?`: `lines=10-40`, `lines=10-`, `lines=10`, and the same for `bytes`. Returns
/// nothing for a query without values. Errors: those of `uri::parse_query`, and invalid_argument for both parameters.
[[nodiscard]] result<std::optional<range>> parse_range(std::string_view query);

/// Lines are counted only in this many bytes at the beginning of a file. A range must begin in them.
inline constexpr std::uint64_t line_search_bytes = 256ull << 20;

/// A range of bytes in a file; `end` is exclusive.
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const byte_range&) const = default;
};

/// Locates `requested` in the first `size` bytes of an open file. Memory: one window for files of any size.
///
/// A line ends with its LF, or with the file. An end beyond the end of the file means the end of the file. In text (`is_text`),
/// byte ranges are narrowed to whole code points.
/// Errors: invalid_argument for a range that begins beyond the end, lines that begin after `line_search_bytes`, and lines of a
/// file that is not text. response_too_large for lines whose end is not found within `request.max_bytes`. content_changed if
/// the file is shorter than `size`. source_unavailable, cancelled, timed_out.
[[nodiscard]] result<byte_range> locate_range(const open_file& file, std::uint64_t size, const range& requested, bool is_text,
                                              const read_request& request);

}  // namespace hondana::files

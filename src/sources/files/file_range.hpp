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

/// A range from `first` to `last`, both included. Lines count from 1, bytes from 0. Without `last` it extends to the end.
struct range {
  range_unit unit = range_unit::bytes;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};

/// Parses the query of a canonical URI, without `?`: `lines=10-40`, `lines=10-`, `lines=10`, and the same for `bytes`. Returns
/// nothing for an empty query.
/// Errors: invalid_argument for a malformed value, for both parameters together, and for one given twice; the message names the
/// parameter and its form. resource_not_found for any other parameter.
[[nodiscard]] result<std::optional<range>> parse_range(std::string_view query);

/// A range of lines that begins after this many bytes of a file is not searched for.
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
/// byte ranges are narrowed to whole code points. Lines are searched for in the first `line_search_bytes` of a file. They are
/// counted for at most `request.max_bytes` after the range begins.
/// Errors: invalid_argument for a range that begins beyond the end, with the number of lines or bytes. invalid_argument also
/// for lines beyond `line_search_bytes`, and for lines of a file that is not text. response_too_large for lines that exceed
/// `request.max_bytes` before their end is found. content_changed if the file is shorter than `size`. source_unavailable if the
/// disk fails. cancelled, timed_out.
[[nodiscard]] result<byte_range> locate_range(const open_file& file, std::uint64_t size, const range& requested, bool is_text,
                                              const read_request& request);

}  // namespace hondana::files

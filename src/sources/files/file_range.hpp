/// Parses `?lines=` and `?bytes=`, and finds the range in a file.
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

/// From `first` to `last`, both included; lines count from 1, bytes from 0. Without `last`: to the end.
struct range {
  range_unit unit = range_unit::bytes;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};

/// Reads the query of a URI (canonical, without `?`): `lines=10-40`, `lines=10-`, `lines=10`, and the same of `bytes`. Nothing
/// for an empty query.
/// Errors: invalid_argument naming the parameter and its form; also for both at once and for one given twice.
/// resource_not_found for any other parameter.
[[nodiscard]] result<std::optional<range>> parse_range(std::string_view query);

/// A range of lines that begins further into a file than this is not looked for.
inline constexpr std::uint64_t line_search_bytes = 256ull << 20;

/// A stretch of a file in bytes, the end not included.
struct extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const extent&) const = default;
};

/// Finds what `wanted` means in an open file of which the first `size` bytes count. Memory: one window, whatever the size.
///
/// A line ends with its LF, or with the file; an end beyond the file's is the file's end. In text (`is_text`) byte ranges are
/// narrowed to whole code points. Lines are looked for no further than `line_search_bytes` into a file, and counted no further
/// than `request.max_bytes` beyond where they begin.
/// Errors: invalid_argument when the range begins beyond the end, naming how many lines or bytes there are, or beyond where
/// lines are looked for, and for lines of what is no text; response_too_large for lines of more than `request.max_bytes` whose
/// end was not reached; content_changed when the file is shorter than `size`; source_unavailable when the disk fails;
/// cancelled and timed_out.
[[nodiscard]] result<extent> locate_range(const open_file& file, std::uint64_t size, const range& wanted, bool is_text,
                                          const read_request& request);

}  // namespace hondana::files

/// Going through a file in windows of constant size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "protocol/model/still_wanted.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {

inline constexpr std::size_t window_bytes = 256 * 1024;

[[nodiscard]] inline result<std::size_t> all_of(result<std::size_t> count, std::size_t size) {
  if (count && *count < size) {
    return fail(errc::content_changed, "The file was truncated while it was being read. Read it again.");
  }
  return count;
}

/// Fills all of `into`. Errors: content_changed when the file ends before, source_unavailable when the disk fails.
[[nodiscard]] inline result<std::size_t> read_exactly(const open_file& file, char* into, std::size_t size,
                                                      std::uint64_t offset) {
  return all_of(file.read(into, size, offset), size);
}

/// Calls `each` with the first `size` bytes of a file, window by window, until it returns false.
/// Errors: as `read_exactly` and `still_wanted`.
template <class Each>
[[nodiscard]] result<void> for_each_window(const open_file& file, std::uint64_t size, const call& by, Each&& each) {
  const auto capacity = static_cast<std::size_t>(std::min<std::uint64_t>(size, window_bytes));
  const auto window = std::make_unique_for_overwrite<char[]>(capacity);
  for (std::uint64_t at = 0; at < size;) {
    HONDANA_TRY(still_wanted(by));
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size - at, capacity));
    HONDANA_TRY(read_exactly(file, window.get(), part, at));
    if (!each(std::string_view(window.get(), part))) break;
    at += part;
  }
  return {};
}

}  // namespace hondana::files

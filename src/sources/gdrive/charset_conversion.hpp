/// Converts text files of Drive from other encodings to UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/error.hpp>

#include "sources/gdrive/fetcher.hpp"

namespace hondana::gdrive {

/// Larger files are not converted.
inline constexpr std::size_t max_converted_bytes = 16u << 20;

/// Converts a part whose MIME type is `text/…` to UTF-8, and sets `charset` and `replaced_count`. Leaves the part unchanged if
/// it is UTF-8 already, if its encoding cannot be detected, or if the result would exceed `max_bytes`. Errors: content_changed;
/// those of `byte_reader`.
[[nodiscard]] result<void> convert_to_utf8(part& part, std::uint64_t max_bytes);

}  // namespace hondana::gdrive

/// Converts text files of Drive from other encodings to UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/error.hpp>

#include "sources/gdrive/fetcher.hpp"

namespace hondana::gdrive {

/// Longer files are not converted. Unit: bytes.
inline constexpr std::size_t longest_converted = 16u << 20;

/// Converts a file whose MIME type is `text/…` to UTF-8, and records its original encoding.
/// Leaves it unchanged if it is UTF-8 already, if its encoding cannot be detected, or if the result would exceed `most` bytes.
/// Errors: those of the reader.
[[nodiscard]] result<void> convert_to_utf8(part& of, std::uint64_t most);

}  // namespace hondana::gdrive

/// Converts text files of Drive from other encodings to UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/error.hpp>

#include "sources/gdrive/fetcher.hpp"

namespace hondana::gdrive {

/// What is longer is given as it is.
inline constexpr std::size_t longest_converted = 16u << 20;

/// Makes the bytes of a file that Drive calls text (`text/…`) UTF-8 where they are not, and notes what they were; what is no
/// text in any known encoding, or would have more than `most` bytes, stays as it is. Errors: those of the reader.
[[nodiscard]] result<void> convert_to_utf8(part& of, std::uint64_t most);

}  // namespace hondana::gdrive

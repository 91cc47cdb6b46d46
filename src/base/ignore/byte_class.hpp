/// Bracket expressions of git's patterns: `[a-z]`, `[!x]`, `[[:alpha:]]`.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>

#include <tl/expected.hpp>

namespace hondana::ignore {

/// One bit per byte value.
using byte_set = std::bitset<256>;

/// A bracket expression that was read, and where the pattern goes on after it.
struct byte_class {
  byte_set members;
  std::size_t end = 0;  ///< Offset of the byte after the closing `]`.
};

/// Reads the bracket expression whose `[` is at `pattern[open]`.
///
/// `!` or `^` right after the `[` negates; a `]` in first place is a member; `\` quotes the next byte; a `-` between two
/// members is a range (empty when reversed). Classes cover ASCII only and `[:space:]` is space, tab, CR and LF, as in git.
/// Errors: what is wrong, in words for people, when the expression has no end or names an unknown class.
[[nodiscard]] tl::expected<byte_class, std::string_view> read_byte_class(std::string_view pattern, std::size_t open);

}  // namespace hondana::ignore

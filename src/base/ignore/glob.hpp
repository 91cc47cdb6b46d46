/// Git wildcard patterns, compiled once and matched without exponential backtracking.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace hondana::ignore {

/// One bit per byte value.
using byte_set = std::bitset<256>;

/// A parsed bracket expression, and the offset at which the pattern continues.
struct byte_class {
  byte_set members;
  std::size_t end = 0;  ///< Offset of the byte after the closing `]`.
};

/// Parses the bracket expression whose `[` is at `pattern[open]`.
///
/// `!` or `^` right after the `[` negates. A `]` in first place is a member. `\` quotes the next byte. A `-` between two
/// members is a range, which is empty if the first is greater. As in git, classes such as `[:alpha:]` cover ASCII only, and
/// `[:space:]` is space, tab, CR and LF.
/// Errors: a message for people if the expression is unterminated or names an unknown class.
[[nodiscard]] tl::expected<byte_class, std::string_view> parse_byte_class(std::string_view pattern, std::size_t open);

/// A compiled pattern over bytes: `?` matches one byte, not one character. Case-sensitive.
/// A malformed pattern matches nothing (`error`).
///
/// Time: matching visits each pair of a pattern byte and a text byte a constant number of times at most.
/// Threads: immutable, any number may match at once. Source: gitignore(5), "PATTERN FORMAT".
class glob {
 public:
  /// Compiles a pattern for the name of a file or folder. `**` means the same as `*`.
  [[nodiscard]] static glob for_name(std::string_view pattern);

  /// Compiles a pattern for any text, in which `/` is an ordinary byte. `**` means the same as `*`.
  [[nodiscard]] static glob for_text(std::string_view pattern);

  /// Compiles a pattern for a whole path, given without a leading `/`. `*`, `?` and `[...]` never match a `/`.
  /// `**` matches any number of folders if it is a whole path segment. As in git, it also does so right after a prefix without
  /// wildcards: `src/gen**` matches `src/gen/a/b`.
  [[nodiscard]] static glob for_path(std::string_view pattern);

  /// Why the pattern is malformed, as a message for people; empty for a valid pattern.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  /// Whether the pattern matches all of `text`.
  /// Adds the number of examined bytes to `steps`: at most 3 * (pattern bytes + 1) * (text bytes + 1).
  /// Gives up soon after `steps` exceeds `max_steps`. The result is then meaningless.
  [[nodiscard]] bool matches(std::string_view text, std::uint64_t& steps,
                             std::uint64_t max_steps = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  /// Approximate memory use in bytes, without the object itself.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return units_.capacity() * sizeof(unit) + segments_.capacity() * sizeof(segment) + sets_.capacity() * sizeof(byte_set) +
           literal_start_.capacity();
  }

 private:
  enum class unit_kind : std::uint8_t { byte, any, set, star };
  struct unit {
    unit_kind kind;
    unsigned char byte;  ///< For `byte`.
    std::uint32_t set;   ///< For `set`: an index into `sets_`.
  };
  /// The part of a pattern between two slashes: units for exactly one folder or name, or `**` for any number of folders.
  struct segment {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t min_bytes;  ///< The fewest bytes that the segment can match.
    bool spans_folders;       ///< `**`
  };
  struct compiler;

  [[nodiscard]] bool accepts(const unit& element, unsigned char byte) const noexcept;
  [[nodiscard]] bool matches_segment(const segment& part, std::string_view text, std::uint64_t& steps,
                                     std::uint64_t max_steps) const noexcept;

  std::string literal_start_;
  std::vector<unit> units_;
  std::vector<segment> segments_;
  std::vector<byte_set> sets_;
  std::string_view error_;
  bool is_text_pattern_ = false;
};

/// The bytes of `pattern` before its first `*`, `?`, `[` or `\`.
[[nodiscard]] std::string_view literal_start(std::string_view pattern) noexcept;

}  // namespace hondana::ignore

/// Git's wildcard patterns, compiled once and matched without exponential backtracking.
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

/// One compiled pattern over bytes (not characters: `?` is one byte); case matters.
///
/// Time: matching visits each pair of a pattern byte and a text byte a constant number of times at most.
/// Threads: immutable, any number may match at once. Source: gitignore(5), "PATTERN FORMAT".
class glob {
 public:
  /// A pattern matched against one name, which holds no `/`; `**` means the same as `*`.
  [[nodiscard]] static glob for_name(std::string_view pattern);

  /// A pattern matched against any text, in which `/` is a byte like others.
  [[nodiscard]] static glob for_text(std::string_view pattern);

  /// A pattern matched against a whole path, given without its anchoring `/`. `*`, `?` and `[...]` never match a `/`; `**`
  /// spans folders where it stands alone between slashes, and also, as git does, right after a start free of wildcards:
  /// `src/gen**` matches `src/gen/a/b`.
  [[nodiscard]] static glob for_path(std::string_view pattern);

  /// What is wrong with a pattern that can match nothing, in words for people; empty for a sound one.
  [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  /// Whether the whole of `text` matches. Adds the bytes it looked at to `steps`: at most
  /// 3 * (pattern bytes + 1) * (text bytes + 1). Gives up soon after `steps` has passed `most`; the answer then means nothing.
  [[nodiscard]] bool matches(std::string_view text, std::uint64_t& steps,
                             std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  /// About how much memory it holds besides itself, in bytes.
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
  /// What stands between two slashes: units for exactly one folder or name, or any number of folders.
  struct segment {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t least;  ///< Fewest bytes it can match.
    bool folders;
  };
  struct compiler;

  [[nodiscard]] bool accepts(const unit& one, unsigned char byte) const noexcept;
  [[nodiscard]] bool matches_segment(const segment& one, std::string_view text, std::uint64_t& steps,
                                     std::uint64_t most) const noexcept;

  std::string literal_start_;
  std::vector<unit> units_;
  std::vector<segment> segments_;
  std::vector<byte_set> sets_;
  std::string_view fault_;
  bool is_of_text_ = false;
};

/// The bytes of `pattern` before its first `*`, `?`, `[` or `\`.
[[nodiscard]] std::string_view literal_start(std::string_view pattern) noexcept;

}  // namespace hondana::ignore

/// Measures how similar two files are, as git does to detect renames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::git {

/// The score of equal files. 0: nothing in common.
inline constexpr unsigned max_score = 60'000;

/// The chunks of a content, without their order. A chunk ends after a line feed or after 64 bytes; the rest after the last
/// chunk is ignored. Chunks with the same hash, one of 107 927 values, count as equal, as in git.
struct chunk_bag {
  struct entry {
    std::uint32_t hash, bytes;  ///< `bytes`: of all chunks with this hash.
  };
  std::vector<entry> entries;  ///< Sorted by hash.
};

/// Makes chunk bags. Threads: one at a time.
class chunk_counter {
 public:
  chunk_counter();
  /// Splits a content into chunks. In text (`is_text`), ignores a carriage return before a line feed. Time: linear.
  [[nodiscard]] chunk_bag count(std::string_view content, bool is_text);

 private:
  std::vector<std::uint32_t> bytes_;  // by hash; zero except during `count`
};

/// Counts the bytes of `old_bag` that are also in `new_bag`.
[[nodiscard]] std::uint64_t common_bytes(const chunk_bag& old_bag, const chunk_bag& new_bag) noexcept;

/// Whether two contents of the sizes `left` and `right` can have at least the score `min_score`.
[[nodiscard]] bool may_be_similar(std::uint64_t left, std::uint64_t right, unsigned min_score) noexcept;

/// Computes the score of two contents with these sizes and `common` bytes in common. 0 for an empty new content.
[[nodiscard]] unsigned score_of(std::uint64_t common, std::uint64_t old_size, std::uint64_t new_size) noexcept;

}  // namespace hondana::git

/// Measures how similar two files are, as git does to detect renames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::git {

/// The score of equal files, to which all others are scaled.
inline constexpr unsigned max_score = 60'000;

/// A content as a bag of chunks. A chunk ends after a line feed or after 64 bytes; the rest after the last end is ignored. Has
/// an entry for each kind of chunk, with its number of bytes. Kinds are distinguished by a hash with 107 927 values, whose
/// collisions are part of git's results.
struct chunk_bag {
  struct entry {
    std::uint32_t hash, bytes;
  };
  std::vector<entry> entries;  ///< Sorted by hash.
};

/// Makes bags one after the other. Threads: one at a time.
class chunk_counter {
 public:
  chunk_counter();
  /// In text (`is_text`), a carriage return before a line feed is ignored. Time: linear.
  [[nodiscard]] chunk_bag count(std::string_view content, bool is_text);

 private:
  std::vector<std::uint32_t> bytes_;  // by hash; zero except during `count`
};

/// How many bytes of `old_bag` are also in `new_bag`.
[[nodiscard]] std::uint64_t common_bytes(const chunk_bag& old_bag, const chunk_bag& new_bag) noexcept;

/// Whether the score can be `min_score`, judged by the two sizes alone.
[[nodiscard]] bool may_be_similar(std::uint64_t left, std::uint64_t right, unsigned min_score) noexcept;

/// The score of two contents with these sizes and `common` bytes in common.
[[nodiscard]] unsigned score_of(std::uint64_t common, std::uint64_t old_size, std::uint64_t new_size) noexcept;

}  // namespace hondana::git

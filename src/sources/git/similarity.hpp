/// Measures how similar two files are, as git does to detect renames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::git {

/// The score of equal files; all others are scaled to it.
inline constexpr unsigned whole_score = 60'000;

/// A content as a bag of chunks: a chunk ends behind a line feed or 64 bytes, and what stands behind the last such end is left
/// out. How many bytes there are of each kind of chunk, by kind; kinds are told apart by a hash of 107 927 values, whose
/// collisions are part of what git answers.
struct chunk_bag {
  struct kind {
    std::uint32_t hash, bytes;
  };
  std::vector<kind> kinds;  ///< By hash.
};

/// Fills bags one after the other. Threads: one at a time.
class chunk_counter {
 public:
  chunk_counter();
  /// In text (`is_text`) a carriage return before a line feed does not count. Time: linear.
  [[nodiscard]] chunk_bag count(std::string_view content, bool is_text);

 private:
  std::vector<std::uint32_t> bytes_;  // by hash; zero but while counting
};

/// How many bytes of `before` are in `after`, too.
[[nodiscard]] std::uint64_t common_bytes(const chunk_bag& before, const chunk_bag& after) noexcept;

/// Whether two sizes alone leave it possible that the score is `least`.
[[nodiscard]] bool may_be_similar(std::uint64_t one, std::uint64_t other, unsigned least) noexcept;

/// The score of two contents of those sizes that have `common` bytes in common.
[[nodiscard]] unsigned score_of(std::uint64_t common, std::uint64_t before, std::uint64_t after) noexcept;

}  // namespace hondana::git

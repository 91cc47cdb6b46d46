/// A fast search for byte patterns that may begin a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hondana::secrets {

/// Four sets of bytes, written one after the other: a byte stands for itself, `[abc]` for one of several, `[0-9]` for a range.
using anchor = std::string_view;
inline constexpr std::size_t anchor_bytes = 4;
inline constexpr std::size_t most_anchors = 128;

/// A bit for each anchor.
struct anchor_bits {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  anchor_bits& operator&=(const anchor_bits& other) noexcept {
    low &= other.low;
    high &= other.high;
    return *this;
  }
  friend anchor_bits operator&(anchor_bits a, const anchor_bits& b) noexcept { return a &= b; }
  [[nodiscard]] bool any() const noexcept { return (low | high) != 0; }
  void set(std::size_t number) noexcept { (number < 64 ? low : high) |= std::uint64_t{1} << (number % 64); }
  /// Calls `each` with the numbers of the bits that are set.
  template <class Each>
  void for_each(Each&& each) const {
    for (auto left = low; left != 0; left &= left - 1) each(static_cast<std::size_t>(__builtin_ctzll(left)));
    for (auto left = high; left != 0; left &= left - 1) each(static_cast<std::size_t>(__builtin_ctzll(left)) + 64);
  }
  bool operator==(const anchor_bits&) const = default;
};

/// A place where anchors match.
struct candidate {
  std::size_t at = 0;
  anchor_bits which;

  bool operator==(const candidate&) const = default;
};

/// Searches for up to `most_anchors` anchors at once: two table look-ups for each of the four bytes, for 64 places at a time
/// where the processor has AVX2, tell apart sixteen groups of them, or eight in what is no text, where hardly anything looks
/// like an anchor; what passes is compared exactly. Threads: immutable.
class anchor_search {
 public:
  explicit anchor_search(std::span<const anchor> anchors);

  /// Every place in `text` where an anchor matches, in order. Replaces what is in `into`.
  void find(std::string_view text, std::vector<candidate>& into) const;
  /// The same without the instructions that not every processor has.
  void find_portably(std::string_view text, std::vector<candidate>& into) const;

 private:
  struct nibbles {
    alignas(16) std::array<std::uint8_t, 16> low{};
    alignas(16) std::array<std::uint8_t, 16> high{};
  };

  /// The groups of a set have a bit each.
  using group_set = std::array<nibbles, anchor_bytes>;

  template <bool is_wide, std::size_t sets>
  void find_by_vectors(const std::array<group_set, sets>& groups, std::string_view text, std::vector<candidate>& into) const;
  [[nodiscard]] anchor_bits which_at(const char* place) const noexcept {
    static_assert(anchor_bytes == 4);
    const auto with = [this, place](std::size_t i) -> const anchor_bits& {
      return exact_[i][static_cast<unsigned char>(place[i])];
    };
    return with(0) & with(1) & with(2) & with(3);
  }

  std::array<std::array<anchor_bits, 256>, anchor_bytes> exact_{};  // the anchors that have the byte there
  std::array<group_set, 2> fine_{};
  std::array<group_set, 1> coarse_{};
  bool is_wide_ = false;  // some anchor has a byte above 127
};

}  // namespace hondana::secrets

/// A fast search for byte patterns that may begin a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hondana::secrets {

/// An anchor: four bytes that occur in every secret of a kind, or beside it. A pattern is four sets of bytes, one after the
/// other. A byte matches itself, `[abc]` one of several bytes, `[0-9]` a range.
using anchor_pattern = std::string_view;
inline constexpr std::size_t anchor_bytes = 4;
inline constexpr std::size_t max_anchors = 128;

/// A set of anchors, by their index. One bit for each.
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
  /// Calls `visit` with the numbers of the bits that are set.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    for (auto low_bits = low; low_bits != 0; low_bits &= low_bits - 1)
      visit(static_cast<std::size_t>(__builtin_ctzll(low_bits)));
    for (auto high_bits = high; high_bits != 0; high_bits &= high_bits - 1)
      visit(static_cast<std::size_t>(__builtin_ctzll(high_bits)) + 64);
  }
  bool operator==(const anchor_bits&) const = default;
};

/// A position at which anchors match.
struct candidate {
  std::size_t position = 0;
  anchor_bits anchors;

  bool operator==(const candidate&) const = default;
};

/// Searches for up to `max_anchors` anchors at once. A filter with two table look-ups for each of the four bytes tests 64
/// positions at a time with AVX2. It distinguishes sixteen groups of anchors in text, and eight in binary content, which rarely
/// resembles an anchor. Positions that pass the filter are compared exactly. Threads: any; immutable.
class anchor_search {
 public:
  /// Throws std::logic_error for a malformed pattern or too many.
  explicit anchor_search(std::span<const anchor_pattern> anchors);

  /// Replaces `candidates` by every position in `text` at which an anchor matches, in order.
  void find(std::string_view text, std::vector<candidate>& candidates) const;
  /// Like `find`, but without processor-specific instructions.
  void find_portable(std::string_view text, std::vector<candidate>& candidates) const;

 private:
  struct nibbles {
    alignas(16) std::array<std::uint8_t, 16> low{};
    alignas(16) std::array<std::uint8_t, 16> high{};
  };

  /// Each group of a set has one bit.
  using group_set = std::array<nibbles, anchor_bytes>;

  template <bool IsWide, std::size_t SetCount>
  void find_vectorized(const std::array<group_set, SetCount>& groups, std::string_view text,
                       std::vector<candidate>& candidates) const;
  [[nodiscard]] anchor_bits anchors_at(const char* data) const noexcept {
    static_assert(anchor_bytes == 4);
    const auto anchors_for = [this, data](std::size_t i) -> const anchor_bits& {
      return exact_[i][static_cast<unsigned char>(data[i])];
    };
    return anchors_for(0) & anchors_for(1) & anchors_for(2) & anchors_for(3);
  }

  std::array<std::array<anchor_bits, 256>, anchor_bytes> exact_{};  // by position and byte: the anchors that match
  std::array<group_set, 2> fine_{};
  std::array<group_set, 1> coarse_{};
  bool is_wide_ = false;  // an anchor has a byte above 127
};

}  // namespace hondana::secrets

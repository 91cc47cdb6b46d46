/// A fast search for byte patterns that may begin a secret.
#include "text/secrets/anchor_search.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hondana::secrets {
namespace {

using byte_bits = std::array<bool, 256>;

/// Removes one set from the front and returns it.
byte_bits parse_set(std::string_view& pattern) {
  byte_bits out{};
  if (pattern.empty()) throw std::logic_error("an anchor of fewer than four sets");
  if (pattern.front() != '[') {
    out[static_cast<unsigned char>(pattern.front())] = true;
    pattern.remove_prefix(1);
    return out;
  }
  const auto end = pattern.find(']');
  const auto inside = pattern.substr(1, end - 1);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const bool is_range = i + 2 < inside.size() && inside[i + 1] == '-';
    const auto first = static_cast<unsigned char>(inside[i]);
    const auto last = is_range ? static_cast<unsigned char>(inside[i + 2]) : first;
    for (unsigned byte = first; byte <= last; ++byte) out[byte] = true;
    if (is_range) i += 2;
  }
  pattern.remove_prefix(end + 1);
  return out;
}

/// The frequency of each byte in a kind of file.
using byte_frequencies = std::array<double, 256>;

/// Text and source code: letters about as frequent as in English, capitals a fifteenth of that, few bytes above ASCII.
constexpr byte_frequencies text_frequencies = [] {
  byte_frequencies out{};
  for (std::size_t byte = 0; byte < out.size(); ++byte) out[byte] = byte < 0x20 ? 0.0001 : byte < 0x80 ? 0.005 : 0.0005;
  out['\n'] = 0.025;
  out[' '] = 0.15;
  for (auto digit = '0'; digit <= '9'; ++digit) out[static_cast<std::size_t>(digit)] = 0.006;
  constexpr std::array<double, 26> letter_frequencies{0.055, 0.012, 0.026, 0.03,  0.095, 0.018, 0.015, 0.03,  0.055,
                                                      0.002, 0.006, 0.033, 0.021, 0.053, 0.053, 0.017, 0.002, 0.05,
                                                      0.054, 0.07,  0.022, 0.009, 0.012, 0.003, 0.012, 0.002};
  for (std::size_t i = 0; i < letter_frequencies.size(); ++i) {
    out['a' + i] = letter_frequencies[i];
    out['A' + i] = letter_frequencies[i] / 15;
  }
  return out;
}();

/// Binary files: estimated by the upper four bits of a byte; the lower four are uniform.
constexpr byte_frequencies binary_frequencies = [] {
  constexpr std::array<double, 16> nibble_frequencies{0.35, 0.05, 0.06, 0.05, 0.08, 0.04, 0.08, 0.05,
                                                      0.06, 0.02, 0.02, 0.02, 0.03, 0.02, 0.03, 0.06};
  byte_frequencies out{};
  for (std::size_t byte = 0; byte < out.size(); ++byte) out[byte] = nibble_frequencies[byte >> 4] / 16;
  return out;
}();

/// Sums the frequencies of all bytes whose upper and lower four bits are in two given sets.
class frequency_sums {
 public:
  explicit frequency_sums(const byte_frequencies& frequencies) noexcept {
    for (std::size_t upper = 0; upper < 16; ++upper) {
      for (std::size_t upper_half = 0; upper_half < 2; ++upper_half) {
        auto& sums = sums_[upper][upper_half];
        for (std::size_t set = 1; set < 256; ++set) {
          const auto lowest = static_cast<std::size_t>(std::countr_zero(set));
          sums[set] = sums[set & (set - 1)] + frequencies[upper << 4 | upper_half << 3 | lowest];
        }
      }
    }
  }
  [[nodiscard]] double sum(std::uint16_t low, std::uint16_t high) const noexcept {
    double out = 0;
    for (unsigned remaining = high; remaining != 0; remaining &= remaining - 1) {
      const auto& sums = sums_[static_cast<std::size_t>(std::countr_zero(remaining))];
      out += sums[0][low & 0xFFu] + sums[1][low >> 8];
    }
    return out;
  }

 private:
  std::array<std::array<std::array<double, 256>, 2>, 16> sums_{};
};

/// For each position, the sets of lower and upper four bits of the bytes that a group of anchors matches there.
struct nibble_sets {
  std::array<std::uint16_t, anchor_bytes> low{};
  std::array<std::uint16_t, anchor_bytes> high{};

  [[nodiscard]] nibble_sets merged_with(const nibble_sets& other) const noexcept {
    auto out = *this;
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      out.low[i] = static_cast<std::uint16_t>(out.low[i] | other.low[i]);
      out.high[i] = static_cast<std::uint16_t>(out.high[i] | other.high[i]);
    }
    return out;
  }
  /// The probability that a random position matches.
  [[nodiscard]] double match_probability(const frequency_sums& sums) const noexcept {
    double out = 1;
    for (std::size_t i = 0; i < anchor_bytes; ++i) out *= sums.sum(low[i], high[i]);
    return out;
  }
};

/// Assigns each anchor to the group where it adds the least probability of a match. Repeats, to see whether another group is
/// better now.
std::vector<std::size_t> assign_groups(const std::vector<nibble_sets>& anchors, std::size_t group_count,
                                       const frequency_sums& sums) {
  constexpr std::size_t none = SIZE_MAX;
  constexpr int rounds = 8;
  std::vector<std::size_t> group_of(anchors.size(), none);
  std::vector<nibble_sets> group_sets(group_count);
  std::vector<double> probabilities(group_count);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      if (const auto group = std::exchange(group_of[i], none); group != none) {
        group_sets[group] = {};
        for (std::size_t other = 0; other < anchors.size(); ++other) {
          if (group_of[other] == group) group_sets[group] = group_sets[group].merged_with(anchors[other]);
        }
        probabilities[group] = group_sets[group].match_probability(sums);
      }
      double min_increase = 2;
      for (std::size_t group = 0; group < group_count; ++group) {
        const auto increase = group_sets[group].merged_with(anchors[i]).match_probability(sums) - probabilities[group];
        if (increase >= min_increase) continue;
        min_increase = increase;
        group_of[i] = group;
      }
      group_sets[group_of[i]] = group_sets[group_of[i]].merged_with(anchors[i]);
      probabilities[group_of[i]] = group_sets[group_of[i]].match_probability(sums);
    }
  }
  return group_of;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline __m256i broadcast_lanes(const std::uint8_t* table) noexcept {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

/// The tables of the groups as vectors.
template <std::size_t SetCount>
struct vector_tables {
  __m256i low[SetCount][anchor_bytes];
  __m256i high[SetCount][anchor_bytes];

  template <class Groups>
  [[gnu::target("avx2")]] explicit vector_tables(const Groups& groups) noexcept {
    for (std::size_t set = 0; set < SetCount; ++set) {
      for (std::size_t i = 0; i < anchor_bytes; ++i) {
        low[set][i] = broadcast_lanes(groups[set][i].low.data());
        high[set][i] = broadcast_lanes(groups[set][i].high.data());
      }
    }
  }

  /// The positions among 64 at which an anchor may match. There are more tables than registers, so each is loaded once for two
  /// vectors. A byte above 127 selects zero by its highest bit, unless `IsWide`.
  template <bool IsWide>
  [[gnu::target("avx2"), gnu::always_inline]] inline std::uint64_t find_suspects(const char* data) const noexcept {
    const auto nibble = _mm256_set1_epi8(0x0F);
    __m256i matches[SetCount][2];
    for (auto& set : matches) set[0] = set[1] = _mm256_set1_epi8(-1);
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      for (std::size_t half = 0; half < 2; ++half) {
        const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i + 32 * half));
        const auto lower = IsWide ? _mm256_and_si256(bytes, nibble) : bytes;
        const auto upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        for (std::size_t set = 0; set < SetCount; ++set) {
          const auto group_bits =
              _mm256_and_si256(_mm256_shuffle_epi8(low[set][i], lower), _mm256_shuffle_epi8(high[set][i], upper));
          matches[set][half] = _mm256_and_si256(matches[set][half], group_bits);
        }
      }
    }
    for (std::size_t set = 1; set < SetCount; ++set) {
      for (std::size_t half = 0; half < 2; ++half) matches[0][half] = _mm256_or_si256(matches[0][half], matches[set][half]);
    }
    return to_bit_mask(matches[0][0]) | static_cast<std::uint64_t>(to_bit_mask(matches[0][1])) << 32;
  }

  [[gnu::target("avx2"), gnu::always_inline]] static inline unsigned to_bit_mask(__m256i groups) noexcept {
    return ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256())));
  }
};

/// Text contains no NUL.
bool is_text(std::string_view front) noexcept {
  constexpr std::size_t checked_bytes = 1024;
  return front.substr(0, checked_bytes).find('\0') == std::string_view::npos;
}

#endif

}  // namespace

anchor_search::anchor_search(std::span<const anchor_pattern> anchors) {
  if (anchors.size() > max_anchors) throw std::logic_error("too many anchors");
  std::vector<nibble_sets> anchor_sets(anchors.size());
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    auto pattern = anchors[i];
    for (std::size_t index = 0; index < anchor_bytes; ++index) {
      const auto bytes = parse_set(pattern);
      for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        if (!bytes[byte]) continue;
        is_wide_ = is_wide_ || byte > 0x7F;
        exact_[index][byte].set(i);
        anchor_sets[i].low[index] = static_cast<std::uint16_t>(anchor_sets[i].low[index] | 1u << (byte & 0x0F));
        anchor_sets[i].high[index] = static_cast<std::uint16_t>(anchor_sets[i].high[index] | 1u << (byte >> 4));
      }
    }
    if (!pattern.empty()) throw std::logic_error("an anchor of more than four sets");
  }
  const auto fill = [&anchor_sets](auto& sets, const byte_frequencies& frequencies) {
    const auto group_of = assign_groups(anchor_sets, 8 * sets.size(), frequency_sums(frequencies));
    for (std::size_t i = 0; i < anchor_sets.size(); ++i) {
      auto& tables = sets[group_of[i] / 8];
      const auto bit = static_cast<std::uint8_t>(1u << (group_of[i] % 8));
      for (std::size_t index = 0; index < anchor_bytes; ++index) {
        for (std::size_t half = 0; half < 16; ++half) {
          if ((anchor_sets[i].low[index] >> half & 1) != 0) tables[index].low[half] |= bit;
          if ((anchor_sets[i].high[index] >> half & 1) != 0) tables[index].high[half] |= bit;
        }
      }
    }
  };
  fill(fine_, text_frequencies);
  fill(coarse_, binary_frequencies);
}

#if defined(__x86_64__)
template <bool IsWide, std::size_t SetCount>
[[gnu::target("avx2")]] void anchor_search::find_vectorized(const std::array<group_set, SetCount>& groups,
                                                            std::string_view text, std::vector<candidate>& candidates) const {
  constexpr std::size_t window = 64 + anchor_bytes - 1;  // enough bytes to test 64 positions
  candidates.clear();
  const vector_tables<SetCount> tables(groups);
  std::array<char, window> tail{};
  bool is_last = false;
  for (std::size_t position = 0; !is_last; position += 64) {
    const auto bytes_left = text.size() - position;
    is_last = bytes_left < window;
    // At the end, copy the rest, because no bytes follow it.
    if (is_last && bytes_left != 0) std::memcpy(tail.data(), text.data() + position, bytes_left);
    const char* const window_data = is_last ? tail.data() : text.data() + position;
    for (auto suspects = tables.template find_suspects<IsWide>(window_data); suspects != 0; suspects &= suspects - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(suspects));
      if (index + anchor_bytes > bytes_left) break;
      if (const auto anchors = anchors_at(window_data + index); anchors.any())
        candidates.push_back({position + index, anchors});
    }
  }
}
#endif

void anchor_search::find(std::string_view text, std::vector<candidate>& candidates) const {
#if defined(__x86_64__)
  static const bool has_vectors = __builtin_cpu_supports("avx2") != 0;
  if (has_vectors && is_text(text)) {
    return is_wide_ ? find_vectorized<true>(fine_, text, candidates) : find_vectorized<false>(fine_, text, candidates);
  }
  if (has_vectors) {
    return is_wide_ ? find_vectorized<true>(coarse_, text, candidates) : find_vectorized<false>(coarse_, text, candidates);
  }
#endif
  find_portable(text, candidates);
}

void anchor_search::find_portable(std::string_view text, std::vector<candidate>& candidates) const {
  candidates.clear();
  for (std::size_t position = 0; position + anchor_bytes <= text.size(); ++position) {
    if (const auto anchors = anchors_at(text.data() + position); anchors.any()) candidates.push_back({position, anchors});
  }
}

}  // namespace hondana::secrets

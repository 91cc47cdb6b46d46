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
byte_bits take_set(std::string_view& rest) {
  byte_bits out{};
  if (rest.empty()) throw std::logic_error("an anchor of fewer than four sets");
  if (rest.front() != '[') {
    out[static_cast<unsigned char>(rest.front())] = true;
    rest.remove_prefix(1);
    return out;
  }
  const auto end = rest.find(']');
  const auto inside = rest.substr(1, end - 1);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const bool is_range = i + 2 < inside.size() && inside[i + 1] == '-';
    const auto first = static_cast<unsigned char>(inside[i]);
    const auto last = is_range ? static_cast<unsigned char>(inside[i + 2]) : first;
    for (unsigned byte = first; byte <= last; ++byte) out[byte] = true;
    if (is_range) i += 2;
  }
  rest.remove_prefix(end + 1);
  return out;
}

/// The frequency of each byte in a kind of file.
using weights = std::array<double, 256>;

/// Text and source code: letters about as frequent as in English, capitals a fifteenth of that, few bytes above ASCII.
constexpr weights of_text = [] {
  weights out{};
  for (std::size_t byte = 0; byte < out.size(); ++byte) out[byte] = byte < 0x20 ? 0.0001 : byte < 0x80 ? 0.005 : 0.0005;
  out['\n'] = 0.025;
  out[' '] = 0.15;
  for (auto digit = '0'; digit <= '9'; ++digit) out[static_cast<std::size_t>(digit)] = 0.006;
  constexpr std::array<double, 26> letters{0.055, 0.012, 0.026, 0.03,  0.095, 0.018, 0.015, 0.03,  0.055,
                                           0.002, 0.006, 0.033, 0.021, 0.053, 0.053, 0.017, 0.002, 0.05,
                                           0.054, 0.07,  0.022, 0.009, 0.012, 0.003, 0.012, 0.002};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    out['a' + i] = letters[i];
    out['A' + i] = letters[i] / 15;
  }
  return out;
}();

/// Binary files: estimated by the upper four bits of a byte; the lower four are uniform.
constexpr weights of_binary = [] {
  constexpr std::array<double, 16> halves{0.35, 0.05, 0.06, 0.05, 0.08, 0.04, 0.08, 0.05,
                                          0.06, 0.02, 0.02, 0.02, 0.03, 0.02, 0.03, 0.06};
  weights out{};
  for (std::size_t byte = 0; byte < out.size(); ++byte) out[byte] = halves[byte >> 4] / 16;
  return out;
}();

/// Sums the frequencies of all bytes whose upper and lower four bits are in two given sets.
class shares {
 public:
  explicit shares(const weights& of) noexcept {
    for (std::size_t upper = 0; upper < 16; ++upper) {
      for (std::size_t eight = 0; eight < 2; ++eight) {
        auto& sums = of_[upper][eight];
        for (std::size_t set = 1; set < 256; ++set) {
          const auto lowest = static_cast<std::size_t>(std::countr_zero(set));
          sums[set] = sums[set & (set - 1)] + of[upper << 4 | eight << 3 | lowest];
        }
      }
    }
  }
  [[nodiscard]] double of(std::uint16_t low, std::uint16_t high) const noexcept {
    double out = 0;
    for (unsigned left = high; left != 0; left &= left - 1) {
      const auto& sums = of_[static_cast<std::size_t>(std::countr_zero(left))];
      out += sums[0][low & 0xFFu] + sums[1][low >> 8];
    }
    return out;
  }

 private:
  std::array<std::array<std::array<double, 256>, 2>, 16> of_{};
};

/// For each position, the sets of lower and upper four bits of the bytes that a group of anchors matches there.
struct halves {
  std::array<std::uint16_t, anchor_bytes> low{};
  std::array<std::uint16_t, anchor_bytes> high{};

  [[nodiscard]] halves with(const halves& other) const noexcept {
    auto out = *this;
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      out.low[i] = static_cast<std::uint16_t>(out.low[i] | other.low[i]);
      out.high[i] = static_cast<std::uint16_t>(out.high[i] | other.high[i]);
    }
    return out;
  }
  /// The probability that a random position matches.
  [[nodiscard]] double commonness(const shares& in) const noexcept {
    double out = 1;
    for (std::size_t i = 0; i < anchor_bytes; ++i) out *= in.of(low[i], high[i]);
    return out;
  }
};

/// Assigns each anchor to the group where it adds the least probability of a match. Repeats, to see whether another group is
/// better now.
std::vector<std::size_t> grouped(const std::vector<halves>& anchors, std::size_t groups, const shares& in) {
  constexpr std::size_t none = SIZE_MAX;
  constexpr int rounds = 8;
  std::vector<std::size_t> of(anchors.size(), none);
  std::vector<halves> all(groups);
  std::vector<double> common(groups);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      if (const auto group = std::exchange(of[i], none); group != none) {
        all[group] = {};
        for (std::size_t other = 0; other < anchors.size(); ++other) {
          if (of[other] == group) all[group] = all[group].with(anchors[other]);
        }
        common[group] = all[group].commonness(in);
      }
      double least = 2;
      for (std::size_t group = 0; group < groups; ++group) {
        const auto more = all[group].with(anchors[i]).commonness(in) - common[group];
        if (more >= least) continue;
        least = more;
        of[i] = group;
      }
      all[of[i]] = all[of[i]].with(anchors[i]);
      common[of[i]] = all[of[i]].commonness(in);
    }
  }
  return of;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline __m256i both_lanes(const std::uint8_t* table) noexcept {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

/// The tables of the groups as vectors.
template <std::size_t sets>
struct vector_tables {
  __m256i low[sets][anchor_bytes];
  __m256i high[sets][anchor_bytes];

  template <class Groups>
  [[gnu::target("avx2")]] explicit vector_tables(const Groups& groups) noexcept {
    for (std::size_t set = 0; set < sets; ++set) {
      for (std::size_t i = 0; i < anchor_bytes; ++i) {
        low[set][i] = both_lanes(groups[set][i].low.data());
        high[set][i] = both_lanes(groups[set][i].high.data());
      }
    }
  }

  /// The positions among 64 at which an anchor may match. There are more tables than registers, so each is loaded once for two
  /// vectors. A byte above 127 selects zero by its highest bit, unless `is_wide`.
  template <bool is_wide>
  [[gnu::target("avx2"), gnu::always_inline]] inline std::uint64_t suspects(const char* from) const noexcept {
    const auto nibble = _mm256_set1_epi8(0x0F);
    __m256i may_be[sets][2];
    for (auto& set : may_be) set[0] = set[1] = _mm256_set1_epi8(-1);
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      for (std::size_t half = 0; half < 2; ++half) {
        const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 32 * half));
        const auto lower = is_wide ? _mm256_and_si256(bytes, nibble) : bytes;
        const auto upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        for (std::size_t set = 0; set < sets; ++set) {
          const auto both = _mm256_and_si256(_mm256_shuffle_epi8(low[set][i], lower), _mm256_shuffle_epi8(high[set][i], upper));
          may_be[set][half] = _mm256_and_si256(may_be[set][half], both);
        }
      }
    }
    for (std::size_t set = 1; set < sets; ++set) {
      for (std::size_t half = 0; half < 2; ++half) may_be[0][half] = _mm256_or_si256(may_be[0][half], may_be[set][half]);
    }
    return marks(may_be[0][0]) | static_cast<std::uint64_t>(marks(may_be[0][1])) << 32;
  }

  [[gnu::target("avx2"), gnu::always_inline]] static inline unsigned marks(__m256i groups) noexcept {
    return ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256())));
  }
};

/// Text contains no NUL.
bool is_text(std::string_view front) noexcept {
  constexpr std::size_t looked_at = 1024;
  return front.substr(0, looked_at).find('\0') == std::string_view::npos;
}

#endif

}  // namespace

anchor_search::anchor_search(std::span<const anchor> anchors) {
  if (anchors.size() > most_anchors) throw std::logic_error("too many anchors");
  std::vector<halves> all(anchors.size());
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    auto rest = anchors[i];
    for (std::size_t place = 0; place < anchor_bytes; ++place) {
      const auto bytes = take_set(rest);
      for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        if (!bytes[byte]) continue;
        is_wide_ = is_wide_ || byte > 0x7F;
        exact_[place][byte].set(i);
        all[i].low[place] = static_cast<std::uint16_t>(all[i].low[place] | 1u << (byte & 0x0F));
        all[i].high[place] = static_cast<std::uint16_t>(all[i].high[place] | 1u << (byte >> 4));
      }
    }
    if (!rest.empty()) throw std::logic_error("an anchor of more than four sets");
  }
  const auto fill = [&all](auto& sets, const weights& in) {
    const auto group_of = grouped(all, 8 * sets.size(), shares(in));
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto& tables = sets[group_of[i] / 8];
      const auto bit = static_cast<std::uint8_t>(1u << (group_of[i] % 8));
      for (std::size_t place = 0; place < anchor_bytes; ++place) {
        for (std::size_t half = 0; half < 16; ++half) {
          if ((all[i].low[place] >> half & 1) != 0) tables[place].low[half] |= bit;
          if ((all[i].high[place] >> half & 1) != 0) tables[place].high[half] |= bit;
        }
      }
    }
  };
  fill(fine_, of_text);
  fill(coarse_, of_binary);
}

#if defined(__x86_64__)
template <bool is_wide, std::size_t sets>
[[gnu::target("avx2")]] void anchor_search::find_by_vectors(const std::array<group_set, sets>& groups, std::string_view text,
                                                            std::vector<candidate>& into) const {
  constexpr std::size_t window = 64 + anchor_bytes - 1;  // enough bytes to test 64 positions
  into.clear();
  const vector_tables<sets> tables(groups);
  std::array<char, window> rest{};
  bool is_last = false;
  for (std::size_t at = 0; !is_last; at += 64) {
    const auto left = text.size() - at;
    is_last = left < window;
    // At the end, copy the rest, because no bytes follow it.
    if (is_last && left != 0) std::memcpy(rest.data(), text.data() + at, left);
    const char* const from = is_last ? rest.data() : text.data() + at;
    for (auto marked = tables.template suspects<is_wide>(from); marked != 0; marked &= marked - 1) {
      const auto place = static_cast<unsigned>(std::countr_zero(marked));
      if (place + anchor_bytes > left) break;
      if (const auto which = which_at(from + place); which.any()) into.push_back({at + place, which});
    }
  }
}
#endif

void anchor_search::find(std::string_view text, std::vector<candidate>& into) const {
#if defined(__x86_64__)
  static const bool has_vectors = __builtin_cpu_supports("avx2") != 0;
  if (has_vectors && is_text(text)) {
    return is_wide_ ? find_by_vectors<true>(fine_, text, into) : find_by_vectors<false>(fine_, text, into);
  }
  if (has_vectors) {
    return is_wide_ ? find_by_vectors<true>(coarse_, text, into) : find_by_vectors<false>(coarse_, text, into);
  }
#endif
  find_portably(text, into);
}

void anchor_search::find_portably(std::string_view text, std::vector<candidate>& into) const {
  into.clear();
  for (std::size_t at = 0; at + anchor_bytes <= text.size(); ++at) {
    if (const auto which = which_at(text.data() + at); which.any()) into.push_back({at, which});
  }
}

}  // namespace hondana::secrets

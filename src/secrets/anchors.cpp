/// The search for anchors.
#include "secrets/anchors.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hondana::secrets {
namespace {

using byte_bits = std::array<bool, 256>;

/// Takes one set off the front.
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

/// How common the upper halves of bytes are in texts and programs; the lower ones are all alike.
constexpr std::array<double, 16> weights{0.03,  0.01,  0.22,  0.09,  0.06,  0.06,  0.33,  0.19,
                                         0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001};

/// The halves of the bytes that a group of anchors has in each place.
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
  /// How often such halves come together.
  [[nodiscard]] double commonness() const noexcept {
    double out = 1;
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      double share = 0;
      for (std::size_t half = 0; half < weights.size(); ++half) {
        if ((high[i] >> half & 1) != 0) share += weights[half];
      }
      out *= share * std::popcount(low[i]) / 16;
    }
    return out;
  }
};

/// Puts each anchor where it makes the least that is common match, and then looks again whether another place is better.
std::vector<std::size_t> grouped(const std::vector<halves>& anchors, std::size_t groups) {
  constexpr std::size_t none = SIZE_MAX;
  constexpr int rounds = 4;
  std::vector<std::size_t> of(anchors.size(), none);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      std::vector<halves> all(groups);
      for (std::size_t other = 0; other < anchors.size(); ++other) {
        if (other != i && of[other] != none) all[of[other]] = all[of[other]].with(anchors[other]);
      }
      double least = 2;
      for (std::size_t group = 0; group < groups; ++group) {
        const auto more = all[group].with(anchors[i]).commonness() - all[group].commonness();
        if (more >= least) continue;
        least = more;
        of[i] = group;
      }
    }
  }
  return of;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline __m256i both_lanes(const std::uint8_t* table) noexcept {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

constexpr std::size_t window_bytes = 32 + anchor_bytes - 1;  // that tell about 32 places

/// The tables of two sets of groups, as vectors.
struct vector_tables {
  __m256i low[2][anchor_bytes];
  __m256i high[2][anchor_bytes];

  template <class Set>
  [[gnu::target("avx2")]] vector_tables(const Set& first, const Set& second) noexcept {
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      low[0][i] = both_lanes(first[i].low.data());
      high[0][i] = both_lanes(first[i].high.data());
      low[1][i] = both_lanes(second[i].low.data());
      high[1][i] = both_lanes(second[i].high.data());
    }
  }

  /// The places among 32 where an anchor may be.
  [[gnu::target("avx2"), gnu::always_inline]] inline unsigned suspects(const char* from) const noexcept {
    const auto nibble = _mm256_set1_epi8(0x0F);
    auto first = _mm256_set1_epi8(-1);
    auto second = first;
    for (std::size_t i = 0; i < anchor_bytes; ++i) {
      const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
      const auto lower = _mm256_and_si256(bytes, nibble);
      const auto upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
      first = _mm256_and_si256(first,
                               _mm256_and_si256(_mm256_shuffle_epi8(low[0][i], lower), _mm256_shuffle_epi8(high[0][i], upper)));
      second = _mm256_and_si256(
          second, _mm256_and_si256(_mm256_shuffle_epi8(low[1][i], lower), _mm256_shuffle_epi8(high[1][i], upper)));
    }
    const auto either = _mm256_or_si256(first, second);
    if (_mm256_testz_si256(either, either) != 0) return 0;
    return ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(either, _mm256_setzero_si256())));
  }
};

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
        exact_[place][byte].set(i);
        all[i].low[place] = static_cast<std::uint16_t>(all[i].low[place] | 1u << (byte & 0x0F));
        all[i].high[place] = static_cast<std::uint16_t>(all[i].high[place] | 1u << (byte >> 4));
      }
    }
    if (!rest.empty()) throw std::logic_error("an anchor of more than four sets");
  }
  const auto group_of = grouped(all, 8 * groups_.size());
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    auto& tables = groups_[group_of[i] / 8];
    const auto bit = static_cast<std::uint8_t>(1u << (group_of[i] % 8));
    for (std::size_t place = 0; place < anchor_bytes; ++place) {
      for (std::size_t half = 0; half < 16; ++half) {
        if ((all[i].low[place] >> half & 1) != 0) tables[place].low[half] |= bit;
        if ((all[i].high[place] >> half & 1) != 0) tables[place].high[half] |= bit;
      }
    }
  }
}

void anchor_search::find(std::string_view text, std::vector<candidate>& into) const {
#if defined(__x86_64__)
  static const bool has_vectors = __builtin_cpu_supports("avx2") != 0;
  if (has_vectors) return find_by_vectors(text, into);
#endif
  find_portably(text, into);
}

void anchor_search::find_portably(std::string_view text, std::vector<candidate>& into) const {
  into.clear();
  for (std::size_t at = 0; at + anchor_bytes <= text.size(); ++at) {
    if (const auto which = which_at(text.data() + at); which.any()) into.push_back({at, which});
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void anchor_search::find_by_vectors(std::string_view text, std::vector<candidate>& into) const {
  into.clear();
  if (text.size() < anchor_bytes) return;
  const vector_tables tables(groups_[0], groups_[1]);
  std::size_t at = 0;
  for (; at + window_bytes <= text.size(); at += 32) {
    for (auto left = tables.suspects(text.data() + at); left != 0; left &= left - 1) {
      const auto place = at + static_cast<unsigned>(std::countr_zero(left));
      if (const auto which = which_at(text.data() + place); which.any()) into.push_back({place, which});
    }
  }
  // What is left, with nothing behind it.
  std::array<char, 2 * window_bytes> rest{};
  std::memcpy(rest.data(), text.data() + at, text.size() - at);
  for (std::size_t step = 0; at + step + anchor_bytes <= text.size(); step += 32) {
    for (auto left = tables.suspects(rest.data() + step); left != 0; left &= left - 1) {
      const auto place = step + static_cast<unsigned>(std::countr_zero(left));
      const auto which = which_at(rest.data() + place);
      if (which.any() && at + place + anchor_bytes <= text.size()) into.push_back({at + place, which});
    }
  }
}
#else
void anchor_search::find_by_vectors(std::string_view text, std::vector<candidate>& into) const { find_portably(text, into); }
#endif

}  // namespace hondana::secrets

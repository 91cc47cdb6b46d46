/// Validates and repairs UTF-8, and finds the boundaries of code points.
#include "base/json/utf8.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && !defined(HONDANA_PORTABLE_KERNELS)
#include <immintrin.h>
#define HONDANA_AVX2_UTF8 1
#endif

namespace hondana::json {
namespace {

std::uint64_t word_at(const char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Whether 8 to 64 bytes are ASCII: a fast path for short output, without simdjson's dispatch.
bool is_short_ascii(std::string_view bytes) noexcept {
  std::uint64_t seen = word_at(bytes.data() + bytes.size() - 8);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) seen |= word_at(bytes.data() + i);
  return (seen & 0x8080808080808080U) == 0;
}

#ifdef HONDANA_AVX2_UTF8
/// Checks blocks of 128 bytes: the minimum of the bytes reveals a NUL, their combined bits reveal a byte above 127.
__attribute__((target("avx2"))) std::size_t ascii_run_avx2(std::string_view bytes) noexcept {
  std::size_t at = 0;
  for (; at + 128 <= bytes.size(); at += 128) {
    const auto* from = reinterpret_cast<const __m256i*>(bytes.data() + at);
    const __m256i a = _mm256_loadu_si256(from);
    const __m256i b = _mm256_loadu_si256(from + 1);
    const __m256i c = _mm256_loadu_si256(from + 2);
    const __m256i d = _mm256_loadu_si256(from + 3);
    const __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
    const __m256i least = _mm256_min_epu8(_mm256_min_epu8(a, b), _mm256_min_epu8(c, d));
    const __m256i foreign = _mm256_or_si256(any, _mm256_cmpeq_epi8(least, _mm256_setzero_si256()));
    if (_mm256_movemask_epi8(foreign) != 0) break;
  }
  return at;
}
#endif

/// The longest prefix of a text that can be one UTF-8 sequence.
struct part {
  std::size_t size;   ///< Bytes in the prefix; at least 1.
  std::size_t needs;  ///< Length of the complete sequence in bytes; 0 when the first byte cannot start one.
};

part first_part(std::string_view bytes) noexcept {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, 1};
  if (lead < 0xC2 || lead > 0xF4) return {1, 0};
  const std::size_t needs = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t size = 1;
  while (size < needs && size < bytes.size() && byte(size) >= low && byte(size) <= high) {
    ++size;
    low = 0x80;
    high = 0xBF;
  }
  return {size, needs};
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() >= 8 && bytes.size() <= 64) {
    if (is_short_ascii(bytes)) return true;
  } else if (bytes.size() < 8) {
    while (!bytes.empty()) {
      const part one = first_part(bytes);
      if (one.size != one.needs) return false;
      bytes.remove_prefix(one.size);
    }
    return true;
  }
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

bool has_nul(std::string_view bytes) noexcept {
  return !bytes.empty() && std::memchr(bytes.data(), 0, bytes.size()) != nullptr;
}

std::size_t ascii_run_portable(std::string_view bytes) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  std::size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64) {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      // For ASCII, bit 7 is set after the subtraction only for NUL and for bytes that its borrow reaches.
      const std::uint64_t word = word_at(bytes.data() + at + i);
      seen |= word | (word - ones);
    }
    if ((seen & 0x8080808080808080U) != 0) break;
  }
  return at;
}

std::size_t ascii_run(std::string_view bytes) noexcept {
#ifdef HONDANA_AVX2_UTF8
  if (__builtin_cpu_supports("avx2")) return ascii_run_avx2(bytes);
#endif
  return ascii_run_portable(bytes);
}

std::size_t incomplete_tail(std::string_view bytes) noexcept {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto last = bytes.substr(bytes.size() - back);
    if ((static_cast<unsigned char>(last.front()) & 0xC0U) == 0x80) continue;
    const part one = first_part(last);
    return one.size == back && back < one.needs ? back : 0;
  }
  return 0;
}

void append_replacing(std::string& out, std::string_view bytes) {
  std::size_t good = 0;
  while (good < bytes.size()) {
    const part one = first_part(bytes.substr(good));
    if (one.size == one.needs) {
      good += one.size;
      continue;
    }
    out.append(bytes.substr(0, good));
    out.append("\xEF\xBF\xBD");
    bytes.remove_prefix(good + one.size);
    good = 0;
  }
  out.append(bytes);
}

bool utf8_stream::feed(std::string_view piece) {
  if (!good_) return false;
  while (carried_ != 0 && !piece.empty()) {
    carry_[carried_++] = piece.front();
    piece.remove_prefix(1);
    const part one = first_part({carry_, carried_});
    if (one.size < carried_) return good_ = false;
    if (one.size == one.needs) carried_ = 0;
  }
  if (piece.empty()) return true;
  const std::size_t tail = incomplete_tail(piece);
  good_ = is_utf8(piece.substr(0, piece.size() - tail));
  std::copy_n(piece.end() - tail, tail, carry_);
  carried_ = tail;
  return good_;
}

bool utf8_stream::finish() const noexcept { return good_ && carried_ == 0; }

}  // namespace hondana::json

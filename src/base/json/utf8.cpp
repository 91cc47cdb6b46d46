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

std::uint64_t load_word(const char* input) noexcept {
  std::uint64_t word;
  std::memcpy(&word, input, sizeof word);
  return word;
}

/// Whether 8 to 64 bytes are ASCII: a fast path for short output, without simdjson's dispatch.
bool is_short_ascii(std::string_view bytes) noexcept {
  std::uint64_t combined = load_word(bytes.data() + bytes.size() - 8);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) combined |= load_word(bytes.data() + i);
  return (combined & 0x8080808080808080U) == 0;
}

#ifdef HONDANA_AVX2_UTF8
/// Checks blocks of 128 bytes: the minimum of the bytes reveals a NUL, their combined bits reveal a byte above 127.
__attribute__((target("avx2"))) std::size_t ascii_run_avx2(std::string_view bytes) noexcept {
  std::size_t position = 0;
  for (; position + 128 <= bytes.size(); position += 128) {
    const auto* blocks = reinterpret_cast<const __m256i*>(bytes.data() + position);
    const __m256i a = _mm256_loadu_si256(blocks);
    const __m256i b = _mm256_loadu_si256(blocks + 1);
    const __m256i c = _mm256_loadu_si256(blocks + 2);
    const __m256i d = _mm256_loadu_si256(blocks + 3);
    const __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
    const __m256i minimum = _mm256_min_epu8(_mm256_min_epu8(a, b), _mm256_min_epu8(c, d));
    const __m256i flagged = _mm256_or_si256(any, _mm256_cmpeq_epi8(minimum, _mm256_setzero_si256()));
    if (_mm256_movemask_epi8(flagged) != 0) break;
  }
  return position;
}
#endif

/// The longest prefix of a text that can be one UTF-8 sequence.
struct sequence_prefix {
  std::size_t size;           ///< Bytes in the prefix; at least 1.
  std::size_t expected_size;  ///< Length of the complete sequence in bytes; 0 when the first byte cannot start one.
};

sequence_prefix first_sequence(std::string_view bytes) noexcept {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, 1};
  if (lead < 0xC2 || lead > 0xF4) return {1, 0};
  const std::size_t expected_size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t size = 1;
  while (size < expected_size && size < bytes.size() && byte(size) >= low && byte(size) <= high) {
    ++size;
    low = 0x80;
    high = 0xBF;
  }
  return {size, expected_size};
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() >= 8 && bytes.size() <= 64) {
    if (is_short_ascii(bytes)) return true;
  } else if (bytes.size() < 8) {
    while (!bytes.empty()) {
      const sequence_prefix sequence = first_sequence(bytes);
      if (sequence.size != sequence.expected_size) return false;
      bytes.remove_prefix(sequence.size);
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
  std::size_t position = 0;
  for (; position + 64 <= bytes.size(); position += 64) {
    std::uint64_t combined = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      // For ASCII, bit 7 is set after the subtraction only for NUL and for bytes that its borrow reaches.
      const std::uint64_t word = load_word(bytes.data() + position + i);
      combined |= word | (word - ones);
    }
    if ((combined & 0x8080808080808080U) != 0) break;
  }
  return position;
}

std::size_t ascii_run(std::string_view bytes) noexcept {
#ifdef HONDANA_AVX2_UTF8
  if (__builtin_cpu_supports("avx2")) return ascii_run_avx2(bytes);
#endif
  return ascii_run_portable(bytes);
}

std::size_t incomplete_tail(std::string_view bytes) noexcept {
  for (std::size_t tail_size = 1; tail_size <= std::min<std::size_t>(3, bytes.size()); ++tail_size) {
    const auto tail = bytes.substr(bytes.size() - tail_size);
    if ((static_cast<unsigned char>(tail.front()) & 0xC0U) == 0x80) continue;
    const sequence_prefix sequence = first_sequence(tail);
    return sequence.size == tail_size && tail_size < sequence.expected_size ? tail_size : 0;
  }
  return 0;
}

void append_replacing(std::string& out, std::string_view bytes) {
  std::size_t valid_bytes = 0;
  while (valid_bytes < bytes.size()) {
    const sequence_prefix sequence = first_sequence(bytes.substr(valid_bytes));
    if (sequence.size == sequence.expected_size) {
      valid_bytes += sequence.size;
      continue;
    }
    out.append(bytes.substr(0, valid_bytes));
    out.append("\xEF\xBF\xBD");
    bytes.remove_prefix(valid_bytes + sequence.size);
    valid_bytes = 0;
  }
  out.append(bytes);
}

bool utf8_stream::feed(std::string_view piece) {
  if (!is_valid_) return false;
  while (carry_size_ != 0 && !piece.empty()) {
    carry_[carry_size_++] = piece.front();
    piece.remove_prefix(1);
    const sequence_prefix sequence = first_sequence({carry_, carry_size_});
    if (sequence.size < carry_size_) return is_valid_ = false;
    if (sequence.size == sequence.expected_size) carry_size_ = 0;
  }
  if (piece.empty()) return true;
  const std::size_t tail = incomplete_tail(piece);
  is_valid_ = is_utf8(piece.substr(0, piece.size() - tail));
  std::copy_n(piece.end() - tail, tail, carry_);
  carry_size_ = tail;
  return is_valid_;
}

bool utf8_stream::finish() const noexcept { return is_valid_ && carry_size_ == 0; }

}  // namespace hondana::json

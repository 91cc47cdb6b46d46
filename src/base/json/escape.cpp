/// Escapes JSON strings (RFC 8259 section 7). Uses AVX2 if the CPU supports it.
#include "base/json/escape.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && !defined(HONDANA_PORTABLE_KERNELS)
#include <immintrin.h>
#define HONDANA_AVX2_ESCAPE 1
#endif

namespace hondana::json {
namespace {

constexpr std::size_t chunk_bytes = 2048;  // input bytes per iteration; the output fits into the L1 cache
constexpr std::size_t slack_bytes = 32;    // bytes that a kernel may overwrite after its output

/// An escape sequence. All 8 bytes of the struct are copied, and the output advances by `size`.
struct escape {
  char text[7];
  std::uint8_t size;
};

/// Indexed by byte. Entries of bytes that need no escaping are unused.
constexpr auto escapes = [] {
  std::array<escape, '\\' + 1> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = {{'\\', 'u', '0', '0', c < 16 ? '0' : '1', "0123456789abcdef"[c % 16]}, 6};
  constexpr char short_escapes[][2] = {{'\b', 'b'}, {'\t', 't'}, {'\n', 'n'}, {'\f', 'f'},
                                       {'\r', 'r'}, {'"', '"'},  {'\\', '\\'}};
  for (const auto& [byte, letter] : short_escapes) table[static_cast<unsigned char>(byte)] = {{'\\', letter}, 2};
  return table;
}();

bool needs_escape(unsigned char c) noexcept { return c < 0x20 || c == '"' || c == '\\'; }

/// Writes the escape of `c`. May overwrite up to 8 bytes.
char* write_escape(char* out, char c) noexcept {
  const escape& sequence = escapes[static_cast<unsigned char>(c)];
  std::memcpy(out, &sequence, sizeof sequence);
  return out + sequence.size;
}

std::uint64_t load_word(const char* input) noexcept {
  std::uint64_t word;
  std::memcpy(&word, input, sizeof word);
  return word;
}

constexpr std::uint64_t high_bits = 0x8080808080808080;

/// Sets bit 7 of each ASCII byte of `word` that may need escaping; other bits are undefined.
/// A borrow can mark a clean byte above a marked one (false positive), but marked bytes are never missed.
std::uint64_t suspects(std::uint64_t word) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t quote = word ^ (ones * '"');
  const std::uint64_t backslash = word ^ (ones * '\\');
  return (word - ones * 0x20) | (quote - ones) | (backslash - ones);
}

bool is_plain(std::uint64_t word) noexcept { return ((suspects(word) | word) & high_bits) == 0; }

/// Loads fewer than eight bytes into a word, padded with plain characters.
std::uint64_t short_word(std::string_view text) noexcept {
  std::uint64_t word = 0x6161616161616161;
  auto* const target = reinterpret_cast<char*>(&word);
  if (text.size() >= 4) {
    std::memcpy(target, text.data(), 4);
    std::memcpy(target + 4, text.data() + text.size() - 4, 4);
  } else {
    for (std::size_t i = 0; i < text.size(); ++i) target[i] = text[i];
  }
  return word;
}

/// Escapes [input, end) to `out`, which must have space for six times the input plus `slack_bytes`.
char* escape_portable(const char* input, const char* end, char* out) noexcept {
  while (end - input >= 8) {
    const std::uint64_t word = load_word(input);
    std::memcpy(out, &word, sizeof word);
    if ((suspects(word) & ~word & high_bits) == 0) {
      input += 8;
      out += 8;
      continue;
    }
    for (int i = 0; i < 8; ++i, ++input) {
      if (needs_escape(static_cast<unsigned char>(*input))) {
        out = write_escape(out, *input);
      } else {
        *out++ = *input;
      }
    }
  }
  for (; input != end; ++input) {
    if (needs_escape(static_cast<unsigned char>(*input))) {
      out = write_escape(out, *input);
    } else {
      *out++ = *input;
    }
  }
  return out;
}

#ifdef HONDANA_AVX2_ESCAPE
/// One bit per byte of `block`, set if the byte needs escaping.
__attribute__((target("avx2"), always_inline)) inline std::uint32_t escape_mask(__m256i block) noexcept {
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(0x1F)), block);
  const __m256i quote = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('"'));
  const __m256i backslash = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, backslash), control)));
}

/// For at least 32 bytes. The last block may overlap the previous one.
__attribute__((target("avx2"))) bool is_plain_avx2(std::string_view text) noexcept {
  const char* const last = text.data() + text.size() - 32;
  for (const char* position = text.data();; position = position + 32 < last ? position + 32 : last) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(position));
    if ((escape_mask(block) | static_cast<std::uint32_t>(_mm256_movemask_epi8(block))) != 0) return false;
    if (position == last) return true;
  }
}

/// The number of plain bytes at the start of `text`, counted in whole blocks of 32 unless a marked byte is found.
__attribute__((target("avx2"))) std::size_t plain_run_avx2(std::string_view text) noexcept {
  std::size_t position = 0;
  for (; position + 32 <= text.size(); position += 32) {
    const std::uint32_t mask = escape_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + position)));
    if (mask != 0) return position + static_cast<std::size_t>(__builtin_ctz(mask));
  }
  return position;
}

/// Escapes `width` bytes, at most 32, at the positions set in `mask`. Reads up to 63 bytes from `input`.
__attribute__((target("avx2"), always_inline)) inline char* escape_marked(const char* input, std::size_t width,
                                                                          std::uint32_t mask, char* out) noexcept {
  std::size_t copied = 0;
  while (mask != 0) {
    const auto position = static_cast<std::size_t>(__builtin_ctz(mask));
    out += position - copied;
    out = write_escape(out, input[position]);
    copied = position + 1;
    // Copy the run after the escape and 32 bytes in total; the next store overwrites the excess.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(input + copied)));
    mask &= mask - 1;
  }
  return out + (width - copied);
}

__attribute__((target("avx2"))) char* escape_avx2(const char* input, const char* end, char* out) noexcept {
  while (end - input >= 64) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(input));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), block);
    const std::uint32_t mask = escape_mask(block);
    out = mask == 0 ? out + 32 : escape_marked(input, 32, mask, out);
    input += 32;
  }
  // The last 0 to 63 bytes are copied first, because a full load could read past the end of the text.
  alignas(32) char tail[96] = {};
  auto remaining = static_cast<std::size_t>(end - input);
  std::memcpy(tail, input, remaining);
  for (const char* position = tail; remaining != 0; position += 32) {
    const std::size_t width = std::min<std::size_t>(remaining, 32);
    const __m256i block = _mm256_load_si256(reinterpret_cast<const __m256i*>(position));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), block);
    out = escape_marked(position, width, escape_mask(block) & static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1), out);
    remaining -= width;
  }
  return out;
}
#endif

/// For at least 8 bytes. The last word may overlap the previous one.
bool is_plain_portable(std::string_view text) noexcept {
  const char* const last = text.data() + text.size() - 8;
  std::uint64_t combined = suspects(load_word(last)) | load_word(last);
  for (const char* position = text.data(); position < last; position += 8)
    combined |= suspects(load_word(position)) | load_word(position);
  return (combined & high_bits) == 0;
}

/// Like `plain_run_avx2`, in words of 8 bytes.
std::size_t plain_run_portable(std::string_view text) noexcept {
  std::size_t position = 0;
  while (position + 8 <= text.size()) {
    const std::uint64_t word = load_word(text.data() + position);
    if ((suspects(word) & ~word & high_bits) != 0) break;
    position += 8;
  }
  return position;
}

template <char* kernel(const char*, const char*, char*) noexcept>
void append_in_chunks(std::string& out, std::string_view text) {
  char buffer[6 * chunk_bytes + slack_bytes];
  // Source code grows by about 5 % when it is escaped.
  if (text.size() > chunk_bytes) out.reserve(out.size() + text.size() + text.size() / 8);
  for (; !text.empty(); text.remove_prefix(std::min(chunk_bytes, text.size()))) {
    const char* const end = kernel(text.data(), text.data() + std::min(chunk_bytes, text.size()), buffer);
    out.append(buffer, static_cast<std::size_t>(end - buffer));
  }
}

/// Like `append_in_chunks`, without a temporary buffer.
template <char* kernel(const char*, const char*, char*) noexcept>
void append_in_steps(buffer& out, std::string_view text) {
  while (!text.empty()) {
    const auto part = text.substr(0, escape_step);
    char* const target = out.prepare(6 * part.size() + slack_bytes);
    out.commit(static_cast<std::size_t>(kernel(part.data(), part.data() + part.size(), target) - target));
    text.remove_prefix(part.size());
  }
}

}  // namespace

void append_escaped_portable(std::string& out, std::string_view text) { append_in_chunks<escape_portable>(out, text); }

void append_escaped_portable(buffer& out, std::string_view text) { append_in_steps<escape_portable>(out, text); }

void append_escaped(buffer& out, std::string_view text) {
#ifdef HONDANA_AVX2_ESCAPE
  if (text.size() >= 32 && __builtin_cpu_supports("avx2")) return append_in_steps<escape_avx2>(out, text);
#endif
  append_escaped_portable(out, text);
}

void append_escaped(std::string& out, std::string_view text) {
#ifdef HONDANA_AVX2_ESCAPE
  // For less than one block, loads through a padded copy cost more than they save.
  if (text.size() >= 32 && __builtin_cpu_supports("avx2")) return append_in_chunks<escape_avx2>(out, text);
#endif
  append_escaped_portable(out, text);
}

bool is_plain_ascii(std::string_view text) noexcept {
  if (text.size() < 8) return is_plain(short_word(text));
#ifdef HONDANA_AVX2_ESCAPE
  if (text.size() >= 32 && __builtin_cpu_supports("avx2")) return is_plain_avx2(text);
#endif
  return is_plain_portable(text);
}

std::size_t plain_run(std::string_view text) noexcept {
  std::size_t position = 0;
#ifdef HONDANA_AVX2_ESCAPE
  if (text.size() >= 32 && __builtin_cpu_supports("avx2")) {
    position = plain_run_avx2(text);
  } else {
    position = plain_run_portable(text);
  }
#else
  position = plain_run_portable(text);
#endif
  while (position < text.size() && !needs_escape(static_cast<unsigned char>(text[position]))) ++position;
  return position;
}

}  // namespace hondana::json

/// Encodes and decodes Base64 (RFC 4648), with and without padding. Uses AVX2 if the CPU supports it.
#include "base/json/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#if defined(__x86_64__) && !defined(HONDANA_PORTABLE_KERNELS)
#include <immintrin.h>
#define HONDANA_AVX2_BASE64 1
#endif

namespace hondana::json {
namespace {

constexpr std::string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t not_in_alphabet = 0xFF;

constexpr std::array<std::uint8_t, 256> make_decode_table(std::string_view alphabet) {
  std::array<std::uint8_t, 256> values{};
  values.fill(not_in_alphabet);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr auto standard_values = make_decode_table(standard);
constexpr auto url_safe_values = make_decode_table(url_safe);

std::uint32_t octet(char c) noexcept { return static_cast<unsigned char>(c); }

/// Encodes [input, end) to `out`, without padding. Returns the end of the output.
char* encode_portable(const char* input, const char* end, char* out, std::string_view alphabet) noexcept {
  for (; end - input >= 3; input += 3) {
    const std::uint32_t group = octet(input[0]) << 16 | octet(input[1]) << 8 | octet(input[2]);
    *out++ = alphabet[group >> 18];
    *out++ = alphabet[group >> 12 & 63];
    *out++ = alphabet[group >> 6 & 63];
    *out++ = alphabet[group & 63];
  }
  if (input == end) return out;
  const bool has_two = end - input == 2;
  const std::uint32_t group = octet(input[0]) << 16 | (has_two ? octet(input[1]) << 8 : 0);
  *out++ = alphabet[group >> 18];
  *out++ = alphabet[group >> 12 & 63];
  if (has_two) *out++ = alphabet[group >> 6 & 63];
  return out;
}

char* encode_standard(const char* input, const char* end, char* out) noexcept {
  return encode_portable(input, end, out, standard);
}

#ifdef HONDANA_AVX2_BASE64
/// Encodes 24 bytes to 32 characters per iteration, after the published algorithms of Wojciech Muła and Daniel Lemire.
/// Two multiplications separate the four six-bit fields of every three bytes. One byte shuffle finds the distance from value to
/// letter.
__attribute__((target("avx2"))) char* encode_avx2(const char* input, const char* end, char* out) noexcept {
  // Bytes a b c of a group become b a c b: two 16-bit units with two fields each.
  const __m256i spread = _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10,  //
                                          1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
  // Maps the class of a value to (letter - value): 0 a-z, 1 to 10 digits, 11 '+', 12 '/', 13 A-Z.
  constexpr char digit = '0' - 52;
  const __m256i distance = _mm256_setr_epi8('a' - 26, digit, digit, digit, digit, digit, digit, digit, digit, digit, digit,  //
                                            '+' - 62, '/' - 63, 'A', 0, 0,                                                   //
                                            'a' - 26, digit, digit, digit, digit, digit, digit, digit, digit, digit, digit,
                                            '+' - 62, '/' - 63, 'A', 0, 0);
  // The upper half is loaded at offset 12. It reads 16 bytes, four more than it uses.
  for (; end - input >= 28; input += 24, out += 32) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(input));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(input + 12));
    const __m256i groups = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), spread);
    const __m256i even =
        _mm256_mulhi_epu16(_mm256_and_si256(groups, _mm256_set1_epi32(0x0FC0FC00)), _mm256_set1_epi32(0x04000040));
    const __m256i odd =
        _mm256_mullo_epi16(_mm256_and_si256(groups, _mm256_set1_epi32(0x003F03F0)), _mm256_set1_epi32(0x01000010));
    const __m256i values = _mm256_or_si256(even, odd);
    const __m256i capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
    const __m256i beyond = _mm256_subs_epu8(values, _mm256_set1_epi8(51));
    const __m256i classes = _mm256_or_si256(beyond, _mm256_and_si256(capital, _mm256_set1_epi8(13)));
    const __m256i characters = _mm256_add_epi8(values, _mm256_shuffle_epi8(distance, classes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), characters);
  }
  return encode_standard(input, end, out);
}
#endif

template <char* kernel(const char*, const char*, char*) noexcept>
void append_encoded(std::string& out, std::string_view bytes) {
  // resize() fills the memory first, which costs about 15 % of the speed. C++20 strings have no way to avoid that.
  const std::size_t size = out.size();
  out.resize(size + base64_size(bytes.size()), '=');
  kernel(bytes.data(), bytes.data() + bytes.size(), out.data() + size);
}

template <char* kernel(const char*, const char*, char*) noexcept>
void append_encoded(buffer& out, std::string_view bytes) {
  const std::size_t size = base64_size(bytes.size());
  char* const target = out.prepare(size);
  std::fill(kernel(bytes.data(), bytes.data() + bytes.size(), target), target + size, '=');
  out.commit(size);
}

/// Decodes characters without padding.
/// Returns nothing if a character is not in the alphabet, a single character remains, or unused bits are set.
std::optional<std::string> decode(std::string_view text, const std::array<std::uint8_t, 256>& values) {
  const std::size_t remainder = text.size() % 4;
  if (remainder == 1) return std::nullopt;
  const auto value = [&](std::size_t i) -> std::uint32_t { return values[static_cast<unsigned char>(text[i])]; };
  std::string bytes(text.size() / 4 * 3 + (remainder == 0 ? 0 : remainder - 1), '\0');
  char* out = bytes.data();
  std::uint32_t combined = 0;  // characters outside the alphabet have bits above the six
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const std::uint32_t a = value(i), b = value(i + 1), c = value(i + 2), d = value(i + 3);
    combined |= a | b | c | d;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *out++ = static_cast<char>(group >> 16);
    *out++ = static_cast<char>(group >> 8);
    *out++ = static_cast<char>(group);
  }
  if (remainder != 0) {
    const std::uint32_t a = value(i), b = value(i + 1), c = remainder == 3 ? value(i + 2) : 0;
    combined |= a | b | c;
    const std::uint32_t group = a << 18 | b << 12 | c << 6;
    if ((group & (remainder == 3 ? 0xFFU : 0xFFFFU)) != 0) return std::nullopt;
    *out++ = static_cast<char>(group >> 16);
    if (remainder == 3) *out++ = static_cast<char>(group >> 8);
  }
  if (combined > 63) return std::nullopt;
  return bytes;
}

/// The value of a character, shifted to each of the four positions of a group. Characters outside the alphabet set a bit above
/// the 24.
constexpr auto shifted_values = [] {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::size_t position = 0; position < 4; ++position) {
    for (std::size_t c = 0; c < 256; ++c) {
      const std::uint32_t value = standard_values[c];
      tables[position][c] = value == not_in_alphabet ? 0x80000000U : value << (18 - 6 * position);
    }
  }
  return tables;
}();

/// Decodes groups of four without padding. Returns false when a character is not in the alphabet.
bool append_quads(std::string_view text, std::string& out) {
  const std::size_t previous_size = out.size();
  out.resize(previous_size + text.size() / 4 * 3);
  char* target = out.data() + previous_size;
  std::uint32_t combined = 0;
  for (const char* input = text.data(); input != text.data() + text.size(); input += 4, target += 3) {
    const std::uint32_t group = shifted_values[0][octet(input[0])] | shifted_values[1][octet(input[1])] |
                                shifted_values[2][octet(input[2])] | shifted_values[3][octet(input[3])];
    combined |= group;
    target[0] = static_cast<char>(group >> 16);
    target[1] = static_cast<char>(group >> 8);
    target[2] = static_cast<char>(group);
  }
  return (combined & 0x80000000U) == 0;
}

}  // namespace

void append_base64_portable(std::string& out, std::string_view bytes) { append_encoded<encode_standard>(out, bytes); }

void append_base64(std::string& out, std::string_view bytes) {
#ifdef HONDANA_AVX2_BASE64
  if (__builtin_cpu_supports("avx2")) return append_encoded<encode_avx2>(out, bytes);
#endif
  append_base64_portable(out, bytes);
}

void append_base64_portable(buffer& out, std::string_view bytes) { append_encoded<encode_standard>(out, bytes); }

void append_base64(buffer& out, std::string_view bytes) {
#ifdef HONDANA_AVX2_BASE64
  if (__builtin_cpu_supports("avx2")) return append_encoded<encode_avx2>(out, bytes);
#endif
  append_base64_portable(out, bytes);
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return decode(text, standard_values);
}

bool base64_stream::decode_quad(std::string& out) {
  const auto bytes = decode_base64({carry_, 4});
  carry_size_ = 0;
  if (!bytes) return is_valid_ = false;
  has_padding_ = carry_[3] == '=';
  out += *bytes;
  return true;
}

bool base64_stream::feed(std::string_view piece, std::string& out) {
  while (is_valid_ && !piece.empty()) {
    if (has_padding_) return is_valid_ = false;
    if (carry_size_ == 0 && piece.size() > 4) {
      // The last four characters may be padded, so they go through the carry.
      const auto quads = piece.substr(0, (piece.size() - 1) / 4 * 4);
      if (!append_quads(quads, out)) return is_valid_ = false;
      piece.remove_prefix(quads.size());
    }
    carry_[carry_size_++] = piece.front();
    piece.remove_prefix(1);
    if (carry_size_ == 4 && !decode_quad(out)) return false;
  }
  return is_valid_;
}

std::string encode_base64url(std::string_view bytes) {
  std::string text((bytes.size() * 4 + 2) / 3, '\0');
  encode_portable(bytes.data(), bytes.data() + bytes.size(), text.data(), url_safe);
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) { return decode(text, url_safe_values); }

}  // namespace hondana::json

/// UTF-8 validation through simdjson, and the sequence rules of Unicode table 3-7 for boundaries and repair.
#include "json/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

namespace hondana::json {
namespace {

std::uint64_t word_at(const char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// ASCII of 8 to 64 bytes, the common case of what we write, without a call through simdjson's dispatch.
bool is_short_ascii(std::string_view bytes) noexcept {
  std::uint64_t seen = word_at(bytes.data() + bytes.size() - 8);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) seen |= word_at(bytes.data() + i);
  return (seen & 0x8080808080808080U) == 0;
}

/// The start of a text as far as it can be one sequence.
struct part {
  std::size_t size;   ///< Bytes taken; at least 1.
  std::size_t needs;  ///< Bytes the whole sequence has; 0 when the first byte begins none.
};

part first_part(std::string_view bytes) noexcept {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, 1};
  if (lead < 0xC2 || lead > 0xF4) return {1, 0};
  const std::size_t needs = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte is what excludes overlong forms, surrogates and values above U+10FFFF.
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

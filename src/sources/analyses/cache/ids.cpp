/// Making ids.
#include "sources/analyses/cache/ids.hpp"
#include "base/ascii/characters.hpp"

#include <nettle/memops.h>

#include <algorithm>
#include <charconv>

#include "base/bytes/hex.hpp"
#include "base/bytes/random.hpp"

namespace hondana::analyses {
namespace {

constexpr std::int64_t newest = (std::int64_t{1} << 48) - 1;
constexpr std::size_t random_in_id = (digits_of_id - digits_of_time) / 2;

result<std::string> drawn_digits(std::size_t count_of_bytes) {
  auto drawn = bytes::random_bytes(count_of_bytes);
  if (!drawn) return drawn;
  return bytes::to_hex(*drawn);
}

}  // namespace

bool is_id(std::string_view text) noexcept {
  return text.size() == digits_of_id && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

bool is_secret(std::string_view text) noexcept {
  return text.size() == digits_of_secret && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

result<std::string> random_digits() { return drawn_digits(random_in_id); }

result<std::string> secret_digits() { return drawn_digits(digits_of_secret / 2); }

bool is_same_secret(std::string_view a, std::string_view b) noexcept {
  return a.size() == digits_of_secret && b.size() == digits_of_secret && memeql_sec(a.data(), b.data(), digits_of_secret) != 0;
}

std::string digits_of(std::int64_t time) {
  auto left = newest - std::clamp<std::int64_t>(time, 0, newest);
  std::string out(digits_of_time, '0');
  for (auto at = out.rbegin(); at != out.rend(); ++at) {
    *at = "0123456789abcdef"[left & 0xf];
    left >>= 4;
  }
  return out;
}

std::string raw_id(std::string_view id) {
  if (!is_id(id)) return {};
  std::string out;
  for (std::size_t i = 0; i < id.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(id.data() + i, id.data() + i + 2, byte, 16);
    out += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return out;
}

std::string id_of_raw(std::string_view raw) { return bytes::to_hex(raw); }

}  // namespace hondana::analyses

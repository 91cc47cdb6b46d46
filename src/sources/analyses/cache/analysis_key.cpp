/// Ids of analyses, and the digests under which analyses are cached.
#include "sources/analyses/cache/analysis_key.hpp"

#include <nettle/memops.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "base/bytes/random_token.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/writer.hpp"
#include "text/language/normalization.hpp"

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

namespace {

constexpr std::size_t digest_bytes = 32;

/// The characters of Unicode's White_Space that NFKC does not replace.
bool is_space(char32_t c) noexcept {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Writes JSON that is equal for equal values.
void write_canonical(json::writer& to, const value& what) {
  if (const auto integer = what.as_integer()) {
    to.integer(*integer);
  } else if (const auto number = what.as_number()) {
    to.number(*number);
  } else if (const auto* const elements = what.as_array()) {
    to.begin_array();
    for (const auto& one : *elements) write_canonical(to, one);
    to.end_array();
  } else if (const auto* const members = what.as_object()) {
    std::vector<const value::member*> order;
    order.reserve(members->size());
    for (const auto& one : *members) order.push_back(&one);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    to.begin_object();
    for (const auto* one : order) write_canonical(to.key(one->first), one->second);
    to.end_object();
  } else {
    to.raw(what.to_text());
  }
}

/// Digests each part after its length, so that parts cannot be confused.
class digesting {
 public:
  digesting& part(std::string_view bytes) {
    number(bytes.size());
    all_.feed(bytes);
    return *this;
  }
  digesting& number(std::uint64_t what) {
    std::array<char, 8> bytes{};
    for (auto& byte : bytes) {
      byte = static_cast<char>(what & 0xff);
      what >>= 8;
    }
    all_.feed({bytes.data(), bytes.size()});
    return *this;
  }
  [[nodiscard]] std::string finish() {
    const auto raw = all_.finish_raw();
    return {raw.begin(), raw.end()};
  }

 private:
  bytes::sha256 all_{};
};

}  // namespace

std::string normalised(std::string_view prompt) {
  const auto wide = language::compatible(prompt);
  std::string out;
  out.reserve(wide.size());
  bool is_pending = false;
  for (std::string_view rest = wide; !rest.empty();) {
    const auto c = ascii::first_character(rest);
    if (is_space(c.code)) {
      is_pending = !out.empty();
    } else {
      if (is_pending) out += ' ';
      is_pending = false;
      out.append(rest.substr(0, c.bytes));
    }
    rest.remove_prefix(c.bytes);
  }
  return out;
}

key key_of(const question& what) {
  const auto prompt = normalised(what.prompt);
  std::string options;
  json::writer to(options);
  write_canonical(to, what.options);
  auto models = what.models;
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  auto context = what.context;
  std::sort(context.begin(), context.end());

  digesting all;
  all.part("analysis 1").part(prompt).part(options).number(models.size());
  for (const auto& one : models) all.part(one);
  all.number(context.size());
  for (const auto& one : context) all.part(one.uri).part(one.version);
  digesting alone;
  return {all.finish(), alone.part("prompt 1").part(prompt).finish()};
}

std::string spelled(std::string_view digest) { return bytes::to_hex(digest); }

std::optional<std::string> digest_spelled(std::string_view hex) {
  if (hex.size() != 2 * digest_bytes) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (!is_digit(hex[i]) || !is_digit(hex[i + 1])) return std::nullopt;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    out += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace hondana::analyses

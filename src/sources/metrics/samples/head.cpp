/// One byte says whether the instant is where it was expected and which bytes of the value have changed; those follow.
#include "sources/metrics/samples/head.hpp"

#include <array>
#include <bit>

#include "sources/metrics/samples/bits.hpp"

namespace hondana::samples {
namespace {

constexpr unsigned has_time = 0x80;

/// A stretch of the eight bytes of a value, the highest first.
struct stretch {
  std::uint8_t from = 0, length = 0;
};

constexpr auto stretches = [] {
  std::array<stretch, 37> out{};  // 0: none
  std::size_t i = 1;
  for (std::uint8_t from = 0; from < 8; ++from)
    for (std::uint8_t length = 1; from + length <= 8; ++length) out[i++] = {from, length};
  return out;
}();

/// Where the stretches begin that begin at a byte.
constexpr auto stretches_from = [] {
  std::array<std::uint8_t, 8> out{};
  std::uint8_t at = 1;
  for (std::uint8_t from = 0; from < 8; ++from) {
    out[from] = at;
    at = static_cast<std::uint8_t>(at + 8 - from);
  }
  return out;
}();

}  // namespace

void head::add(series::sample what) {
  const auto now = std::bit_cast<std::uint64_t>(what.value);
  const auto changed = now ^ (count_ == 0 ? 0 : std::bit_cast<std::uint64_t>(last_.value));
  unsigned code = 0;
  if (changed != 0) {
    const auto from = static_cast<unsigned>(std::countl_zero(changed)) / 8;
    const auto after = static_cast<unsigned>(std::countr_zero(changed)) / 8;
    code = stretches_from[from] + (8 - from - after) - 1;
  }
  if (count_ == 0) {
    first_ = what.at;
    bytes_.push_back(static_cast<char>(code));
  } else {
    const auto difference = wrapped_difference(what.at, last_.at);
    const auto change = wrapped_difference(difference, difference_);
    difference_ = difference;
    bytes_.push_back(static_cast<char>(code | (change != 0 ? has_time : 0)));
    if (change != 0) put_varint(bytes_, unsigned_of(change));
  }
  const auto place = stretches[code];
  for (unsigned i = 0; i < place.length; ++i) bytes_.push_back(static_cast<char>(changed >> (56 - 8 * (place.from + i))));
  last_ = what;
  ++count_;
}

void head::read(series::instant from, series::instant to, std::vector<series::sample>& into) const {
  std::string_view rest = bytes_;
  std::uint64_t value = 0;
  auto at = first_;
  std::int64_t difference = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const unsigned code = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if ((code & has_time) != 0) {
      std::uint64_t change = 0;
      if (!take_varint(rest, change)) return;
      difference = wrapped_sum(difference, signed_of(change));
    }
    if (i > 0) at = wrapped_sum(at, difference);
    const auto place = stretches[code & ~has_time];
    for (unsigned byte = 0; byte < place.length; ++byte)
      value ^= std::uint64_t{static_cast<unsigned char>(rest[byte])} << (56 - 8 * (place.from + byte));
    rest.remove_prefix(place.length);
    if (at > to) return;
    if (at >= from) into.push_back({at, std::bit_cast<double>(value)});
  }
}

}  // namespace hondana::samples

/// u8 1; varint count; for each a varint of the difference of its series' number from the one before; for each a varint of the
/// difference of its instant; for each, in half a byte, how many bytes its value has without the zeros at their end; those
/// bytes.
#include "sources/metrics/samples/tail_row.hpp"

#include <bit>

#include "sources/metrics/samples/bits.hpp"

namespace hondana::samples {
namespace {

unsigned bytes_of(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return bits == 0 ? 0 : 8 - static_cast<unsigned>(std::countr_zero(bits)) / 8;
}

}  // namespace

std::string to_tail_row(const std::vector<numbered_sample>& of) {
  std::string out;
  out.reserve(of.size() * 8 + 16);
  out.push_back(1);
  put_varint(out, of.size());
  std::int64_t before = 0;
  for (const auto& one : of) {
    put_varint(out, unsigned_of(wrapped_difference(one.series, before)));
    before = one.series;
  }
  before = 0;
  for (const auto& one : of) {
    put_varint(out, unsigned_of(wrapped_difference(one.what.at, before)));
    before = one.what.at;
  }
  for (std::size_t i = 0; i < of.size(); i += 2) {
    const auto first = bytes_of(of[i].what.value);
    const auto second = i + 1 < of.size() ? bytes_of(of[i + 1].what.value) : 0;
    out.push_back(static_cast<char>(first << 4 | second));
  }
  for (const auto& one : of) {
    const auto bits = std::bit_cast<std::uint64_t>(one.what.value);
    for (unsigned i = 0; i < bytes_of(one.what.value); ++i) out.push_back(static_cast<char>(bits >> (56 - 8 * i)));
  }
  return out;
}

bool read_tail_row(std::string_view bytes, std::vector<numbered_sample>& into) {
  if (bytes.empty()) return false;
  const char kind = bytes.front();
  bytes.remove_prefix(1);
  std::uint64_t number = 0;
  if (!take_varint(bytes, number)) return false;
  // A sample takes two bytes at least.
  if (kind != 1 || number > bytes.size() / 2) return false;
  std::vector<numbered_sample> out(static_cast<std::size_t>(number));
  std::int64_t before = 0;
  for (auto& one : out) {
    if (!take_varint(bytes, number)) return false;
    before = one.series = wrapped_sum(before, signed_of(number));
  }
  before = 0;
  for (auto& one : out) {
    if (!take_varint(bytes, number)) return false;
    before = one.what.at = wrapped_sum(before, signed_of(number));
  }
  if (bytes.size() < (out.size() + 1) / 2) return false;
  const auto lengths = bytes.substr(0, (out.size() + 1) / 2);
  bytes.remove_prefix(lengths.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto both = static_cast<unsigned char>(lengths[i / 2]);
    const unsigned length = i % 2 == 0 ? both >> 4 : both & 15u;
    if (length > 8 || bytes.size() < length) return false;
    std::uint64_t bits = 0;
    for (unsigned byte = 0; byte < length; ++byte)
      bits |= std::uint64_t{static_cast<unsigned char>(bytes[byte])} << (56 - 8 * byte);
    bytes.remove_prefix(length);
    out[i].what.value = std::bit_cast<double>(bits);
  }
  if (!bytes.empty()) return false;
  into.insert(into.end(), out.begin(), out.end());
  return true;
}

}  // namespace hondana::samples

/// The encodings of samples: compressed chunks, growing heads in memory, and rows of the write-ahead tail.
#include "sources/metrics/samples/sample_encoding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sources/metrics/samples/bit_stream.hpp"

// Chunks have this format:
//
//   u8       form: 1 decimal, 2 bits.
//   varint   count.
//   varint   first time, zigzag-encoded.
//   u8       k of the times.
//   form 1:  u8 decimal places (0 to 12), plus 16 if the values are differences of differences. u8 k of the values.
//            varint count of exceptions. For each: varint distance from the previous one, 8 bytes.
//   bits     for each sample except the first: difference of differences of times. For each sample: its value.

namespace hondana::samples {
namespace {

constexpr unsigned most_places = 12;
constexpr unsigned of_differences = 16;
constexpr std::int64_t most_whole = std::int64_t{1} << 53;
constexpr std::array<double, most_places + 1> tens{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

/// Converts a decimal number with at most `places` places to an integer. Returns false if the conversion is not exact, bit for
/// bit.
bool whole_of(double value, unsigned places, std::int64_t& whole) noexcept {
  const double scaled = value * tens[places];
  if (!(std::fabs(scaled) < static_cast<double>(most_whole))) return false;
  whole = std::llrint(scaled);
  return std::bit_cast<std::uint64_t>(static_cast<double>(whole) / tens[places]) == std::bit_cast<std::uint64_t>(value);
}

/// Estimates the `k` that encodes the numbers in the fewest bits.
unsigned best_k(const std::vector<std::uint64_t>& numbers, std::uint64_t& bits) {
  double sum = 0;
  for (const auto one : numbers) sum += static_cast<double>(one);
  const double mean = numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
  const auto middle = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::min(mean, 9e18))));
  unsigned best = 0;
  bits = std::numeric_limits<std::uint64_t>::max();
  for (unsigned k = middle > 3 ? middle - 3 : 0; k <= std::min(middle + 1, 63u); ++k) {
    std::uint64_t cost = 0;
    for (const auto one : numbers) cost += bit_writer::cost(one, k);
    if (cost < bits) {
      bits = cost;
      best = k;
    }
  }
  return best;
}

struct decimal_form {
  unsigned places = 0;
  bool is_of_differences = false;
  unsigned k = 0;
  std::vector<std::uint64_t> numbers{};
  std::vector<std::size_t> others{};
};

bool find_decimal(const std::vector<series::sample>& of, decimal_form& out) {
  // A number with many places can be stored as an exception. So use the fewest places that suffice for nearly all numbers.
  const std::size_t most_others = of.size() / 8 + 1;
  std::vector<std::int64_t> whole(of.size());
  std::array<std::size_t, most_places + 1> need{};
  std::size_t never = 0;
  for (const auto& one : of) {
    unsigned places = 0;
    std::int64_t number = 0;
    while (places <= most_places && !whole_of(one.value, places, number)) ++places;
    if (places <= most_places) {
      ++need[places];
    } else if (++never > most_others) {
      return false;
    }
  }
  std::size_t left = never;
  out.places = most_places;
  while (out.places > 0 && left + need[out.places] <= most_others / 2) left += need[out.places--];
  std::int64_t before = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    // A large value with fewer places may not be exact with more.
    if (!whole_of(of[i].value, out.places, whole[i])) {
      out.others.push_back(i);
      if (out.others.size() > most_others) return false;
      whole[i] = before;
    }
    before = whole[i];
  }
  std::vector<std::uint64_t> first(of.size()), second(of.size());
  std::int64_t last = 0, last_difference = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto difference = whole[i] - last;
    first[i] = unsigned_of(difference);
    second[i] = unsigned_of(difference - last_difference);
    last = whole[i];
    last_difference = i == 0 ? 0 : difference;  // the first is a value, not a difference
  }
  std::uint64_t first_bits = 0, second_bits = 0;
  // The first number has the magnitude of the values, so it must not influence `k`.
  const auto all_but_first = [](const std::vector<std::uint64_t>& of_all) {
    return std::vector<std::uint64_t>(of_all.begin() + 1, of_all.end());
  };
  const auto first_k = best_k(all_but_first(first), first_bits);
  const auto second_k = best_k(all_but_first(second), second_bits);
  out.is_of_differences = second_bits < first_bits;
  out.k = out.is_of_differences ? second_k : first_k;
  out.numbers = out.is_of_differences ? std::move(second) : std::move(first);
  return true;
}

void put_bits_form(bit_writer& bits, const std::vector<series::sample>& of) {
  std::uint64_t before = 0;
  unsigned from = 64, length = 0;  // the previous window; length 0: none yet
  for (const auto& one : of) {
    const auto now = std::bit_cast<std::uint64_t>(one.value);
    const auto changed = now ^ before;
    before = now;
    if (changed == 0) {
      bits.put(0, 1);
      continue;
    }
    const auto leading = static_cast<unsigned>(std::countl_zero(changed));
    const auto trailing = static_cast<unsigned>(std::countr_zero(changed));
    const unsigned needed = 64 - leading - trailing;
    if (length > 0 && leading >= from && 64 - trailing <= from + length && length < needed + 12) {
      bits.put(2, 2);
    } else {
      bits.put(3, 2);
      bits.put(leading, 6);
      bits.put(needed - 1, 6);
      from = leading;
      length = needed;
    }
    bits.put(changed >> (64 - from - length), length);
  }
}

bool take_bits_form(bit_reader& bits, std::vector<series::sample>& into) {
  std::uint64_t before = 0;
  unsigned from = 64, length = 0;
  for (auto& one : into) {
    if (bits.take(1) == 1) {
      if (bits.take(1) == 1) {
        from = static_cast<unsigned>(bits.take(6));
        length = static_cast<unsigned>(bits.take(6)) + 1;
      }
      if (length == 0 || from + length > 64) return false;
      before ^= bits.take(length) << (64 - from - length);
    }
    one.value = std::bit_cast<double>(before);
  }
  return !bits.is_beyond();
}

void put_raw(std::string& to, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(bits >> shift));
}

struct other {
  std::size_t at = 0;
  double value = 0;
};

struct chunk_head {
  bool is_decimal = false;
  std::size_t count = 0;
  series::instant first = 0;
  unsigned time_k = 0, places = 0, value_k = 0;
  bool is_of_differences = false;
  std::vector<other> others{};
};

bool take_byte(std::string_view& from, unsigned& byte) noexcept {
  if (from.empty()) return false;
  byte = static_cast<unsigned char>(from.front());
  from.remove_prefix(1);
  return true;
}

bool take_head(std::string_view& from, chunk_head& out) {
  unsigned form = 0, places = 0;
  std::uint64_t count = 0, first = 0, others = 0;
  if (!take_byte(from, form) || form < 1 || form > 2 || !take_varint(from, count) || count == 0 || count > most_in_chunk ||
      !take_varint(from, first) || !take_byte(from, out.time_k) || out.time_k > 63)
    return false;
  out.is_decimal = form == 1;
  out.count = static_cast<std::size_t>(count);
  out.first = signed_of(first);
  if (!out.is_decimal) return true;
  if (!take_byte(from, places) || !take_byte(from, out.value_k) || out.value_k > 63 || !take_varint(from, others) ||
      others > count)
    return false;
  out.is_of_differences = (places & of_differences) != 0;
  out.places = places & ~of_differences;
  if (out.places > most_places) return false;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < others; ++i) {
    std::uint64_t step = 0, bits = 0;
    if (!take_varint(from, step) || step >= count || (i > 0 && step == 0)) return false;
    at += step;
    if (at >= count || from.size() < 8) return false;
    for (unsigned byte = 0; byte < 8; ++byte) bits |= std::uint64_t{static_cast<unsigned char>(from[byte])} << (8 * byte);
    from.remove_prefix(8);
    out.others.push_back({static_cast<std::size_t>(at), std::bit_cast<double>(bits)});
  }
  return true;
}

}  // namespace

std::string to_chunk(const std::vector<series::sample>& of) {
  std::string out;
  out.reserve(of.size() * 3 + 32);
  std::vector<std::uint64_t> times;
  times.reserve(of.size());
  std::int64_t step = 0;
  for (std::size_t i = 1; i < of.size(); ++i) {
    const auto difference = wrapped_difference(of[i].at, of[i - 1].at);
    times.push_back(unsigned_of(wrapped_difference(difference, step)));
    step = difference;
  }
  std::uint64_t unused = 0;
  // The first number is the step itself, so it must not influence `k`.
  const auto time_k = times.size() < 2 ? 0 : best_k({times.begin() + 1, times.end()}, unused);
  decimal_form decimal;
  const bool is_decimal = find_decimal(of, decimal);
  out.push_back(is_decimal ? 1 : 2);
  put_varint(out, of.size());
  put_varint(out, unsigned_of(of.front().at));
  out.push_back(static_cast<char>(time_k));
  if (is_decimal) {
    out.push_back(static_cast<char>(decimal.places | (decimal.is_of_differences ? of_differences : 0)));
    out.push_back(static_cast<char>(decimal.k));
    put_varint(out, decimal.others.size());
    std::size_t last = 0;
    for (const auto at : decimal.others) {
      put_varint(out, at - last);
      put_raw(out, of[at].value);
      last = at;
    }
  }
  bit_writer bits(out);
  for (const auto one : times) bits.put_number(one, time_k);
  if (is_decimal) {
    for (const auto one : decimal.numbers) bits.put_number(one, decimal.k);
  } else {
    put_bits_form(bits, of);
  }
  bits.finish();
  return out;
}

bool read_chunk(std::string_view bytes, series::instant from, series::instant to, std::vector<series::sample>& into) {
  chunk_head head;
  if (!take_head(bytes, head)) return false;
  // Each sample takes at least one bit, so a few bytes cannot request much memory.
  if (bytes.size() * 8 < head.count) return false;
  std::vector<series::sample> out(head.count);
  bit_reader bits(bytes);
  out[0].at = head.first;
  std::int64_t difference = 0;
  for (std::size_t i = 1; i < out.size(); ++i) {
    difference = wrapped_sum(difference, signed_of(bits.take_number(head.time_k)));
    out[i].at = wrapped_sum(out[i - 1].at, difference);
    if (out[i].at <= out[i - 1].at || bits.is_beyond()) return false;
  }
  if (head.is_decimal) {
    std::int64_t whole = 0, last = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto number = signed_of(bits.take_number(head.value_k));
      const auto step = head.is_of_differences && i > 0 ? wrapped_sum(last, number) : number;
      whole = wrapped_sum(whole, step);
      last = i == 0 ? 0 : step;
      out[i].value = static_cast<double>(whole) / tens[head.places];
    }
    if (bits.is_beyond()) return false;
    for (const auto& one : head.others) out[one.at].value = one.value;
  } else if (!take_bits_form(bits, out)) {
    return false;
  }
  if (bits.used() != bytes.size()) return false;
  const auto first = std::lower_bound(out.begin(), out.end(), from, [](const auto& a, auto at) { return a.at < at; });
  const auto end = std::upper_bound(first, out.end(), to, [](auto at, const auto& a) { return at < a.at; });
  into.insert(into.end(), first, end);
  return true;
}

namespace {

constexpr unsigned has_time = 0x80;

/// A range of the eight bytes of a value, most significant byte first.
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

/// The index of the first stretch that begins at each byte.
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

// Rows of the tail have this format:
//
//   u8       1.
//   varint   count.
//   varint   for each sample: difference of its series ID from the previous one.
//   varint   for each sample: difference of its time from the previous one.
//   4 bits   for each sample: length of its value without trailing zero bytes.
//   bytes    for each sample: its value, in this length.

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
  // A sample takes at least two bytes.
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

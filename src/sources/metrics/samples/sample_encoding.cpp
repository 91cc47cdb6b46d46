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

constexpr unsigned max_places = 12;
constexpr unsigned double_delta_flag = 16;
constexpr std::int64_t max_exact_integer = std::int64_t{1} << 53;
constexpr std::array<double, max_places + 1> powers_of_ten{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

/// Converts a decimal number with at most `places` places to an integer. Returns false if the conversion is not exact, bit for
/// bit.
bool to_scaled_integer(double value, unsigned places, std::int64_t& integer) noexcept {
  const double scaled = value * powers_of_ten[places];
  if (!(std::fabs(scaled) < static_cast<double>(max_exact_integer))) return false;
  integer = std::llrint(scaled);
  return std::bit_cast<std::uint64_t>(static_cast<double>(integer) / powers_of_ten[places]) ==
         std::bit_cast<std::uint64_t>(value);
}

/// Estimates the `k` that encodes the numbers in the fewest bits.
unsigned best_k(const std::vector<std::uint64_t>& numbers, std::uint64_t& bits) {
  double sum = 0;
  for (const auto number : numbers) sum += static_cast<double>(number);
  const double mean = numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
  const auto middle = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::min(mean, 9e18))));
  unsigned best = 0;
  bits = std::numeric_limits<std::uint64_t>::max();
  for (unsigned k = middle > 3 ? middle - 3 : 0; k <= std::min(middle + 1, 63u); ++k) {
    std::uint64_t cost = 0;
    for (const auto candidate : numbers) cost += bit_writer::cost(candidate, k);
    if (cost < bits) {
      bits = cost;
      best = k;
    }
  }
  return best;
}

struct decimal_encoding {
  unsigned places = 0;
  bool is_double_delta = false;
  unsigned k = 0;
  std::vector<std::uint64_t> numbers{};
  std::vector<std::size_t> exceptions{};
};

bool encode_decimal(const std::vector<series::sample>& samples, decimal_encoding& out) {
  // A number with many places can be stored as an exception. So use the fewest places that suffice for nearly all numbers.
  const std::size_t max_exceptions = samples.size() / 8 + 1;
  std::vector<std::int64_t> integers(samples.size());
  std::array<std::size_t, max_places + 1> counts_by_places{};
  std::size_t inexact = 0;
  for (const auto& sample : samples) {
    unsigned places = 0;
    std::int64_t number = 0;
    while (places <= max_places && !to_scaled_integer(sample.value, places, number)) ++places;
    if (places <= max_places) {
      ++counts_by_places[places];
    } else if (++inexact > max_exceptions) {
      return false;
    }
  }
  std::size_t uncovered = inexact;
  out.places = max_places;
  while (out.places > 0 && uncovered + counts_by_places[out.places] <= max_exceptions / 2)
    uncovered += counts_by_places[out.places--];
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // A large value with fewer places may not be exact with more.
    if (!to_scaled_integer(samples[i].value, out.places, integers[i])) {
      out.exceptions.push_back(i);
      if (out.exceptions.size() > max_exceptions) return false;
      integers[i] = previous;
    }
    previous = integers[i];
  }
  std::vector<std::uint64_t> deltas(samples.size()), double_deltas(samples.size());
  std::int64_t last = 0, last_difference = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto difference = integers[i] - last;
    deltas[i] = zigzag_encode(difference);
    double_deltas[i] = zigzag_encode(difference - last_difference);
    last = integers[i];
    last_difference = i == 0 ? 0 : difference;  // the first is a value, not a difference
  }
  std::uint64_t delta_bits = 0, double_delta_bits = 0;
  // The first number has the magnitude of the values, so it must not influence `k`.
  const auto all_but_first = [](const std::vector<std::uint64_t>& values) {
    return std::vector<std::uint64_t>(values.begin() + 1, values.end());
  };
  const auto delta_k = best_k(all_but_first(deltas), delta_bits);
  const auto double_delta_k = best_k(all_but_first(double_deltas), double_delta_bits);
  out.is_double_delta = double_delta_bits < delta_bits;
  out.k = out.is_double_delta ? double_delta_k : delta_k;
  out.numbers = out.is_double_delta ? std::move(double_deltas) : std::move(deltas);
  return true;
}

void write_xor_values(bit_writer& bits, const std::vector<series::sample>& samples) {
  std::uint64_t previous = 0;
  unsigned window_start = 64, window_length = 0;  // the previous window; length 0: none yet
  for (const auto& sample : samples) {
    const auto current = std::bit_cast<std::uint64_t>(sample.value);
    const auto changed = current ^ previous;
    previous = current;
    if (changed == 0) {
      bits.write(0, 1);
      continue;
    }
    const auto leading = static_cast<unsigned>(std::countl_zero(changed));
    const auto trailing = static_cast<unsigned>(std::countr_zero(changed));
    const unsigned needed = 64 - leading - trailing;
    if (window_length > 0 && leading >= window_start && 64 - trailing <= window_start + window_length &&
        window_length < needed + 12) {
      bits.write(2, 2);
    } else {
      bits.write(3, 2);
      bits.write(leading, 6);
      bits.write(needed - 1, 6);
      window_start = leading;
      window_length = needed;
    }
    bits.write(changed >> (64 - window_start - window_length), window_length);
  }
}

bool read_xor_values(bit_reader& bits, std::vector<series::sample>& output) {
  std::uint64_t previous = 0;
  unsigned window_start = 64, window_length = 0;
  for (auto& sample : output) {
    if (bits.read(1) == 1) {
      if (bits.read(1) == 1) {
        window_start = static_cast<unsigned>(bits.read(6));
        window_length = static_cast<unsigned>(bits.read(6)) + 1;
      }
      if (window_length == 0 || window_start + window_length > 64) return false;
      previous ^= bits.read(window_length) << (64 - window_start - window_length);
    }
    sample.value = std::bit_cast<double>(previous);
  }
  return !bits.is_past_end();
}

void append_raw(std::string& output, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) output.push_back(static_cast<char>(bits >> shift));
}

struct exception_entry {
  std::size_t index = 0;
  double value = 0;
};

struct chunk_header {
  bool is_decimal = false;
  std::size_t count = 0;
  series::instant first = 0;
  unsigned time_k = 0, places = 0, value_k = 0;
  bool is_double_delta = false;
  std::vector<exception_entry> exceptions{};
};

bool read_byte(std::string_view& input, unsigned& byte) noexcept {
  if (input.empty()) return false;
  byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return true;
}

bool read_header(std::string_view& input, chunk_header& out) {
  unsigned form = 0, places = 0;
  std::uint64_t count = 0, first = 0, exception_count = 0;
  if (!read_byte(input, form) || form < 1 || form > 2 || !read_varint(input, count) || count == 0 ||
      count > max_chunk_samples || !read_varint(input, first) || !read_byte(input, out.time_k) || out.time_k > 63)
    return false;
  out.is_decimal = form == 1;
  out.count = static_cast<std::size_t>(count);
  out.first = zigzag_decode(first);
  if (!out.is_decimal) return true;
  if (!read_byte(input, places) || !read_byte(input, out.value_k) || out.value_k > 63 || !read_varint(input, exception_count) ||
      exception_count > count)
    return false;
  out.is_double_delta = (places & double_delta_flag) != 0;
  out.places = places & ~double_delta_flag;
  if (out.places > max_places) return false;
  std::uint64_t index = 0;
  for (std::uint64_t i = 0; i < exception_count; ++i) {
    std::uint64_t step = 0, bits = 0;
    if (!read_varint(input, step) || step >= count || (i > 0 && step == 0)) return false;
    index += step;
    if (index >= count || input.size() < 8) return false;
    for (unsigned byte = 0; byte < 8; ++byte) bits |= std::uint64_t{static_cast<unsigned char>(input[byte])} << (8 * byte);
    input.remove_prefix(8);
    out.exceptions.push_back({static_cast<std::size_t>(index), std::bit_cast<double>(bits)});
  }
  return true;
}

}  // namespace

std::string encode_chunk(const std::vector<series::sample>& samples) {
  std::string out;
  out.reserve(samples.size() * 3 + 32);
  std::vector<std::uint64_t> times;
  times.reserve(samples.size());
  std::int64_t step = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto difference = wrapped_difference(samples[i].time, samples[i - 1].time);
    times.push_back(zigzag_encode(wrapped_difference(difference, step)));
    step = difference;
  }
  std::uint64_t unused = 0;
  // The first number is the step itself, so it must not influence `k`.
  const auto time_k = times.size() < 2 ? 0 : best_k({times.begin() + 1, times.end()}, unused);
  decimal_encoding decimal;
  const bool is_decimal = encode_decimal(samples, decimal);
  out.push_back(is_decimal ? 1 : 2);
  append_varint(out, samples.size());
  append_varint(out, zigzag_encode(samples.front().time));
  out.push_back(static_cast<char>(time_k));
  if (is_decimal) {
    out.push_back(static_cast<char>(decimal.places | (decimal.is_double_delta ? double_delta_flag : 0)));
    out.push_back(static_cast<char>(decimal.k));
    append_varint(out, decimal.exceptions.size());
    std::size_t last = 0;
    for (const auto index : decimal.exceptions) {
      append_varint(out, index - last);
      append_raw(out, samples[index].value);
      last = index;
    }
  }
  bit_writer bits(out);
  for (const auto delta : times) bits.write_number(delta, time_k);
  if (is_decimal) {
    for (const auto number : decimal.numbers) bits.write_number(number, decimal.k);
  } else {
    write_xor_values(bits, samples);
  }
  bits.finish();
  return out;
}

bool decode_chunk(std::string_view bytes, series::instant start, series::instant end, std::vector<series::sample>& output) {
  chunk_header header;
  if (!read_header(bytes, header)) return false;
  // Each sample takes at least one bit, so a few bytes cannot request much memory.
  if (bytes.size() * 8 < header.count) return false;
  std::vector<series::sample> out(header.count);
  bit_reader bits(bytes);
  out[0].time = header.first;
  std::int64_t difference = 0;
  for (std::size_t i = 1; i < out.size(); ++i) {
    difference = wrapped_sum(difference, zigzag_decode(bits.read_number(header.time_k)));
    out[i].time = wrapped_sum(out[i - 1].time, difference);
    if (out[i].time <= out[i - 1].time || bits.is_past_end()) return false;
  }
  if (header.is_decimal) {
    std::int64_t integer = 0, last = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto number = zigzag_decode(bits.read_number(header.value_k));
      const auto step = header.is_double_delta && i > 0 ? wrapped_sum(last, number) : number;
      integer = wrapped_sum(integer, step);
      last = i == 0 ? 0 : step;
      out[i].value = static_cast<double>(integer) / powers_of_ten[header.places];
    }
    if (bits.is_past_end()) return false;
    for (const auto& exception : header.exceptions) out[exception.index].value = exception.value;
  } else if (!read_xor_values(bits, out)) {
    return false;
  }
  if (bits.consumed_bytes() != bytes.size()) return false;
  const auto first = std::lower_bound(out.begin(), out.end(), start, [](const auto& a, auto time) { return a.time < time; });
  const auto last = std::upper_bound(first, out.end(), end, [](auto time, const auto& a) { return time < a.time; });
  output.insert(output.end(), first, last);
  return true;
}

namespace {

constexpr unsigned time_change_flag = 0x80;

/// A range of the eight bytes of a value, most significant byte first.
struct byte_range {
  std::uint8_t start = 0, length = 0;
};

constexpr auto byte_ranges = [] {
  std::array<byte_range, 37> out{};  // 0: none
  std::size_t i = 1;
  for (std::uint8_t start = 0; start < 8; ++start)
    for (std::uint8_t length = 1; start + length <= 8; ++length) out[i++] = {start, length};
  return out;
}();

/// The index of the first range that begins at each byte.
constexpr auto first_range_at = [] {
  std::array<std::uint8_t, 8> out{};
  std::uint8_t index = 1;
  for (std::uint8_t start = 0; start < 8; ++start) {
    out[start] = index;
    index = static_cast<std::uint8_t>(index + 8 - start);
  }
  return out;
}();

}  // namespace

void head::add(series::sample sample) {
  const auto current = std::bit_cast<std::uint64_t>(sample.value);
  const auto changed = current ^ (count_ == 0 ? 0 : std::bit_cast<std::uint64_t>(last_.value));
  unsigned code = 0;
  if (changed != 0) {
    const auto start = static_cast<unsigned>(std::countl_zero(changed)) / 8;
    const auto trailing = static_cast<unsigned>(std::countr_zero(changed)) / 8;
    code = first_range_at[start] + (8 - start - trailing) - 1;
  }
  if (count_ == 0) {
    first_ = sample.time;
    bytes_.push_back(static_cast<char>(code));
  } else {
    const auto difference = wrapped_difference(sample.time, last_.time);
    const auto change = wrapped_difference(difference, difference_);
    difference_ = difference;
    bytes_.push_back(static_cast<char>(code | (change != 0 ? time_change_flag : 0)));
    if (change != 0) append_varint(bytes_, zigzag_encode(change));
  }
  const auto range = byte_ranges[code];
  for (unsigned i = 0; i < range.length; ++i) bytes_.push_back(static_cast<char>(changed >> (56 - 8 * (range.start + i))));
  last_ = sample;
  ++count_;
}

void head::read(series::instant start, series::instant end, std::vector<series::sample>& output) const {
  std::string_view remaining = bytes_;
  std::uint64_t value = 0;
  auto time = first_;
  std::int64_t difference = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const unsigned code = static_cast<unsigned char>(remaining.front());
    remaining.remove_prefix(1);
    if ((code & time_change_flag) != 0) {
      std::uint64_t change = 0;
      if (!read_varint(remaining, change)) return;
      difference = wrapped_sum(difference, zigzag_decode(change));
    }
    if (i > 0) time = wrapped_sum(time, difference);
    const auto range = byte_ranges[code & ~time_change_flag];
    for (unsigned byte = 0; byte < range.length; ++byte)
      value ^= std::uint64_t{static_cast<unsigned char>(remaining[byte])} << (56 - 8 * (range.start + byte));
    remaining.remove_prefix(range.length);
    if (time > end) return;
    if (time >= start) output.push_back({time, std::bit_cast<double>(value)});
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

unsigned significant_bytes(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return bits == 0 ? 0 : 8 - static_cast<unsigned>(std::countr_zero(bits)) / 8;
}

}  // namespace

std::string encode_tail_row(const std::vector<numbered_sample>& samples) {
  std::string out;
  out.reserve(samples.size() * 8 + 16);
  out.push_back(1);
  append_varint(out, samples.size());
  std::int64_t previous = 0;
  for (const auto& entry : samples) {
    append_varint(out, zigzag_encode(wrapped_difference(entry.series_id, previous)));
    previous = entry.series_id;
  }
  previous = 0;
  for (const auto& item : samples) {
    append_varint(out, zigzag_encode(wrapped_difference(item.sample.time, previous)));
    previous = item.sample.time;
  }
  for (std::size_t i = 0; i < samples.size(); i += 2) {
    const auto first = significant_bytes(samples[i].sample.value);
    const auto second = i + 1 < samples.size() ? significant_bytes(samples[i + 1].sample.value) : 0;
    out.push_back(static_cast<char>(first << 4 | second));
  }
  for (const auto& element : samples) {
    const auto bits = std::bit_cast<std::uint64_t>(element.sample.value);
    for (unsigned i = 0; i < significant_bytes(element.sample.value); ++i)
      out.push_back(static_cast<char>(bits >> (56 - 8 * i)));
  }
  return out;
}

bool decode_tail_row(std::string_view bytes, std::vector<numbered_sample>& output) {
  if (bytes.empty()) return false;
  const char kind = bytes.front();
  bytes.remove_prefix(1);
  std::uint64_t number = 0;
  if (!read_varint(bytes, number)) return false;
  // A sample takes at least two bytes.
  if (kind != 1 || number > bytes.size() / 2) return false;
  std::vector<numbered_sample> out(static_cast<std::size_t>(number));
  std::int64_t previous = 0;
  for (auto& entry : out) {
    if (!read_varint(bytes, number)) return false;
    previous = entry.series_id = wrapped_sum(previous, zigzag_decode(number));
  }
  previous = 0;
  for (auto& item : out) {
    if (!read_varint(bytes, number)) return false;
    previous = item.sample.time = wrapped_sum(previous, zigzag_decode(number));
  }
  if (bytes.size() < (out.size() + 1) / 2) return false;
  const auto lengths = bytes.substr(0, (out.size() + 1) / 2);
  bytes.remove_prefix(lengths.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto packed = static_cast<unsigned char>(lengths[i / 2]);
    const unsigned length = i % 2 == 0 ? packed >> 4 : packed & 15u;
    if (length > 8 || bytes.size() < length) return false;
    std::uint64_t bits = 0;
    for (unsigned byte = 0; byte < length; ++byte)
      bits |= std::uint64_t{static_cast<unsigned char>(bytes[byte])} << (56 - 8 * byte);
    bytes.remove_prefix(length);
    out[i].sample.value = std::bit_cast<double>(bits);
  }
  if (!bytes.empty()) return false;
  output.insert(output.end(), out.begin(), out.end());
  return true;
}

}  // namespace hondana::samples

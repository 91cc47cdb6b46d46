/// Samples as the store of metrics has them on disk: what is read of any bytes is in order and reads back the same, and any
/// samples come back bit for bit.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "sources/metrics/samples/sample_encoding.hpp"
#include "sources/metrics/samples/series_index.hpp"

namespace {

using namespace hondana;
using series::sample;

constexpr auto earliest = std::numeric_limits<series::instant>::min();
constexpr auto latest = std::numeric_limits<series::instant>::max();

void need(bool is_so) {
  if (!is_so) std::abort();
}

bool are_same(const sample& a, const sample& b) {
  return a.time == b.time && std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

bool are_alike(const std::vector<sample>& a, const std::vector<sample>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), are_same);
}

void come_back(const std::vector<sample>& of) {
  std::vector<sample> again;
  need(samples::decode_chunk(samples::encode_chunk(of), earliest, latest, again));
  need(are_alike(again, of));
  samples::head into;
  for (const auto& one : of) into.add(one);
  again.clear();
  into.read(earliest, latest, again);
  need(are_alike(again, of));
}

void read_as_chunk(std::string_view bytes) {
  std::vector<sample> all;
  if (!samples::decode_chunk(bytes, earliest, latest, all)) {
    need(all.empty());
    return;
  }
  need(!all.empty() && all.size() <= samples::max_chunk_samples);
  for (std::size_t i = 1; i < all.size(); ++i) need(all[i - 1].time < all[i].time);
  const auto from = all[all.size() / 3].time, to = all[all.size() - all.size() / 3 - 1].time;
  std::vector<sample> part;
  need(samples::decode_chunk(bytes, from, to, part));
  std::erase_if(all, [&](const sample& one) { return one.time < from || one.time > to; });
  need(are_alike(part, all));
  if (!part.empty()) come_back(part);
}

void read_as_tail_row(std::string_view bytes) {
  std::vector<samples::numbered_sample> all, again;
  if (!samples::decode_tail_row(bytes, all)) {
    need(all.empty());
    return;
  }
  need(samples::decode_tail_row(samples::encode_tail_row(all), again));
  need(std::equal(all.begin(), all.end(), again.begin(), again.end(),
                  [](const auto& a, const auto& b) { return a.series_id == b.series_id && are_same(a.sample, b.sample); }));
}

void read_as_identity(std::string_view bytes) {
  const auto of = samples::decode_identity(bytes);
  if (of) need(samples::decode_identity(samples::encode_identity(*of)) == of);
}

/// Sixteen bytes a sample, in the order of their instants.
void read_as_samples(std::string_view bytes) {
  std::vector<sample> all;
  for (; bytes.size() >= 16 && all.size() < samples::max_chunk_samples; bytes.remove_prefix(16)) {
    sample one;
    std::memcpy(&one.time, bytes.data(), 8);
    std::memcpy(&one.value, bytes.data() + 8, 8);
    all.push_back(one);
  }
  std::sort(all.begin(), all.end(), [](const sample& a, const sample& b) { return a.time < b.time; });
  all.erase(std::unique(all.begin(), all.end(), [](const sample& a, const sample& b) { return a.time == b.time; }), all.end());
  if (!all.empty()) come_back(all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      read_as_chunk(rest);
      break;
    case 1:
      read_as_tail_row(rest);
      break;
    case 2:
      read_as_identity(rest);
      break;
    default:
      read_as_samples(rest);
  }
  return 0;
}

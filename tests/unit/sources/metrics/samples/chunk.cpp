/// Samples as bytes and back.
#include "sources/metrics/samples/sample_encoding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace hondana::samples {
namespace {

using series::sample;

constexpr auto earliest = std::numeric_limits<series::instant>::min();
constexpr auto latest = std::numeric_limits<series::instant>::max();

bool are_same(const std::vector<sample>& a, const std::vector<sample>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const sample& one, const sample& other) {
    return one.time == other.time && std::bit_cast<std::uint64_t>(one.value) == std::bit_cast<std::uint64_t>(other.value);
  });
}

std::vector<sample> read_back(const std::vector<sample>& of) {
  std::vector<sample> out;
  EXPECT_TRUE(decode_chunk(encode_chunk(of), earliest, latest, out));
  return out;
}

std::vector<sample> grown(const std::vector<sample>& of) {
  head into;
  for (const auto& one : of) into.add(one);
  std::vector<sample> out;
  into.read(earliest, latest, out);
  return out;
}

std::vector<sample> at_steps(std::size_t count, series::duration step, const auto& value_at) {
  std::vector<sample> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({1'700'000'000'000 + static_cast<series::instant>(i) * step, value_at(i)});
  return out;
}

std::vector<std::vector<sample>> odd_rows() {
  std::mt19937_64 draw(7);
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<std::vector<sample>> out{
      {{0, 0}},
      {{earliest, -0.0}},
      {{latest, 1}},
      {{earliest, 1}, {latest, 2}},
      {{earliest, 1}, {-1, 2}, {0, 3}, {latest, 4}},
      {{1, inf}, {2, -inf}, {3, inf}},
      {{1, series::stale_marker()}},
      {{1, 5}, {2, series::stale_marker()}},
      {{1, std::bit_cast<double>(0x7ff8dead0000beefu)}, {2, std::bit_cast<double>(0xfff0000000000001u)}, {3, -0.0}, {4, 0.0}},
      {{1, std::numeric_limits<double>::max()}, {2, std::numeric_limits<double>::denorm_min()}, {3, -9007199254740991.0}},
      {{1, 9007199254740993.0}, {2, 9007199254740991.0}, {3, 1e300}},
  };
  out.push_back(at_steps(120, 15'000, [](std::size_t) { return 1.0; }));
  out.push_back(at_steps(120, 15'000, [](std::size_t i) { return static_cast<double>(i) * 1234; }));
  out.push_back(at_steps(120, 15'000, [](std::size_t i) { return 0.01 * static_cast<double>(i * 37); }));
  out.push_back(at_steps(120, 15'000, [](std::size_t i) { return i == 60 ? series::stale_marker() : 17.25; }));
  out.push_back(at_steps(120, 15'000, [](std::size_t i) { return std::sin(static_cast<double>(i)); }));
  out.push_back(at_steps(max_chunk_samples, 1, [&](std::size_t) { return std::bit_cast<double>(draw()); }));
  for (int i = 0; i < 300; ++i) {
    std::vector<sample> row;
    series::instant at = static_cast<series::instant>(draw() >> (draw() % 64));
    const auto count = draw() % 200 + 1;
    for (std::uint64_t j = 0; j < count && at < latest - (std::int64_t{1} << 40); ++j) {
      const double value = draw() % 9 == 0   ? std::bit_cast<double>(draw())
                           : draw() % 2 == 0 ? static_cast<double>(draw() % 1000)
                                             : static_cast<double>(draw() % 100000) / 1000;
      row.push_back({at, value});
      at += static_cast<series::instant>(draw() >> (24 + draw() % 39)) + 1;
    }
    if (!row.empty()) out.push_back(std::move(row));
  }
  return out;
}

TEST(sample_chunk, gives_every_bit_back) {
  for (const auto& row : odd_rows()) EXPECT_TRUE(are_same(read_back(row), row)) << row.size() << " from " << row.front().time;
}

TEST(sample_head, gives_every_bit_back) {
  for (const auto& row : odd_rows()) EXPECT_TRUE(are_same(grown(row), row)) << row.size() << " from " << row.front().time;
}

TEST(sample_chunk, reads_the_time_that_is_asked_for_with_both_ends) {
  const auto row = at_steps(100, 1000, [](std::size_t i) { return static_cast<double>(i); });
  std::vector<sample> out;
  ASSERT_TRUE(decode_chunk(encode_chunk(row), row[10].time, row[20].time, out));
  EXPECT_TRUE(are_same(out, {row.begin() + 10, row.begin() + 21}));
  out.clear();
  ASSERT_TRUE(decode_chunk(encode_chunk(row), row[10].time + 1, row[11].time - 1, out));
  EXPECT_TRUE(out.empty());
  head into;
  for (const auto& one : row) into.add(one);
  into.read(row[10].time, row[20].time, out);
  EXPECT_TRUE(are_same(out, {row.begin() + 10, row.begin() + 21}));
}

TEST(sample_chunk, is_small_for_what_metrics_are_usually_like) {
  std::mt19937_64 draw(11);
  const auto bytes_a_sample = [](const std::vector<sample>& of) {
    return static_cast<double>(encode_chunk(of).size()) / static_cast<double>(of.size());
  };
  double total = 0;
  EXPECT_LT(bytes_a_sample(at_steps(120, 15'000, [](std::size_t) { return 42.0; })), 0.5);
  EXPECT_LT(bytes_a_sample(at_steps(120, 15'000, [&](std::size_t) { return total += static_cast<double>(draw() % 100); })),
            1.6);
  EXPECT_LT(
      bytes_a_sample(at_steps(120, 15'000, [&](std::size_t) { return (total += static_cast<double>(draw() % 1500)) / 100; })),
      2.5);
}

TEST(sample_chunk, is_refused_when_it_is_cut_or_longer_and_never_read_beyond) {
  for (const auto& row : odd_rows()) {
    if (row.size() > 200) continue;
    const auto bytes = encode_chunk(row);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      std::vector<sample> out;
      EXPECT_FALSE(decode_chunk(std::string_view(bytes).substr(0, size), earliest, latest, out))
          << size << " of " << bytes.size();
      EXPECT_TRUE(out.empty());
    }
    std::vector<sample> out;
    EXPECT_FALSE(decode_chunk(bytes + '\0', earliest, latest, out));
  }
}

TEST(tail_row, gives_every_bit_back_and_is_refused_when_it_is_cut) {
  std::vector<numbered_sample> row;
  std::int64_t id = 5;
  for (const auto& samples : odd_rows())
    for (const auto& one : samples)
      if (row.size() < 501) row.push_back({id += static_cast<std::int64_t>(row.size() % 7) - 2, one});
  const auto bytes = encode_tail_row(row);
  std::vector<numbered_sample> out;
  ASSERT_TRUE(decode_tail_row(bytes, out));
  ASSERT_EQ(out.size(), row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_EQ(out[i].series_id, row[i].series_id);
    EXPECT_TRUE(are_same({out[i].sample}, {row[i].sample}));
  }
  out.clear();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_tail_row(std::string_view(bytes).substr(0, size), out)) << size;
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace hondana::samples

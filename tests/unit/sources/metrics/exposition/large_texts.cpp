/// Expositions that are long: what they cost.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include <gtest/gtest.h>

#include "unit/sources/metrics/exposition/heard.hpp"

namespace hondana::exposition {
namespace {

class counting final : public sample_handler {
 public:
  void family(std::string_view /*name*/, const series::metadata& /*of*/) override { ++families; }
  bool sample(const series::identity& of, double /*value*/, std::optional<series::instant> /*at*/) override {
    ++samples;
    labels += of.labels.size();
    return true;
  }
  std::size_t families = 0, samples = 0, labels = 0;
};

/// Bytes in use on the heap.
std::size_t heap_in_use() { return ::mallinfo2().uordblks; }

TEST(exposition_parser, takes_64_megabytes_and_a_million_series_with_memory_of_a_line) {
  parse_limits most;
  most.max_bytes = std::size_t{1} << 40;
  most.max_samples = SIZE_MAX;
  counting all;
  parser by(parser::format::prometheus, all, most);
  std::size_t written = 0, rows = 0, highest = 0;
  std::string piece;
  const auto before = heap_in_use();
  while (written < (std::size_t{64} << 20) || rows < 1'000'000) {
    piece.clear();
    for (int i = 0; i < 500; ++i)
      piece.append("requests_total{handler=\"/api/")
          .append(std::to_string(rows++))
          .append("\",code=\"200\",le=\"0.5\"} 1234\n");
    written += piece.size();
    // Ends within a line.
    ASSERT_TRUE(by.parse(std::string_view(piece).substr(0, 10'001)));
    ASSERT_TRUE(by.parse(std::string_view(piece).substr(10'001)));
    highest = std::max(highest, heap_in_use());
  }
  ASSERT_TRUE(by.finish());
  EXPECT_EQ(all.samples, rows);
  EXPECT_EQ(all.labels, rows * 3);
  EXPECT_LT(highest - before, std::size_t{1} << 20);
}

TEST(exposition_parser, stops_at_a_line_without_an_end_before_it_fills_memory) {
  counting all;
  parser by(parser::format::prometheus, all);
  const std::string piece(60'000, 'x');
  ASSERT_TRUE(by.parse(piece));
  const auto done = by.parse(piece);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::response_too_large);
}

}  // namespace
}  // namespace hondana::exposition

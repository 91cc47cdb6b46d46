/// Forwards and backwards, in pages of any size and by any cursor: the same records.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

using test::lots;

std::string two(std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

/// A log of one of some kinds, with records of several lines, blank lines, long lines, bytes that are no text, and secrets.
std::string drawn_log(lots& from, std::size_t kind, std::size_t records) {
  std::string out;
  for (std::size_t i = 0; i < records; ++i) {
    const auto stamp = "2026-01-02T" + two(i / 3600 % 24) + ":" + two(i / 60 % 60) + ":" + two(i % 60);
    if (kind == 0) out += stamp + "Z INFO " + from.word(8) + "\n";
    if (kind == 1)
      out +=
          "{\"level\":\"warn\",\"n\":" + std::to_string(i) + (from.below(2) == 0 ? "" : ",\"time\":\"" + stamp + "Z\"") + "}\n";
    if (kind == 2) out += from.word(5) + " " + from.alnum(9) + "\n";
    switch (from.below(9)) {
      case 0:
        for (auto lines = from.below(30); lines > 0; --lines) out += "    at " + from.word(20) + "\n";
        break;
      case 1:
        out += "Caused by: " + from.word(5) + "\r\n\n";
        break;
      case 2:
        if (from.below(20) == 0) out += "  " + from.alnum(from.below(200'000)) + "\n";
        break;
      case 3:
        out += " \xFF\xC3(" + std::string(3, '\0') + "\x1B[31mred\x1B[0m\n";
        break;
      case 4:
        out += "  password=" + from.password(12) + "\n";
        break;
      default:
        break;
    }
  }
  if (from.below(3) == 0) out += "  no end";
  return out;
}

void expect_same(const std::vector<log_record>& forwards, std::vector<log_record> backwards) {
  std::reverse(backwards.begin(), backwards.end());
  ASSERT_EQ(forwards.size(), backwards.size());
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    ASSERT_EQ(forwards[i].text, backwards[i].text) << i;
    ASSERT_EQ(forwards[i].time, backwards[i].time) << i << " " << forwards[i].text;
    ASSERT_EQ(forwards[i].level, backwards[i].level) << i;
    ASSERT_EQ(forwards[i].cut_bytes, backwards[i].cut_bytes) << i;
    ASSERT_EQ(forwards[i].source, backwards[i].source) << i;
  }
}

TEST(grouping, is_the_same_forwards_and_backwards_whatever_the_pages) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    lots from(seed);
    made_log made;
    made.with.redact = seed % 2 == 0;
    made.write("app.log.1", drawn_log(from, seed % 3, from.below(400)));
    made.write("app.log", drawn_log(from, seed % 3, 1 + from.below(400)));
    made.run("touch -d '2026-01-03 00:00:00' app.log app.log.1");
    const auto one = made.open();
    const auto forwards = walked(*one);
    ASSERT_FALSE(forwards.empty());
    log_query what;
    what.lines = 1 + from.below(50);
    expect_same(forwards, all_pages(*one, what));
    // Little at a time, so that pages end inside of blocks and of records.
    what.lines = 1000;
    read_budget most;
    most.max_scanned_bytes = 4096 + from.below(100'000);
    expect_same(forwards, all_pages(*one, what, most));
  }
}

TEST(grouping, finds_by_an_expression_what_matches_record_by_record) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    lots from(seed);
    made_log made;
    made.write("app.log", drawn_log(from, seed % 3, 600));
    made.run("touch -d '2026-01-03 00:00:00' app.log");
    const auto one = made.open();
    for (const std::string grep :
         {"a", "INFO [a-m]", "^    at .*z$", "[^x]zz", "red", "Caused by[\\s\\S]*at", "\\*\\*\\*", "\\Aa", "no end", "q\\z"}) {
      SCOPED_TRACE(grep);
      log_query what;
      what.grep = grep;
      what.lines = 40;
      const auto wanted = record_matcher::compile(what);
      ASSERT_TRUE(wanted);
      std::vector<log_record> expected;
      for (auto& each : walked(*one)) {
        if (wanted->accepts(each)) expected.push_back(each);
      }
      expect_same(expected, all_pages(*one, what));
    }
  }
}

}  // namespace
}  // namespace hondana::records

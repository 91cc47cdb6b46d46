/// Time zones: files of the database, and names after times.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/time_zone.hpp"

namespace hondana::records {
namespace {

std::string big_endian(std::int64_t value, int bytes) {
  std::string out;
  for (int i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i));
  return out;
}

struct change {
  std::int64_t time;
  char type;
};

/// One part of a file, with offsets of types in seconds.
std::string part_of_file(char version, int time_bytes, const std::vector<change>& changes, const std::vector<int>& offsets) {
  std::string out = std::string("TZif") + version + std::string(15, '\0');
  for (const auto count : {0U, 0U, 0U, static_cast<unsigned>(changes.size()), static_cast<unsigned>(offsets.size()), 4U})
    out += big_endian(count, 4);
  for (const auto& each : changes) out += big_endian(each.time, time_bytes);
  for (const auto& each : changes) out += each.type;
  for (const auto offset : offsets) out += big_endian(offset, 4) + std::string(2, '\0');
  return out + std::string("ABC\0", 4);
}

std::string zone_file(const std::vector<change>& changes, const std::vector<int>& offsets, const std::string& footer) {
  return part_of_file('2', 4, {}, {0}) + part_of_file('2', 8, changes, offsets) + '\n' + footer + '\n';
}

TEST(zone_rules, follow_transitions_and_then_the_footer) {
  const auto berlin =
      zone_rules::parse(zone_file({{1774746000, 1}, {1792890000, 0}}, {3600, 7200}, "CET-1CEST,M3.5.0,M10.5.0/3"));
  ASSERT_TRUE(berlin);
  EXPECT_EQ(berlin->offset_at(1774745999), 3600);  // 2026-03-29T00:59:59Z
  EXPECT_EQ(berlin->offset_at(1774746000), 7200);
  EXPECT_EQ(berlin->offset_at(1792889999), 7200);  // 2026-10-25T00:59:59Z
  EXPECT_EQ(berlin->offset_at(1792890000), 3600);
  EXPECT_EQ(berlin->offset_at(1806195599), 3600);  // 2027-03-28T00:59:59Z
  EXPECT_EQ(berlin->offset_at(1806195600), 7200);
  EXPECT_EQ(berlin->to_utc({2027, 7, 1, 12, 0, 0, 5}), to_instant({2027, 7, 1, 10, 0, 0, 5}));
  EXPECT_EQ(berlin->to_utc({2027, 1, 1, 12, 0, 0, 0}), to_instant({2027, 1, 1, 11, 0, 0, 0}));
}

TEST(zone_rules, of_the_southern_half_of_the_earth_have_summer_in_january) {
  const auto sydney = zone_rules::parse(zone_file({}, {36'000}, "AEST-10AEDT,M10.1.0,M4.1.0/3"));
  ASSERT_TRUE(sydney);
  EXPECT_EQ(sydney->offset_at(1767225600), 39'600);  // 2026-01-01
  EXPECT_EQ(sydney->offset_at(1782864000), 36'000);  // 2026-07-01
}

TEST(zone_rules, of_version_1_have_no_footer) {
  const auto rules = zone_rules::parse(part_of_file('\0', 4, {{1000, 1}}, {0, 32'400}));
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->offset_at(999), 0);
  EXPECT_EQ(rules->offset_at(2'000'000'000), 32'400);
}

TEST(zone_rules, of_malformed_files_are_rejected) {
  const auto good = zone_file({{1000, 1}}, {0, 32'400}, "JST-9");
  ASSERT_TRUE(zone_rules::parse(good));
  for (std::size_t size = 0; size + 8 < good.size(); ++size) EXPECT_FALSE(zone_rules::parse(good.substr(0, size))) << size;
  EXPECT_FALSE(zone_rules::parse("TZif")) << "no header";
  EXPECT_FALSE(zone_rules::parse(zone_file({{1000, 2}}, {0, 32'400}, "JST-9"))) << "type out of range";
  EXPECT_FALSE(zone_rules::parse(zone_file({{1000, 1}, {1000, 0}}, {0, 32'400}, "JST-9"))) << "times not in order";
  EXPECT_FALSE(zone_rules::parse(zone_file({{1000, 0}}, {1'000'000}, "JST-9"))) << "offset out of range";
  EXPECT_FALSE(zone_rules::parse(part_of_file('\0', 4, {}, {}))) << "no types";
  auto huge_counts = good;
  for (std::size_t i = 20; i < 44; ++i) huge_counts[i] = '\x7F';
  EXPECT_FALSE(zone_rules::parse(huge_counts)) << "counts beyond the file";
  EXPECT_FALSE(zone_rules::parse(good + std::string(zone_rules::max_file_bytes, ' '))) << "too large";
  for (const auto* footer :
       {"J-9", "<+09-9", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,J0,J9", "CET-1CEST,366,9", "CET-999", "CET-1CEST,M3.5.0,M10.5.0x"})
    EXPECT_FALSE(zone_rules::parse(zone_file({}, {0}, footer))) << footer;
  for (const auto* footer : {"JST-9", "<+0330>-3:30", "CET-1CEST,J60/0,365/-1", "EST5EDT4:30,M3.2.0,M11.1.0"})
    EXPECT_TRUE(zone_rules::parse(zone_file({}, {0}, footer))) << footer;
}

TEST(zones, are_read_from_the_database_by_their_names) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/America/Sao_Paulo")) GTEST_SKIP() << "no time zone database";
  const auto tokyo = parse_zone("Asia/Tokyo] x");
  ASSERT_TRUE(tokyo && tokyo->rules != nullptr);
  EXPECT_EQ(tokyo->size, 10U);
  EXPECT_EQ(tokyo->rules->to_utc({2026, 1, 31, 8, 0, 0, 0}), to_instant({2026, 1, 30, 23, 0, 0, 0}));
  const auto sao_paulo = parse_zone("America/Sao_Paulo]");
  ASSERT_TRUE(sao_paulo && sao_paulo->rules != nullptr);
  EXPECT_EQ(sao_paulo->rules->to_utc({2026, 1, 30, 21, 45, 0, 0}), to_instant({2026, 1, 31, 0, 45, 0, 0}));
  const auto japan = parse_zone("Japan]");
  EXPECT_TRUE(japan && japan->rules != nullptr);
}

TEST(zones, are_not_any_words_after_times) {
  for (const auto* text : {"", "INFO", "Info", "GET /", "JSTX", "Asia/", "Asia/Nowhere]", "Asia/../../etc/passwd]",
                           "Etc/../UTC]", "America//Lima]", "Japan x", "Nowhere]", "+9", "+", "zulu", "UTC0"})
    EXPECT_FALSE(parse_zone(text)) << text;
}

}  // namespace
}  // namespace hondana::records

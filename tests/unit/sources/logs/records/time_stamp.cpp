/// Times in lines, as programs write them.
#include "sources/logs/records/timestamp.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::records {
namespace {

constexpr instant at_noon = 1767355445'000000;  // 2026-01-02T12:04:05Z
constexpr instant half = at_noon + 500'000;

struct line_with_time {
  std::string_view line;
  instant time;
};

TEST(time_stamp, recognises_what_programs_write) {
  const timestamp_parser in(time_zone(0), at_noon + 86'400'000'000);
  const std::vector<line_with_time> all{
      {"2026-01-02T12:04:05Z started", at_noon},
      {"2026-01-02T12:04:05.5Z started", half},
      {"2026-01-02T12:04:05,500+00:00 started", half},
      {"2026-01-02T21:04:05+09:00 started", at_noon},
      {"2026-01-02T21:04:05.500000+0900 x", half},
      {"2026-01-02T07:04:05-05 x", at_noon},
      {"2026-01-02 12:04:05 started", at_noon},
      {"2026-01-02 12:04:05.500123 started", half + 123},
      {"2026-01-02 12:04:05,500 INFO root: python", half},
      {"2026-01-02 12:04:05 UTC [71] LOG:  postgres", at_noon},
      {"2026-01-02 21:04:05 +0900 x", at_noon},
      {"2026-01-02_12:04:05 x", at_noon},
      {"20260102T120405Z x", at_noon},
      {"20260102 12:04:05 x", at_noon},
      {"[2026-01-02 12:04:05] x", at_noon},
      {"[2026-01-02T12:04:05Z INFO  app] env_logger", at_noon},
      {"\x1B[2m2026-01-02T12:04:05Z\x1B[0m \x1B[32m INFO\x1B[0m tracing", at_noon},
      {"INFO  [2026-01-02 12:04:05,500] dropwizard", half},
      {"INFO 2026-01-02 12:04:05 behind a level", at_noon},
      {"[main] 2026-01-02 12:04:05.500 behind a thread", half},
      {"Jan  2 12:04:05 host app[7]: syslog", at_noon},
      {"Jan 02 12:04:05 host app[7]: syslog", at_noon},
      {"<34>Jan  2 12:04:05 host app: RFC 3164", at_noon},
      {"<165>1 2026-01-02T12:04:05.500Z host app 7 - - RFC 5424", half},
      {"192.0.2.1 - frank [02/Jan/2026:21:04:05 +0900] \"GET / HTTP/1.1\" 200 7", at_noon},
      {"2026/01/02 12:04:05 [error] 7#7: *1 nginx", at_noon},
      {"2026/01/02 12:04:05.500000 main.go:7: go", half},
      {"I0102 12:04:05.500000   7 main.cc:7] glog", half},
      {"E0102 12:04:05.500000       1 klog.go:7] klog", half},
      {"W20260102 12:04:05.500000   7 main.cc:7] glog with a year", half},
      {"Fri Jan  2 12:04:05 2026 ctime", at_noon},
      {"[Fri Jan 02 12:04:05.500000 2026] [core:error] Apache", half},
      {"Fri Jan  2 12:04:05 UTC 2026 date", at_noon},
      {"Fri Jan  2 12:04:05 GMT 2026", at_noon},
      {"Fri Jan  2 21:04:05 +0900 2026 x", at_noon},
      {"Jan  2 12:04:05 2001 requests so far", at_noon},
      {"02-Jan-2026 12:04:05.500 INFO Tomcat", half},
      {"Fri, 02 Jan 2026 12:04:05 GMT x", at_noon},
      {"1767355445 x", at_noon},
      {"1767355445.500 squid", half},
      {"1767355445500 x", half},
      {"1767355445500000 x", half},
      {"1767355445500000000 x", half},
      {R"({"level":"info","time":"2026-01-02T12:04:05.5Z","msg":"x"})", half},
      {R"({"ts":1767355445.5,"msg":"zap"})", half},
      {R"({"level":30,"time":1767355445500,"msg":"pino"})", half},
      {R"({"@timestamp":"2026-01-02T12:04:05.500Z","message":"elastic"})", half},
      {R"({"a":{"time":"2025-01-01T00:00:00Z"},"timestamp":"2026-01-02 12:04:05"})", at_noon},
      {R"({"t":"1767355445"})", at_noon},
      {"time=2026-01-02T12:04:05Z level=info msg=x", at_noon},
      {"time=\"2026-01-02T12:04:05Z\" level=info", at_noon},
      {"level=info ts=1767355445.5 msg=x", half},
      {"2026-01-02T12:04:05.500Z stdout F {\"a\":1}", half},
      {"2026-01-02T12:04", at_noon - 5'000'000},
      {"type=SYSCALL msg=audit(1767355445.500:7): x", 0},
      // None.
      {"", 0},
      {"started", 0},
      {"    at 2026-01-02T12:04:05Z", 0},
      {"2026-13-02T12:04:05Z", 0},
      {"2026-02-30 12:04:05", 0},
      {"2026-01-02", 0},
      {"2026-01-02 25:04:05", 0},
      {"12345678 x", 0},
      {"12:04:05 x", 0},
      {"17673554451 eleven figures", 0},
      {"May the force be with you", 0},
      {"Mon 2 x", 0},
      {"took 1767355445 of something", 0},
      {R"({"took":1767355445})", 0},
      {R"({"time":"soon"})", 0},
      {"Foo99 12:04:05", 0},
  };
  for (const auto& one : all) {
    const auto found = in.find_in_line(one.line);
    if (one.time == 0) {
      if (found) ADD_FAILURE() << one.line << ": " << found->time;
    } else if (!found) {
      ADD_FAILURE() << one.line << ": nothing";
    } else {
      EXPECT_EQ(found->time, one.time) << one.line << ": " << one.line.substr(found->begin, found->end - found->begin);
    }
  }
}

TEST(time_stamp, takes_a_year_that_is_missing_from_the_latest_time) {
  const auto year_of = [](std::string_view line, instant latest) {
    const auto found = timestamp_parser(time_zone(0), latest).find_in_line(line);
    return found ? found->time : 0;
  };
  const auto new_year = to_instant({2026, 1, 2, 0, 0, 0, 0});
  EXPECT_EQ(year_of("Jan  1 23:59:59 x", new_year), to_instant({2026, 1, 1, 23, 59, 59, 0}));
  EXPECT_EQ(year_of("Dec 31 23:59:59 x", new_year), to_instant({2025, 12, 31, 23, 59, 59, 0}));
  // Clocks and zones may be off by a day.
  EXPECT_EQ(year_of("Jan  2 20:00:00 x", new_year), to_instant({2026, 1, 2, 20, 0, 0, 0}));
  EXPECT_EQ(year_of("Jan  1 00:00:00 x", new_year - 86'400'000'000), to_instant({2026, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(year_of("Feb 29 01:02:03 x", new_year), to_instant({2024, 2, 29, 1, 2, 3, 0}));
  EXPECT_EQ(year_of("Feb 30 01:02:03 x", new_year), 0);
}

TEST(time_stamp, puts_times_without_an_offset_into_the_zone) {
  ASSERT_TRUE(time_zone::from_name("+09:00"));
  const timestamp_parser tokyo(*time_zone::from_name("+09:00"), 0);
  EXPECT_EQ(tokyo.find_in_line("2026-01-02 21:04:05 x")->time, at_noon);
  EXPECT_EQ(tokyo.find_in_line("2026-01-02 12:04:05Z x")->time, at_noon);
  for (const auto* bad : {"", "Tokyo", "+9:5", "+99:00", "09:00", "+09:00x"}) EXPECT_FALSE(time_zone::from_name(bad)) << bad;
  for (const auto* good : {"local", "UTC", "utc", "Z", "-03:30", "-0330", "+9", "+09"})
    EXPECT_TRUE(time_zone::from_name(good)) << good;
}

TEST(time_stamp, reads_values_whole_or_not_at_all) {
  const timestamp_parser in(time_zone(0), at_noon);
  EXPECT_EQ(in.parse_value("2026-01-02T12:04:05Z"), at_noon);
  EXPECT_EQ(in.parse_value("1767355445"), at_noon);
  EXPECT_EQ(in.parse_value("2026-01-02T12:04:05Z x"), std::nullopt);
  EXPECT_EQ(in.parse_value("yesterday"), std::nullopt);
  EXPECT_EQ(in.parse_value(""), std::nullopt);
}

}  // namespace
}  // namespace hondana::records

/// Records of which several lines look as if a record begins there.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/fields.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

std::vector<log_record> records_of(const std::string& text) {
  made_log made;
  made.write("app.log", text);
  made.run("touch -d '2026-02-03 00:00:00' app.log");
  const auto log = made.open();
  auto forwards = walked(*log);
  auto backwards = all_pages(*log, newest(1));
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(texts_of(forwards), texts_of(backwards));
  return forwards;
}

TEST(continued_lines, times_in_stack_traces_begin_no_record) {
  const auto records = records_of(
      "2026-01-31 08:00:00,123 ERROR [main] c.e.A - boom\njava.lang.IllegalStateException: 2026-01-31 06:00:00 x\n\tat "
      "a.b(C.java:1)\nCaused by: java.io.IOException: 2026-01-31 07:00:00 old\n\tat d.e(F.java:2)\n2026-01-31 08:00:01,123 "
      "INFO [main] c.e.A - on\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].level, severity::error);
  EXPECT_TRUE(records[0].text.ends_with("at d.e(F.java:2)"));
}

TEST(continued_lines, two_stack_traces_without_times_are_two_records) {
  const std::string first = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x";
  const std::string second =
      "Traceback (most recent call last):\n  File \"b.py\", line 2, in <module>\nKeyError: 'y'\n\nDuring handling of the above "
      "exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 4\nOSError: z";
  EXPECT_EQ(texts_of(records_of(first + '\n' + second + '\n')), (std::vector{first, second}));
  const std::string logged = "ERROR:root:boom\n" + first;
  EXPECT_EQ(texts_of(records_of(logged + '\n' + logged + '\n')), (std::vector{logged, logged}));
}

TEST(continued_lines, parts_of_container_runtimes_are_joined) {
  const std::string long_part(16'384, 'x');
  const std::string header = "2026-01-31T08:00:00.123456789Z ";
  const auto records =
      records_of(header + "stdout P {\"level\":\"err\n" + header + "stdout P or\",\"a\":\"" + long_part + "\n" + header +
                 "stdout F y\"}\n" + header + "stdout F two\n" + header + "stderr P three\n" + header + "stdout F four\n");
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].text, header + R"(stdout P {"level":"error","a":")" + long_part + R"(y"})");
  EXPECT_EQ(records[0].level, severity::error);
  EXPECT_EQ(records[1].text, header + "stdout F two");
  EXPECT_EQ(records[2].text, header + "stderr P three");
  EXPECT_EQ(records[3].text, header + "stdout F four");
}

TEST(continued_lines, secrets_in_two_parts_are_masked) {
  const std::string header = "2026-01-31T08:00:00.123456789Z stdout ";
  const auto records = records_of(header + "P passw\n" + header + "F ord=correcthorse7 x\n");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].text.find("correcthorse7"), std::string::npos) << records[0].text;
}

TEST(continued_lines, expressions_match_across_parts) {
  made_log made;
  const std::string header = "2026-01-31T08:00:00.123456789Z stdout ";
  made.write("app.log", header + "P the nee\n" + header + "F dle\n" + header + "F other\n");
  log_query query;
  query.grep = "needle";
  EXPECT_EQ(page_of(*made.open(), query).records.size(), 1U);
}

TEST(continued_lines, an_entry_of_the_slow_log_of_mysql_is_one_record) {
  const std::string user = "# User@Host: root[root] @ localhost []  Id:     8\n# Query_time: 2.000123  Lock_time: 0.000000\n";
  const auto records = records_of("# Time: 2026-01-31T01:00:00.123456Z\n" + user +
                                  "SET timestamp=1769821200;\nSELECT \"2026-01-01 00:00:00\" AS t;\n" + user +
                                  "SET timestamp=1769821201;\nSELECT 1;\n# Time: 2026-01-31T01:00:02.000000Z\n" + user +
                                  "SET timestamp=1769821202;\nSELECT 2;\n");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].time, 1769821200'123456);
  EXPECT_TRUE(records[0].text.ends_with("AS t;"));
  EXPECT_EQ(records[1].time, 1769821201'000000);
  EXPECT_TRUE(records[1].text.ends_with("SELECT 1;"));
  EXPECT_EQ(records[2].time, 1769821202'000000);
}

TEST(continued_lines, a_record_of_java_util_logging_has_the_level_of_its_second_line) {
  const auto records = records_of(
      "Jan 31, 2026 8:00:02 AM org.a.B run\nSEVERE: boom\njava.lang.IllegalStateException: x\n\tat "
      "org.a.B.run(B.java:2)\nJan 31, 2026 1:00:03 PM org.a.B run\nINFO: fine\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].level, severity::error);
  EXPECT_EQ(records[0].time, 1769846402'000000);
  EXPECT_EQ(records[1].level, severity::info);
  EXPECT_EQ(records[1].time, 1769864403'000000);
}

TEST(container_header, is_read_whole_or_not_at_all) {
  EXPECT_EQ(parse_container_header("2026-01-31T08:00:00.123456789Z stdout F x").size, 40U);
  EXPECT_TRUE(parse_container_header("2026-01-31T08:00:00.123456789Z stderr P:tag x").is_partial);
  for (const auto* line : {"", "2026-01-31T08:00:00.123456789Z", "2026-01-31T08:00:00.123456789Z stdout",
                           "2026-01-31T08:00:00.123456789Z stdout F", "2026-01-31T08:00:00.123456789Z stdout X x",
                           "2026-01-31T08:00:00.123456789Z stdin F x", "1 stdout F x", "stdout F x"})
    EXPECT_EQ(parse_container_header(line).size, 0U) << line;
}

}  // namespace
}  // namespace hondana::records

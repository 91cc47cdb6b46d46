/// Lines of many programs, with their times and levels.
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/severity.hpp"
#include "sources/logs/records/timestamp.hpp"

namespace hondana::records {
namespace {

constexpr instant at_five = 1772600767'000000;  // 2026-03-04T05:06:07Z
constexpr instant nine_hours = 9 * 3600 * one_second;
constexpr instant tokyo = at_five - nine_hours;  // 05:06:07 in Japan
constexpr instant no_time = -1;

constexpr std::optional<severity> no_level = std::nullopt;
constexpr auto trace = severity::trace, debug = severity::debug, info = severity::info, notice = severity::notice,
               warning = severity::warning, error = severity::error, critical = severity::critical;

struct line_form {
  std::string_view line;
  instant time;  // to the second
  std::optional<severity> level;
};

void expect_forms(const std::vector<line_form>& forms) {
  const timestamp_parser times(time_zone(0), at_five + 3600 * one_second);
  for (const auto& form : forms) {
    const auto time = times.find_in_line(form.line);
    EXPECT_EQ(time ? time->time / one_second * one_second : no_time, form.time) << form.line;
    const auto level = detect_severity(form.line, time);
    EXPECT_EQ(level, form.level) << form.line << ": " << (level ? name_of(*level) : "none");
  }
}

TEST(line_forms, iso_dates_have_zones_and_levels_around_them) {
  expect_forms({
      {"2026-03-04T05:06:07Z INFO door opened", at_five, info},
      {"2026-03-04T05:06:07.250+09:00 ERROR door stuck", tokyo, error},
      {"2026-03-04 05:06:07,250 watch.keys [7]: NOTICE key lent", at_five, notice},
      {"2026-03-04 05:06:07.250 +09:00 [INF] key lent", tokyo, info},
      {"2026-03-04 05:06:07 +0900 [WRN] key late", tokyo, warning},
      {"2026-03-04 05:06:07 +09 [7] ERROR:  key lost", tokyo, error},
      {"[2026-03-04T05:06:07,250][INFO ][o.e.n.Node] started", at_five, info},
      {"[2026-03-04 05:06:07,250] WARN slow disk (kafka.Log)", at_five, warning},
      {"2026-03-04 05:06:07.250 [info] <0.7.0> joined", at_five, info},
      {"2026-03-04T05:06:07.250001Z 0 [System] [MY-010931] ready", at_five, no_level},
      {"2026-03-04T05:06:07.250001Z 0 [Warning] [MY-010068] own CA", at_five, warning},
      {"I, [2026-03-04T05:06:07.250001 #7]  INFO -- : lent", at_five, info},
      {"E, [2026-03-04T05:06:07.250001 #7] ERROR -- : lost", at_five, error},
      {"2026/03/04 05:06:07 [error] 7#7: *1 open() failed", at_five, error},
      {"2026/03/04 05:06:07 [crit] 7#7: no workers", at_five, critical},
      {"[2026-03-04 05:06:07.250][7][info][main] [source/main.cc:1] up", at_five, info},
      {"2026-03-04 05:06:07,250 - shelf - WARNING - full", at_five, warning},
      {"2026-03-04 05:06:07.250  WARN 7 --- [main] o.s.Shelf : full", at_five, warning},
      {"2026-03-04T05:06:07,250+0900 [ERROR] full", tokyo, error},
      {"2026-03-04T05:06:07.250Z\tERROR\tmain.go:1\tfull", at_five, error},
      {"\x1B[32m2026-03-04 05:06:07\x1B[0m x", at_five, no_level},
      {"2026-03-04T05:06:07.250Z [31mERROR[0m the escape characters are lost", at_five, error},
      {"2026-03-04T05:06:07.250Z #033[31mERROR#033[0m they are escaped by rsyslog", at_five, error},
      {"[INFO] 2026-03-04 05:06:07 lent", at_five, info},
      {"(2026-03-04 05:06:07) lent", at_five, no_level},
      {"2026-03-04T05:06:07.123456789Z  WARN shelf::keys: full", at_five, warning},
      {"[2026-03-04T05:06:07Z INFO  shelf] up", at_five, info},
      {"ERROR 2026-03-04 05:06:07,250 views 7 8 lost", at_five, error},
      {"ERROR [2026-03-04 05:06:07] lost", at_five, error},
      {"INFO 2026-03-04 05:06:07 error in a sentence", at_five, info},
      {"[2026-03-04 05:06:07] production.ERROR: lost {\"key\":7}", at_five, error},
      {"2026-03-04T05:06:07 error: lost", at_five, error},
      {"2026-03-04T05:06 minutes are enough", at_five - 7 * one_second, no_level},
      {"2026-03-04 05:06:07.250 ERROR 0 warnings, INFO follows", at_five, error},
      {"2026-03-04 05:06:07 all is well, without error", at_five, no_level},
      {"2026-03-04 05:06:07 user=WARNING came", at_five, no_level},
      {"2026-03-04 05:06:07 GET /error 200", at_five, no_level},
      {"2026-03-04 29:06:07 no such hour", no_time, no_level},
      {"2026-13-04 05:06:07 no such month", no_time, no_level},
      {"2026-02-29T05:06:07Z no such day", no_time, no_level},
  });
}

TEST(line_forms, zones_are_abbreviations_offsets_or_names) {
  expect_forms({
      {"2026-03-04 05:06:07 JST a", tokyo, no_level},
      {"2026-03-04 05:06:07 EST a", at_five + 5 * 3600 * one_second, no_level},
      {"2026-03-04 05:06:07 PDT a", at_five + 7 * 3600 * one_second, no_level},
      {"2026-03-04 05:06:07 CET a", at_five - 3600 * one_second, no_level},
      {"2026-03-04 05:06:07 IST a", at_five - 19'800 * one_second, no_level},
      {"2026-03-04 05:06:07.250 JST [7] FATAL:  a", tokyo, critical},
      {"2026-03-04 05:06:07 GMT+09:00 a", tokyo, no_level},
      {"2026-03-04 05:06:07 UTC+9 a", tokyo, no_level},
      {"2026-03-04 05:06:07 Z a", at_five, no_level},
      {"2026-03-04 05:06:07 +0900 JST a", tokyo, no_level},
      {"2026-03-04T05:06:07 UTC a", at_five, no_level},
      {"Wed Mar  4 05:06:07 JST 2026 a", tokyo, no_level},
      {"{\"time\":\"2026-03-04 05:06:07 JST\",\"level\":\"info\"}", tokyo, info},
      {"2026-03-04 05:06:07 GET and POST are no zones", at_five, no_level},
      {"2026-03-04 05:06:07 Foo/Bar is no zone", at_five, no_level},
  });
}

TEST(line_forms, clocks_have_twelve_hours_or_hours_of_one_digit) {
  constexpr instant half_day = 12 * 3600 * one_second;
  expect_forms({
      {"2026-03-04 05:06:07 AM INFO a", at_five, info},
      {"2026-03-04 05:06:07 PM INFO a", at_five + half_day, info},
      {"2026-03-04 12:06:07 AM a", at_five - 5 * 3600 * one_second, no_level},
      {"2026-03-04 12:06:07 p.m. a", at_five + 7 * 3600 * one_second, no_level},
      {"2026-03-04 5:06:07 ERROR a", at_five, error},
      {"Mar 04, 2026 5:06:07 PM org.shelf.Keys lend\nSEVERE: lost", at_five + half_day, error},
      {"Mar 04, 2026 5:06:07\u202FPM org.shelf.Keys lend\nINFO: lent", at_five + half_day, info},
      {"3月 4, 2026 5:06:07 午後 org.shelf.Keys lend\n警告: full", at_five + half_day, warning},
      {"2026年03月04日 05:06:07 a", at_five, no_level},
      {"2026年3月4日 5時6分7秒 a", at_five, no_level},
      {"2026年3月4日 午後5:06:07 [エラー] a", at_five + half_day, error},
      {"260304  5:06:07 [Note] a", at_five, notice},
      {"[Info  - 5:06:07 AM] the date is missing", no_time, info},
  });
}

TEST(line_forms, dates_are_written_in_many_orders) {
  expect_forms({
      {"26/03/04 05:06:07 INFO SparkContext: up", at_five, info},
      {"26/03/09 05:06:07 INFO SparkContext: later than the file", no_time, info},
      {"260304 050607 148 INFO dfs.DataNode: block", at_five, info},
      {"20260304 05:06:07 a", at_five, no_level},
      {"20260304T050607Z a", at_five, no_level},
      {"20260304050607 a", at_five, no_level},
      {"20260304-05:06:07:250|Step|7|a", at_five, no_level},
      {"2026.03.04 05:06:07 a", at_five, no_level},
      {"04.03.2026 05:06:07 a", at_five, no_level},
      {"03/04/2026 05:06:07 ambiguous", no_time, no_level},
      {"4 Mar 2026 05:06:07 a", at_five, no_level},
      {"04-Mar-2026 05:06:07.250 SEVERE [main] org.shelf", at_five, error},
      {"Wed, 04 Mar 2026 05:06:07 GMT a", at_five, no_level},
      {"Wed, 04 Mar 2026 05:06:07 +0900 a", tokyo, no_level},
      {"March 4, 2026 5:06:07 AM a", at_five, no_level},
      {"[Wed Mar 04 05:06:07.250001 2026] [mpm_event:notice] [pid 7:tid 7] up", at_five, notice},
      {"[Wed Mar 04 05:06:07.250001 2026] [core:error] [pid 7:tid 7] loop", at_five, error},
      {"[Wed Mar 04 05:06:07.250001 2026] [:warn] [pid 7] slow", at_five, warning},
      {"[Wed Mar 04 05:06:07.250001 2026] [http2:trace4] [pid 7] frame", at_five, trace},
      {"[Wed Mar 04 05:06:07 2026] [error] [client 192.0.2.1] lost", at_five, error},
      {"Wed Mar  4 05:06:07 2026 a", at_five, no_level},
      {"Mar  4 05:06:07 host sshd[7]: a", at_five, no_level},
      {"<34>Mar  4 05:06:07 host su: a", at_five, critical},
      {"<165>1 2026-03-04T05:06:07.003Z host app - ID47 - a", at_five, notice},
      {"Mar  4 05:06:07.250: %SYS-5-CONFIG_I: configured", at_five, notice},
      {"*Mar  4 05:06:07.250: %LINK-3-UPDOWN: down", at_five, error},
      {"000007: *Mar  4 05:06:07.250: %LINK-3-UPDOWN: down", at_five, error},
      {"Mar 04 2026 05:06:07: %ASA-4-106023: Deny", at_five, warning},
      {"03-04 05:06:07.250  7  9 E Tag: a", at_five, error},
      {"03-04 05:06:07.250  7  9 I tag: a", at_five, info},
      {"03-04 05:06:07 day or month first", no_time, no_level},
      {"I0304 05:06:07.250001       7 x.go:1] a", at_five, info},
      {"7:M 04 Mar 2026 05:06:07.250 * Ready", at_five, notice},
      {"7:M 04 Mar 2026 05:06:07.250 # overcommit", at_five, warning},
      {"1772600767.250    200 192.0.2.1 TCP_MISS/200 1 GET a", at_five, no_level},
      {"[1772600767] SERVICE ALERT: a", at_five, no_level},
      {"1772600767250 a", at_five, no_level},
      {"- 1772600767 2026.03.04 R02-M1-N0-C:J12-U11 2026-03-04-05.06.07.250001 R02-M1-N0-C:J12-U11 RAS KERNEL FATAL a", at_five,
       critical},
      {"time:2026-03-04T05:06:07+09:00\thost:a\tstatus:500", tokyo, no_level},
      {"time:[04/Mar/2026:05:06:07 +0900]\thost:a", tokyo, no_level},
      {"[    7.250000] usb 1-1: a", no_time, no_level},
  });
}

TEST(line_forms, levels_are_columns_letters_and_words) {
  expect_forms({
      {"2026-03-04 05:06:07, Info                  CBS    Warning: a part of the message", at_five, info},
      {"2026-03-04 05:06:07 info a", at_five, info},
      {"2026-03-04 05:06:07 Notice boards are full", at_five, no_level},
      {"2026-03-04 05:06:07 [main/INFO]: a", at_five, info},
      {"2026-03-04 05:06:07 <Error> a", at_five, error},
      {"2026-03-04T05:06:07.250+0000 I NETWORK  [listener] a", at_five, info},
      {"2026-03-04T05:06:07.250+0000 E STORAGE  [init] a", at_five, error},
      {"2026-03-04T05:06:07.250+0000 D2 REPL     [init] a", at_five, debug},
      {"2026-03-04 05:06:07 I am no level", at_five, no_level},
      {"2026-03-04T05:06:07Z E! [inputs.cpu] a", at_five, error},
      {"E [04/Mar/2026:05:06:07 +0000] [Job 7] a", at_five, error},
      {"X [04/Mar/2026:05:06:07 +0000] a", at_five, critical},
      {"[W 2026-03-04 05:06:07.250 ServerApp] a", at_five, warning},
      {"[E 260304 05:06:07 web:7] a", at_five, error},
      {"[04-Mar-2026 05:06:07 UTC] PHP Warning:  a", at_five, warning},
      {"[04-Mar-2026 05:06:07 UTC] PHP Fatal error:  a", at_five, critical},
      {"2026-03-04 05:06:07 [警告] a", at_five, warning},
      {"panic: a", no_time, critical},
  });
}

TEST(line_forms, access_logs_have_the_level_of_their_status) {
  expect_forms({
      {"192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] \"GET / HTTP/1.1\" 200 12 \"-\" \"curl\"", at_five, info},
      {"192.0.2.1 - - [04/Mar/2026:05:06:07 +0900] \"GET / HTTP/1.1\" 503 12", tokyo, error},
      {"192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] \"-\" 400 0 \"-\" \"-\"", at_five, warning},
      {"192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] \"\\x16\\x03\\x01\" 400 157", at_five, warning},
      {"192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] \"a \\\" b\" 501 157", at_five, error},
      {"[04/Mar/2026 05:06:07] \"GET / HTTP/1.1\" 200 1", at_five, info},
      {"2026-03-04 05:06:07 192.0.2.1 GET / - 80 - 192.0.2.2 curl - 500 0 0 15", at_five, error},
      {"2026-03-04 05:06:07 192.0.2.1 GET / - 80 - 192.0.2.2 curl - 404 0 2", at_five, warning},
      {"http 2026-03-04T05:06:07.250001Z app/a/1 192.0.2.1:1 - -1 -1 -1 503 - 0 0 \"GET http://a:80/ HTTP/1.1\" \"-\" - -",
       at_five, error},
  });
}

TEST(line_forms, json_is_that_of_many_loggers) {
  expect_forms({
      {R"({"message":"a","level":400,"level_name":"ERROR","datetime":"2026-03-04T05:06:07.250+09:00"})", tokyo, error},
      {R"({"message":"a","level":550,"datetime":"2026-03-04T05:06:07Z"})", at_five, critical},
      {R"({"log":"ERROR a\n","stream":"stderr","time":"2026-03-04T05:06:07.250Z"})", at_five, error},
      {R"({"log":"{\"level\":\"warn\",\"msg\":\"a\"}\n","stream":"stderr","time":"2026-03-04T05:06:07Z"})", at_five, warning},
      {R"({"@t":"2026-03-04T05:06:07.250Z","@mt":"a {N}","@l":"Error","N":7})", at_five, error},
      {R"({"@t":"2026-03-04T05:06:07.250Z","@mt":"a {N}","N":7})", at_five, info},
      {R"({"Timestamp":"2026-03-04T05:06:07Z","severityNumber":17,"body":"a"})", at_five, error},
      {R"({"time":"2026-03-04T05:06:07Z","severity_text":"WARN","body":"a"})", at_five, warning},
      {R"({"t":{"$date":"2026-03-04T05:06:07.250+09:00"},"s":"W","c":"NETWORK","id":7,"msg":"a"})", tokyo, warning},
      {R"({"t":{"$date":{"$numberLong":"1772600767250"}},"s":"D3","msg":"a"})", at_five, debug},
      {R"({"ts":1772600767250.12,"caller":"a.go:7","msg":"a","v":0})", at_five, info},
      {R"({"ts":1772600767250.12,"caller":"a.go:7","msg":"a","err":"b"})", at_five, error},
      {R"({"@timestamp":"2026-03-04T05:06:07Z","log":{"level":"error"},"message":"a"})", at_five, error},
      {R"({"version":"1.1","short_message":"a","timestamp":1772600767.25,"level":4})", at_five, warning},
      {R"({"timestamp":{"seconds":1772600767,"nanos":250},"severity":"WARNING"})", at_five, warning},
      {R"({"instant":{"epochSecond":1772600767,"nanoOfSecond":250},"level":"INFO"})", at_five, info},
      {R"({"PRIORITY":"3","__REALTIME_TIMESTAMP":"1772600767000250","MESSAGE":"a"})", at_five, error},
      {R"({"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1772600767000000250",)"
       R"("severityNumber":9},{"severityNumber":17}]}]}]})",
       at_five, error},
      {R"({"level":"error","s":"I","t":7})", no_time, error},
      {R"({"log":7,"s":"E"})", no_time, no_level},
  });
}

TEST(line_forms, container_runtimes_wrap_lines_of_programs) {
  expect_forms({
      {"2026-03-04T05:06:07.250000001+09:00 stdout F a", tokyo, no_level},
      {"2026-03-04T05:06:07.250000001Z stderr F {\"level\":\"error\",\"msg\":\"a\"}", at_five, error},
      {"2026-03-04T05:06:07.250000001Z stdout F level=warn msg=a", at_five, warning},
      {"2026-03-04T05:06:07.250000001Z stdout P E0304 05:06:07.250001       7 x.go:1] a", at_five, error},
  });
}

}  // namespace
}  // namespace hondana::records

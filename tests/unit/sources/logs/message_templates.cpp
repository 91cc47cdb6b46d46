/// What messages have in common.
#include "sources/logs/message_templates.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"
#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {

TEST(message_template, replaces_what_differs_from_record_to_record) {
  const std::pair<const char*, const char*> cases[] = {
      {"2026-01-31T08:00:00.123Z ERROR worker-12: job 8812 failed after 350ms",
       "ERROR worker-<num>: job <num> failed after <num>ms"},
      {"2026-01-31 08:00:00,123 - app - WARNING - disk 91% full", "- app - WARNING - disk <num>% full"},
      {"[2026-01-31T08:00:00Z] started", "started"},
      {"Jan 31 08:00:00 host sshd[123]: Failed password for root from 10.0.0.7 port 2222 ssh2",
       "host sshd[<num>]: Failed password for root from <ip> port <num> ssh<num>"},
      {"connect to 10.1.2.3:5432 refused", "connect to <ip> refused"},
      {"peer fe80::1ff:fe23:4567:890a is gone", "peer <ip> is gone"},
      {"request 123e4567-e89b-12d3-a456-426614174000 done", "request <uuid> done"},
      {"object 0x7fff5fbff8a0 freed", "object <hex> freed"},
      {"commit deadbeef01 pushed", "commit <hex> pushed"},
      {"cannot open /var/lib/app/data.db: No such file", "cannot open <path>: No such file"},
      {"GET https://example.org/a?b=1 failed", "GET <url> failed"},
      {"mail to someone@example.org bounced", "mail to <email> bounced"},
      {"unknown key \"colour\" in 'settings'", "unknown key <str> in <str>"},
      {"it's 5 o'clock", "it's <num> o'clock"},
      {"password=********** rejected", "password=<masked> rejected"},
      {"session Xk39fh2Lq80Zp1 expired", "session <id> expired"},
      {"temperature -12.5 C", "temperature <num> C"},
      {"retry   in\t5 s", "retry in <num> s"},
      {"an open \" quote 5", "an open \" quote <num>"}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(make_template(text), wanted) << text;
}

TEST(message_template, is_the_same_for_all_weekdays_signs_and_halves_of_the_day) {
  EXPECT_EQ(make_template("next run on Fri Nov 27 at noon"), "next run on <time> at noon");
  EXPECT_EQ(make_template("[Fri Nov 27 23:59:59 2026] [error] x"), make_template("[Sat Nov 28 00:00:01 2026] [error] x"));
  EXPECT_EQ(make_template("block blk_-1608999687919862906 served"), "block blk_<num> served");
  EXPECT_EQ(make_template("block blk_1608999687919862906 served"), "block blk_<num> served");
  EXPECT_EQ(make_template("offset=-5 from (-7, +9) in 3-4"), "offset=<num> from (<num>, <num>) in <num>-<num>");
  const std::string_view line = "Nov 28, 2026 1:00:03 PM org.a.B run";
  EXPECT_EQ(make_template(line, 0, line.find(" org")), "org.a.B run");
}

TEST(message_template, has_the_time_of_the_record_where_it_is_written) {
  const std::string_view line = "E [28/Nov/2026:01:00:03 +0000] job 7 failed";
  EXPECT_EQ(make_template(line, 3, line.find(']')), "E [<time>] job <num> failed");
  EXPECT_EQ(make_template("short", 2, 900), "short");
}

TEST(message_template, keeps_method_and_status_of_requests) {
  EXPECT_EQ(make_template("203.0.113.7 - - [31/Jan/2026:08:00:00 +0000] \"GET /a/b?c=1 HTTP/1.1\" 500 1234 \"-\" \"curl/8.0\""),
            "<ip> - - [<time> <num>] \"GET <path>\" 500 <num> <str> <str>");
  EXPECT_NE(make_template("1.2.3.4 - - [31/Jan/2026:08:00:00 +0000] \"GET /a HTTP/1.1\" 200 5"),
            make_template("1.2.3.4 - - [31/Jan/2026:08:00:00 +0000] \"GET /a HTTP/1.1\" 404 5"));
}

TEST(message_template, takes_the_message_alone_of_json_and_logfmt) {
  EXPECT_EQ(make_template(R"({"time":"2026-01-31T08:00:00Z","level":"error","msg":"db 5 is down","pid":7})"),
            "db <num> is down");
  EXPECT_EQ(make_template(R"({"level":30,"message": "listening on 8080"})"), "listening on <num>");
  EXPECT_EQ(make_template(R"(time=2026-01-31T08:00:00Z level=info msg="user 7 came" user=7)"), "user <num> came");
}

TEST(message_template, looks_at_the_first_line_and_stays_well_formed_and_short) {
  EXPECT_EQ(make_template("Exception in thread 7\n  at Foo.java:12"), "Exception in thread <num>");
  EXPECT_EQ(make_template(""), "");
  std::string japanese;
  for (int i = 0; i < 500; ++i) japanese += "接続";
  const auto got = make_template(japanese);
  EXPECT_LE(got.size(), max_template_bytes);
  EXPECT_TRUE(json::is_utf8(got));
  EXPECT_GT(got.size(), max_template_bytes - 4);
}

TEST(message_template_timing, quotes_without_end_take_linear_time) {
  // Each opening quote must not look for its end again.
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += i % 3 == 0 ? "\"" : i % 3 == 1 ? " '" : "`";
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) EXPECT_LE(make_template(text).size(), max_template_bytes);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace hondana::logs

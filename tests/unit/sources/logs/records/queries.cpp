/// What is asked for is what comes, and what is hostile does no harm.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"
#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/masked_window.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/timestamp.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

constexpr instant a_second = 1'000'000;
const instant midnight = to_instant({2026, 1, 2, 0, 0, 0, 0});

std::string clock_of(std::size_t second) {
  const auto two_of = [](std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return "2026-01-02T" + two_of(second / 3600 % 24) + ":" + two_of(second / 60 % 60) + ":" + two_of(second % 60) + "Z";
}

/// One record a second, padded, so that many megabytes come together.
std::string seconds_of_log(std::size_t from, std::size_t to, std::size_t padding) {
  std::string out;
  const std::string rest(padding, 'x');
  for (auto i = from; i < to; ++i) {
    out += clock_of(i) + " INFO number " + std::to_string(i) + " " + rest + "\n";
    if (i % 7 == 0) out += "    at a line without time\n";
  }
  return out;
}

void expect_range(log_backend& of, std::size_t from, std::size_t to) {
  log_query what = newest(100'000);
  what.since = midnight + static_cast<instant>(from) * a_second;
  what.until = midnight + static_cast<instant>(to) * a_second;
  const auto got = all_pages(of, what);
  ASSERT_EQ(got.size(), to - from);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].time, midnight + static_cast<instant>(to - 1 - i) * a_second);
  const auto forwards = walked(of, what.since, what.until);
  ASSERT_EQ(forwards.size(), to - from);
  EXPECT_EQ(forwards.front().time, what.since);
}

TEST(queries, errors_of_expressions_quote_what_was_written) {
  const auto why_not = [](std::string_view expression) {
    const auto got = compile_expression(expression, "grep");
    return got ? std::string() : got.error().public_text;
  };
  EXPECT_TRUE(why_not("(").starts_with("grep: not a valid regular expression (missing ): ().")) << why_not("(");
  EXPECT_TRUE(why_not("*a").starts_with("grep: not a valid regular expression (no argument for repetition operator: *)"));
  EXPECT_FALSE(why_not("a)(?:b").empty());
  EXPECT_TRUE(why_not("\\Qa.b").empty());
}

TEST(queries, ranges_of_time_are_found_in_big_files_and_over_several) {
  made_log made;
  made.write("app.log.2", seconds_of_log(0, 20'000, 300));
  made.write("app.log.1", seconds_of_log(20'000, 40'000, 400));
  made.write("app.log", seconds_of_log(40'000, 60'000, 500));
  made.run("xz -0 app.log.2");
  const auto one = made.open();
  for (const auto& [from, to] : std::vector<std::pair<std::size_t, std::size_t>>{{50'000, 50'001},
                                                                                 {59'999, 60'000},
                                                                                 {40'000, 40'001},
                                                                                 {39'990, 40'010},
                                                                                 {0, 1},
                                                                                 {19'995, 20'005},
                                                                                 {30'000, 30'100}}) {
    SCOPED_TRACE(from);
    expect_range(*one, from, to);
  }
  log_query what = newest(10);
  what.since = midnight + 70'000 * a_second;
  EXPECT_TRUE(page_of(*one, what).records.empty());
  what.since.reset();
  what.until = midnight;
  EXPECT_TRUE(page_of(*one, what).records.empty());
  what.until = midnight + 25'000 * a_second;
  EXPECT_EQ(page_of(*one, what).records.at(0).time, midnight + 24'999 * a_second);
}

TEST(queries, clocks_that_go_back_are_said_and_what_was_written_twice_is_found_twice) {
  made_log made;
  // An hour comes twice.
  made.write("app.log", seconds_of_log(0, 10'000, 400) + seconds_of_log(6'400, 16'000, 400));
  const auto one = made.open();
  log_query what = newest(100'000);
  what.since = midnight + 7'000 * a_second;
  what.until = midnight + 7'100 * a_second;
  const auto page = page_of(*one, what);
  EXPECT_EQ(page.records.size(), 200u);
  ASSERT_FALSE(page.notes.empty());
  EXPECT_NE(page.notes[0].find("Timestamps go backwards in app.log"), std::string::npos);
}

TEST(queries, levels_fields_and_expressions_all_have_to_hold) {
  made_log made;
  made.write("app.log",
             "{\"level\":\"info\",\"user\":{\"id\":7},\"msg\":\"one\"}\n"
             "{\"level\":\"error\",\"user\":{\"id\":7},\"msg\":\"two\"}\n"
             "{\"level\":\"error\",\"user\":{\"id\":8},\"msg\":\"three\"}\n"
             "{\"level\":50,\"user\":{\"id\":7},\"msg\":\"four\"}\n");
  const auto one = made.open();
  log_query what;
  what.min_level = severity::warning;
  EXPECT_EQ(page_of(*one, what).records.size(), 3u);
  what.fields = {{"user.id", "7"}};
  EXPECT_EQ(page_of(*one, what).records.size(), 2u);
  what.grep = "(ou|wo)";
  EXPECT_EQ(page_of(*one, what).records.size(), 2u);
  what.grep = "^.*four\"\\}$";
  EXPECT_EQ(page_of(*one, what).records.size(), 1u);
}

TEST(queries, bad_ones_are_refused_by_name) {
  made_log made;
  made.write("app.log", "x\n");
  const auto one = made.open();
  const auto refused = [&](const log_query& what, std::string_view word) {
    const auto got = one->read(what, {}, {});
    ASSERT_FALSE(got) << word;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_TRUE(got.error().public_text.starts_with(word)) << got.error().public_text;
  };
  log_query what;
  for (const std::string& bad : std::vector<std::string>{"(", "a{1000}{1000}", "(?=a)", "\\1", std::string(5000, 'a')}) {
    what.grep = bad;
    refused(what, "grep");
  }
  what = {};
  what.fields = {{"", "x"}};
  refused(what, "field");
  what = {};
  what.since = 2;
  what.until = 2;
  refused(what, "since");
  what = {};
  const auto good = to_text(log_position{.device = 1, .inode = 2, .front_bytes = 3, .end = 9, .scanned = 4});
  ASSERT_TRUE(parse_position(good));
  for (const std::string& bad : std::vector<std::string>{
           "x", "1", "1.", "2" + good.substr(1), good + ".0", good + " ", "1.01" + good.substr(3), "1.A" + good.substr(3),
           std::string(10'000, '1'), to_text({.end = 1, .scanned = 2}), to_text({.front_bytes = 1u << 20})}) {
    what.cursor = bad;
    refused(what, "cursor");
    EXPECT_FALSE(parse_position(bad)) << bad;
  }
  for (auto [path, zone_name, multi_line, pattern] : std::vector<std::array<std::string, 4>>{{"relative.log", "", "", ""},
                                                                                             {"/a/", "", "", ""},
                                                                                             {"/a/..", "", "", ""},
                                                                                             {"/a/b", "Mars", "", ""},
                                                                                             {"/a/b", "", "(", ""},
                                                                                             {"/a/b", "", "", "["}}) {
    file_log_options with;
    with.path = path;
    if (!zone_name.empty()) with.zone = zone_name;
    if (!multi_line.empty()) with.multi_line = multi_line;
    with.pattern = pattern;
    const auto made_of = open_file_log(with);
    ASSERT_FALSE(made_of) << path;
    EXPECT_EQ(made_of.error().code, errc::invalid_argument);
  }
}

TEST(queries, a_hundred_megabytes_in_one_line_are_one_record_that_is_cut) {
  made_log made;
  std::string text = "2026-01-02T00:00:01Z INFO first\n2026-01-02T00:00:02Z ERROR ";
  text.append(100u << 20, 'y');
  text += "\n2026-01-02T00:00:03Z INFO last\n";
  made.write("app.log", text);
  const auto one = made.open();
  const auto got = all_pages(*one, newest(1));
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[1].text.size(), 64u << 10);
  EXPECT_EQ(got[1].cut_bytes, (100u << 20) + 27 - (64u << 10) + 1);
  EXPECT_EQ(got[1].level, severity::error);
  EXPECT_EQ(got[1].time, midnight + 2 * a_second);
  // Also when less than a line may be looked through at a time.
  read_budget most;
  most.max_scanned_bytes = 8u << 20;
  EXPECT_EQ(texts_of(all_pages(*one, newest(10), most)), texts_of(got));
  const auto early = page_of(*one, newest(10), most);
  EXPECT_NE(early.early_end_reason.find("8 MiB were searched, the limit of one answer"), std::string::npos);
}

TEST(queries, what_is_no_text_becomes_one) {
  using namespace std::string_literals;
  made_log made;
  made.write("app.log", "2026-01-02T00:00:01Z \xFF\xFE nul \0 bell \a \xC3\xA9 \x1B]0;title\a \x1B[1mbold\x1B[0m\r\n"s);
  const auto page = page_of(*made.open());
  ASSERT_EQ(page.records.size(), 1u);
  const auto& text = page.records[0].text;
  EXPECT_TRUE(json::is_utf8(text) && !json::has_nul(text));
  EXPECT_NE(text.find("nul \u2400 bell \u2407 \u00e9  bold"), std::string::npos) << text;
  EXPECT_NE(text.find("\uFFFD"), std::string::npos);
}

TEST(queries, answers_are_bounded_in_bytes_and_go_on) {
  made_log made;
  made.write("app.log", seconds_of_log(0, 1000, 1000));
  read_budget most;
  most.max_answer_bytes = 50'000;
  const auto one = made.open();
  const auto page = page_of(*one, newest(1000), most);
  EXPECT_LT(page.records.size(), 60u);
  EXPECT_TRUE(page.next);
  EXPECT_FALSE(page.early_end_reason.empty());
  EXPECT_EQ(all_pages(*one, newest(1000), most).size(), 1000u);
}

TEST(queries, a_deadline_ends_a_page_with_a_cursor_and_a_stop_ends_it_at_once) {
  made_log made;
  made.write("app.log", seconds_of_log(0, 50'000, 300));
  const auto one = made.open();
  log_query what;
  what.grep = "nowhere";
  read_budget most;
  most.deadline = std::chrono::steady_clock::now();
  const auto page = page_of(*one, what, most);
  EXPECT_TRUE(page.next);
  EXPECT_NE(page.early_end_reason.find("The time limit was reached"), std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  request_context by;
  by.stop = stop.get_token();
  const auto stopped = one->read(what, {}, by);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, errc::cancelled);
}

TEST(queries, cursors_of_files_that_were_truncated_or_deleted_say_so) {
  made_log made;
  made.write("app.log", seconds_of_log(0, 1000, 100));
  const auto one = made.open();
  log_query what = newest(10);
  what.cursor = page_of(*one, what).next.value_or("");
  made.run("truncate -s 0 app.log");
  made.append("app.log", seconds_of_log(5000, 6000, 200));
  auto page = page_of(*one, what);
  EXPECT_TRUE(page.records.empty() && !page.next);
  ASSERT_EQ(page.notes.size(), 1u);
  EXPECT_NE(page.notes[0].find("truncated"), std::string::npos);
  made.run("cp app.log other && rm app.log && mv other app.log && truncate -s 0 app.log");
  made.append("app.log", "x\n");
  page = page_of(*one, what);
  EXPECT_TRUE(page.records.empty() && !page.next);
  EXPECT_EQ(page.notes.size(), 1u);
}

TEST(queries, links_pipes_and_folders_are_no_members) {
  made_log made;
  made.write("secret.txt", "secret\n");
  ASSERT_EQ(::symlink(made.path("secret.txt").c_str(), made.path().c_str()), 0);
  ASSERT_EQ(::mkfifo(made.path("app.log.1").c_str(), 0600), 0);
  made.run("mkdir app.log.2");
  const auto one = made.open();
  const auto refused = one->read({}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::access_denied);
  EXPECT_NE(refused.error().public_text.find("link"), std::string::npos);
  made.write("app.log.3", "old\n");
  const auto page = page_of(*one);
  EXPECT_EQ(texts_of(page.records), std::vector<std::string>{"old"});
  EXPECT_EQ(page.notes.size(), 1u);
}

TEST(queries, a_file_that_is_truncated_under_a_reader_is_read_anew) {
  made_log made;
  made.write("app.log", seconds_of_log(0, 1000, 100));
  const auto file = std::make_shared<const disk::handle>(::open(made.path().c_str(), O_RDONLY | O_CLOEXEC));
  masked_window onto(std::make_shared<file_content>(file, 100'000), 100'000, true, {}, {});
  ASSERT_TRUE(onto.load(50'000, 60'000));
  made.run("truncate -s 55000 app.log");
  const auto gone = onto.load(50'000, 60'000);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::content_changed);
}

TEST(queries, an_empty_log_has_no_records) {
  made_log made;
  made.write("app.log", "");
  const auto page = page_of(*made.open());
  EXPECT_TRUE(page.records.empty() && !page.next && page.notes.empty() && page.early_end_reason.empty());
}

TEST(queries, fields_match_numbers_in_any_form_and_members_of_arrays) {
  const std::string_view line = R"({"ms":10.0,"id":9007199254740993,"code":"10.0","tags":["x","y"],"spans":[{"n":1.50}]})";
  const auto matches = [line](std::string path, std::string value) {
    log_query query;
    query.fields = {{std::move(path), std::move(value)}};
    const auto matcher = record_matcher::compile(query);
    return matcher && matcher->accepts_text(line);
  };
  for (const auto* value : {"10", "10.0", "1e1", "10.00"}) EXPECT_TRUE(matches("ms", value)) << value;
  for (const auto* value : {"1", "10.01", "", "x"}) EXPECT_FALSE(matches("ms", value)) << value;
  EXPECT_TRUE(matches("id", "9007199254740993"));
  EXPECT_FALSE(matches("id", "9007199254740992"));
  EXPECT_FALSE(matches("code", "10")) << "a string";
  EXPECT_TRUE(matches("tags", "x"));
  EXPECT_TRUE(matches("tags", R"(["x","y"])"));
  EXPECT_FALSE(matches("tags", "z"));
  EXPECT_TRUE(matches("spans.n", "1.5"));
}

TEST(framing, begins_records_where_lines_have_times) {
  const timestamp_parser times(time_zone(0), 0);
  const record_framing by({}, "2026-01-02T00:00:01Z a\n  at x\n2026-01-02T00:00:01Z b\n", times);
  EXPECT_TRUE(by.is_record_start("2026-01-02T00:00:01Z a\nrest"));
  for (const auto* line : {"  at x", "java.lang.X: y", "Caused by: z", "", "more text", "{\"a\":1}", "ValueError: x"}) {
    EXPECT_FALSE(by.is_record_start(line)) << line;
  }
}

TEST(framing, begins_records_at_objects_or_at_every_line_that_goes_on_nothing) {
  const timestamp_parser times(time_zone(0), 0);
  const record_framing json({}, "{\"a\":1}\n{\"a\":2}\n", times);
  EXPECT_TRUE(json.is_record_start("{\"a\":3}"));
  EXPECT_FALSE(json.is_record_start("Traceback (most recent call last):"));
  const record_framing plain({}, "one\ntwo\n", times);
  EXPECT_TRUE(plain.is_record_start("three"));
  for (const auto* line :
       {"\tat x", " x", "Traceback (most recent call last):", "ValueError: x", "java.io.IOException", "... 7 more", "", "\r"}) {
    EXPECT_FALSE(plain.is_record_start(line)) << line;
  }
  EXPECT_TRUE(plain.is_record_start("Error: a message of its own"));
  const record_framing never(*parse_framing("never"), "2026-01-02T00:00:01Z a\n", times);
  EXPECT_TRUE(never.is_record_start("  x"));
  const record_framing chosen(*parse_framing("^=== "), "", times);
  EXPECT_TRUE(chosen.is_record_start("=== x"));
  EXPECT_FALSE(chosen.is_record_start("x\n=== y"));
}

}  // namespace
}  // namespace hondana::records

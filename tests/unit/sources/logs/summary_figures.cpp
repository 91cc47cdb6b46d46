/// Summaries of logs whose records are known.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/logs/rendering.hpp"
#include "sources/logs/summary.hpp"
#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

log_summary summed_up(kept_log& of, const std::function<void(summary_request&)>& change = {}) {
  summary_request what;
  what.lookback = day;
  what.now = noon;
  if (change) change(what);
  auto got = summarize(of, what, {});
  EXPECT_TRUE(got) << (got ? "" : got.error().public_text);
  return got ? *got : log_summary{};
}

/// So many records, one every `apart`, the last a second before `until`.
void add_steadily(kept_log& to, int count, records::instant apart, records::instant until = noon,
                  const std::string& text = "request 1 served", records::severity level = records::severity::info) {
  for (int i = count; i-- > 0;) to.add(until - second - i * apart, text, level);
}

std::vector<std::string> kinds_of(const log_summary& what) {
  std::vector<std::string> out;
  for (const auto& one : what.findings) out.push_back(one.kind);
  return out;
}

using strings = std::vector<std::string>;

}  // namespace

TEST(log_summary, counts_records_levels_and_messages_by_hour) {
  kept_log of;
  add_steadily(of, 1440, minute);
  of.add(noon - 3 * hour, "disk /dev/sda1 is 91% full", records::severity::warning);
  of.add(noon - 30 * minute, "cannot reach 10.0.0.1:5432", records::severity::error);
  const auto got = summed_up(of);
  EXPECT_EQ(got.total, 1442U);
  EXPECT_EQ(got.errors, 1U);
  EXPECT_EQ(got.levels[static_cast<std::size_t>(records::severity::info)], 1440U);
  EXPECT_EQ(got.levels[static_cast<std::size_t>(records::severity::warning)], 1U);
  EXPECT_EQ(got.slices.size(), 24U);
  EXPECT_EQ(got.slices[0]->total, 60U);
  EXPECT_EQ(got.slices[23]->total, 61U);
  EXPECT_TRUE(got.is_complete);
  EXPECT_EQ(got.begin, noon - day);
  EXPECT_EQ(got.first, noon - second - 1439 * minute);
  EXPECT_EQ(got.last, noon - second);
  ASSERT_EQ(got.messages.size(), 3U);
  EXPECT_EQ(got.messages[0].pattern, "request <num> served");
  EXPECT_EQ(got.messages[0].count, 1440U);
  EXPECT_EQ(got.messages[1].pattern, "cannot reach <ip>");
  EXPECT_EQ(got.messages[2].pattern, "disk <path> is <num>% full");
}

TEST(log_summary, messages_of_several_levels_are_said_to_go_up_to_the_gravest) {
  kept_log of;
  add_steadily(of, 196, minute, noon, "req 1");
  add_steadily(of, 4, hour, noon - 3 * hour, "req 2", records::severity::error);
  add_steadily(of, 7, hour, noon, "other 2", records::severity::error);
  const auto text = to_markdown(summed_up(of), "app");
  EXPECT_NE(text.find("- 200× up to error `req <num>`"), std::string::npos) << text;
  EXPECT_NE(text.find("- 7× error `other <num>`"), std::string::npos) << text;
}

TEST(log_summary, one_burst_tells_nothing_about_silence) {
  kept_log of;
  add_steadily(of, 54, millisecond, noon - 2 * hour);
  EXPECT_TRUE(summed_up(of).findings.empty());
  add_steadily(of, 54, millisecond, noon - 5 * hour / 2);
  EXPECT_EQ(kinds_of(summed_up(of)), strings{"silence"});
}

TEST(log_summary, silence_is_not_told_of_a_log_whose_newest_records_were_not_reached) {
  kept_log of;
  add_steadily(of, 150, 20 * second, noon - 9 * minute);
  const auto got = summed_up(of, [](summary_request& what) { what.budget.max_scanned_bytes = 2000; });
  EXPECT_GT(got.total, 100U);
  EXPECT_LT(got.total, 150U);
  EXPECT_FALSE(got.has_newest);
  EXPECT_TRUE(got.findings.empty());
  EXPECT_EQ(summed_up(of).total, 150U);
}

TEST(log_summary, nothing_unusual_has_the_usual_priority_and_nothing_at_all_less) {
  kept_log steady, empty;
  add_steadily(steady, 1440, minute);
  EXPECT_EQ(summed_up(steady).priority, 0.3);
  EXPECT_TRUE(summed_up(steady).findings.empty());
  const auto nothing = summed_up(empty);
  EXPECT_EQ(nothing.total, 0U);
  EXPECT_EQ(nothing.priority, 0.1);
}

TEST(log_summary, more_errors_than_before_are_unusual) {
  kept_log of;
  add_steadily(of, 1440, minute);
  add_steadily(of, 23, hour, noon - hour, "cannot write", records::severity::error);
  add_steadily(of, 32, minute, noon, "cannot write", records::severity::error);
  const auto got = summed_up(of);
  ASSERT_EQ(kinds_of(got), strings{"errors"});
  // 32 an hour against 23 in 23 hours, of which the first is short of a second: 2 to the fifth.
  EXPECT_NEAR(got.findings[0].weight, 0.95, 0.011);
  EXPECT_EQ(got.findings[0].text, "32 errors in the last 1 h, 32 per hour; before: 1.0 per hour.");
  EXPECT_EQ(got.priority, got.findings[0].weight);
  kept_log always;
  add_steadily(always, 1440, minute, noon, "cannot write", records::severity::error);
  EXPECT_TRUE(summed_up(always).findings.empty());
}

TEST(log_summary, a_message_that_never_came_before_is_unusual_by_its_level) {
  kept_log of;
  add_steadily(of, 1440, minute);
  of.add(noon - 10 * minute, "table 7 is corrupt", records::severity::error);
  of.add(noon - 9 * minute, "cache 3 is cold", records::severity::info);
  const auto got = summed_up(of);
  ASSERT_EQ(kinds_of(got), strings{"new-message"});
  EXPECT_EQ(got.findings[0].weight, 0.7);
  EXPECT_EQ(got.findings[0].message, "table <num> is corrupt");
  EXPECT_EQ(got.findings[0].text, "New since 2026-01-31T11:50:00Z, 1 time, error.");
  kept_log known;
  add_steadily(known, 1440, minute);
  known.add(noon - 10 * hour, "table 2 is corrupt", records::severity::error);
  known.add(noon - 10 * minute, "table 7 is corrupt", records::severity::error);
  EXPECT_TRUE(summed_up(known).findings.empty());
}

TEST(log_summary, silence_critical_records_and_bursts_are_unusual) {
  kept_log silent;
  add_steadily(silent, 1000, minute, noon - 2 * hour);
  const auto quiet = summed_up(silent);
  ASSERT_EQ(kinds_of(quiet), strings{"silence"});
  EXPECT_EQ(quiet.priority, 0.6);
  EXPECT_EQ(quiet.findings[0].text, "No record since 2026-01-31T09:59:59Z, for 2 h; the longest silence before was 1 min.");
  kept_log grave;
  add_steadily(grave, 1440, minute);
  grave.add(noon - 20 * hour, "out of memory", records::severity::critical);
  grave.add(noon - minute, "out of memory", records::severity::critical);
  ASSERT_EQ(kinds_of(summed_up(grave)), strings{"critical"});
  EXPECT_EQ(summed_up(grave).priority, 0.8);
  kept_log busy;
  add_steadily(busy, 1440, minute);
  add_steadily(busy, 500, second);
  ASSERT_EQ(kinds_of(summed_up(busy)), strings{"burst"});
  EXPECT_EQ(summed_up(busy).priority, 0.5);
}

TEST(log_summary, of_a_log_that_ended_long_ago_is_about_its_last_day) {
  kept_log of;
  add_steadily(of, 2000, minute, noon - 30 * day);
  const auto got = summed_up(of);
  EXPECT_TRUE(got.ends_at_last_record);
  EXPECT_EQ(got.last, noon - 30 * day - second);
  EXPECT_GE(got.total, 1440U);
  EXPECT_LE(got.total, 1500U);
  EXPECT_NE(to_markdown(got, "app").find("where the log ends"), std::string::npos);
}

TEST(log_summary, of_a_stretch_of_time_has_what_came_in_it) {
  kept_log of;
  add_steadily(of, 1440, minute);
  const auto got = summed_up(of, [](summary_request& what) {
    what.since = noon - 90 * minute;
    what.until = noon - 30 * minute;
  });
  EXPECT_EQ(got.total, 60U);
  EXPECT_EQ(got.begin, noon - 90 * minute);
  EXPECT_EQ(got.end, noon - 30 * minute);
}

TEST(log_summary, without_times_is_about_the_newest_records) {
  kept_log of;
  for (int i = 0; i < 50; ++i) of.add_untimed("no time " + std::to_string(i));
  const auto got = summed_up(of);
  EXPECT_FALSE(got.has_times);
  EXPECT_EQ(got.total, 50U);
  EXPECT_EQ(got.messages.at(0).pattern, "no time <num>");
  EXPECT_EQ(got.notes.size(), 1U);
}

TEST(log_summary, beyond_the_budget_says_how_far_back_it_goes) {
  kept_log of;
  add_steadily(of, 1440, minute);
  const auto got = summed_up(of, [](summary_request& what) { what.budget.max_scanned_bytes = 60 * 17 * 5; });
  EXPECT_FALSE(got.is_complete);
  EXPECT_EQ(got.total, 300U);
  ASSERT_EQ(got.notes.size(), 1U);
  EXPECT_EQ(got.notes[0], "The log has more records than the limits allow: this summary goes back to 2026-01-31T07:00:00Z.");
}

TEST(log_summary, of_a_small_log_is_complete_after_the_time_limit) {
  const made_folder folder;
  std::string text;
  for (int i = 600; i-- > 0;) text += format_time(noon - i * minute) + " INFO request " + std::to_string(i) + " served\n";
  folder.append("app.log", text);
  records::file_log_options options;
  options.path = folder.path("app.log");
  const auto log = records::open_file_log(options);
  ASSERT_TRUE(log);
  summary_request request;
  request.lookback = day;
  request.now = noon;
  request.budget.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const auto got = summarize(**log, request, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_TRUE(got->is_complete);
  EXPECT_EQ(got->total, 600U);
}

TEST(log_summary, templates_stay_the_same_after_midnight) {
  const made_folder folder;
  std::string text;
  const char* const days[] = {"Fri Jan 30", "Sat Jan 31"};
  for (int hour_of_log = 12; hour_of_log < 36; ++hour_of_log) {
    for (int i = 10; i < 60; i += 10) {
      const auto hour_text = std::to_string(100 + hour_of_log % 24).substr(1);
      text += std::string("[") + days[hour_of_log / 24] + ' ' + hour_text + ':' + std::to_string(i) +
              ":00 2026] [error] [client 192.0.2.1] File does not exist: /favicon.ico\n";
    }
  }
  folder.append("app.log", text);
  records::file_log_options options;
  options.path = folder.path("app.log");
  options.zone = "UTC";
  const auto log = records::open_file_log(options);
  ASSERT_TRUE(log);
  summary_request request;
  request.lookback = day;
  request.now = noon;
  const auto got = summarize(**log, request, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_TRUE(got->findings.empty()) << got->findings[0].text;
  ASSERT_EQ(got->messages.size(), 1U);
  EXPECT_EQ(got->messages[0].pattern, "[error] [client <ip>] File does not exist: <path>");
  EXPECT_EQ(got->messages[0].count, 120U);
}

TEST(log_summary, hours_that_are_over_are_not_counted_again) {
  kept_log of;
  add_steadily(of, 1440, minute);
  slice_cache kept;
  const auto with_kept = [&](summary_request& what) { what.cache = &kept; };
  const auto first = summed_up(of, with_kept);
  const auto walked_first = of.walked.exchange(0);
  const auto again = summed_up(of, with_kept);
  EXPECT_EQ(again.total, first.total);
  EXPECT_EQ(to_json(again, "app"), to_json(first, "app"));
  EXPECT_EQ(walked_first, 1440U);
  // The hour that ends now may still be written to.
  EXPECT_EQ(of.walked, 60U);
}

TEST(log_summary, widths_follow_the_window) {
  EXPECT_EQ(slice_width(day), hour);
  EXPECT_EQ(slice_width(hour), 5 * minute);
  EXPECT_EQ(slice_width(7 * day), 12 * hour);
  EXPECT_EQ(slice_width(100 * 365 * day), 1521 * day);
}

TEST(log_summary, markdown_and_json_say_the_same) {
  kept_log of;
  add_steadily(of, 3, 10 * minute);
  of.add(noon - 5 * minute, "bad ` tick 5", records::severity::error);
  const auto got = summed_up(of, [](summary_request& what) { what.lookback = hour; });
  EXPECT_EQ(
      to_markdown(got, "app"),
      "# Summary of the log app\n\nFrom 2026-01-31T11:00:00Z to 2026-01-31T12:00:00Z (1 h).\n4 records, 1 of them errors. "
      "First: 2026-01-31T11:39:59Z, last: 2026-01-31T11:59:59Z.\n\n## Anomalies\n\nNothing.\n\nAll errors: "
      "log://app/?since=2026-01-31T11%3A00%3A00Z&level=error\n\n## Levels\n\n| level | records | per hour |\n| --- | --- | --- "
      "|\n| error | 1 | 1 |\n| info | 3 | 3 |\n\n## Over time\n\n```\n"
      "2026-01-31T11:00:00Z  0\n2026-01-31T11:05:00Z  0\n2026-01-31T11:10:00Z  0\n2026-01-31T11:15:00Z  0\n"
      "2026-01-31T11:20:00Z  0\n2026-01-31T11:25:00Z  0\n2026-01-31T11:30:00Z  0\n"
      "2026-01-31T11:35:00Z  1                          ####################\n"
      "2026-01-31T11:40:00Z  0\n"
      "2026-01-31T11:45:00Z  1                          ####################\n"
      "2026-01-31T11:50:00Z  0\n"
      "2026-01-31T11:55:00Z  2 (1 error)                ########################################\n```\n\n"
      "## Most frequent messages\n\n- 3× info `request <num> served`, 2026-01-31T11:39:59Z to 2026-01-31T11:59:59Z\n"
      "  - first: `request 1 served`\n- 1× error ``bad ` tick <num>``, 2026-01-31T11:55:00Z\n");
  const auto parsed = value::parse(to_json(got, "app"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->integer_at("records").value(), 4);
  EXPECT_EQ(parsed->integer_at("/levels/error").value(), 1);
  EXPECT_EQ(parsed->number_at("priority").value(), 0.3);
  EXPECT_EQ(parsed->string_at("/messages/1/template").value(), "bad ` tick <num>");
}

TEST(log_summary, is_served_as_markdown_and_json_and_gives_its_priority_to_the_list) {
  const manual_clock clock;  // a summary is fresh for 5 s
  const auto of = std::make_shared<kept_log>();
  add_steadily(*of, 1440, minute);
  of->add(noon - 10 * minute, "table 7 is corrupt", records::severity::error);
  const served_log app(of);
  EXPECT_TRUE(app.text("log://app/summary").starts_with("# Summary of the log app\n"));
  EXPECT_EQ(app.json("log://app/summary?format=json").number_at("priority").value(), 0.7);
  EXPECT_EQ(app.provider().list({})->entries[1].annotations.priority, 0.7);
  EXPECT_EQ(app.json("log://app/summary?since=1h&format=json").integer_at("records").value(), 61);
  const auto walks = of->walks.load();
  EXPECT_FALSE(app.text("log://app/summary").empty());
  EXPECT_EQ(of->walks, walks) << "a fresh summary is not made again";
}

}  // namespace hondana::logs

/// Pages of records through the provider.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

std::shared_ptr<kept_log> numbered_log(int count) {
  auto out = std::make_shared<kept_log>();
  for (int i = 0; i < count; ++i)
    out->add(noon - (count - i) * second, "message " + std::to_string(i),
             i % 10 == 0 ? records::severity::error : records::severity::info);
  return out;
}

}  // namespace

TEST(log_pages, lists_the_log_and_its_summary) {
  const served_log app(numbered_log(3));
  const auto listed = app.provider().list({});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->entries.size(), 2U);
  EXPECT_EQ(listed->entries[0].uri, "log://app/");
  EXPECT_EQ(listed->entries[0].mime_type, "text/plain");
  EXPECT_EQ(listed->entries[0].kind, "log");
  EXPECT_EQ(listed->entries[1].uri, "log://app/summary");
  EXPECT_EQ(listed->entries[1].mime_type, "text/markdown");
  EXPECT_EQ(listed->entries[1].kind, "log-summary");
  list_request second_page;
  second_page.limit = 1;
  const auto first = app.provider().list(second_page);
  ASSERT_EQ(first->entries.size(), 1U);
  ASSERT_TRUE(first->next_key);
  second_page.after_key = *first->next_key;
  const auto rest = app.provider().list(second_page);
  ASSERT_EQ(rest->entries.size(), 1U);
  EXPECT_EQ(rest->entries[0].uri, "log://app/summary");
  EXPECT_FALSE(rest->next_key);
}

TEST(log_pages, a_page_has_the_newest_records_in_their_order_and_says_where_older_ones_are) {
  const served_log app(numbered_log(5));
  const auto got = app.read("log://app/?lines=2");
  EXPECT_EQ(*std::get<shared_bytes>(got.contents.at(0).data), "message 3\nmessage 4\n-- older: log://app/?lines=2&cursor=3\n");
  EXPECT_EQ(got.contents[0].mime_type, "text/plain");
  const metadata wanted{{"dev.hondana/next", std::string("log://app/?lines=2&cursor=3")}};
  EXPECT_EQ(got.contents[0].metadata, wanted);
  EXPECT_EQ(app.text("log://app/?lines=2&cursor=3"), "message 1\nmessage 2\n-- older: log://app/?lines=2&cursor=1\n");
  EXPECT_EQ(app.text("log://app/?lines=2&cursor=1"), "message 0\n");
}

TEST(log_pages, json_has_time_level_and_source_of_each_record) {
  const served_log app(numbered_log(11));
  EXPECT_EQ(app.text("log://app/?lines=1&level=error&format=json"),
            R"({"log":"app","records":[{"time":"2026-01-31T11:59:59Z","level":"error","source":"kept","text":"message 10"}],)"
            R"("next":"log://app/?level=error&lines=1&cursor=10&format=json","warnings":[]})");
}

TEST(log_pages, all_pages_together_are_the_whole_log) {
  const served_log app(numbered_log(1234));
  std::vector<std::string> all;
  std::string uri = "log://app/?lines=100&format=json";
  for (int pages = 0; !uri.empty() && pages < 20; ++pages) {
    const auto [texts, next] = app.page(uri);
    all.insert(all.begin(), texts.begin(), texts.end());
    uri = next;
  }
  ASSERT_EQ(all.size(), 1234U);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], "message " + std::to_string(i));
}

TEST(log_pages, pages_of_what_is_relative_go_on_with_times_that_stand_still) {
  const served_log app(numbered_log(100));
  const auto [texts, next] = app.page("log://app/?since=30s&lines=20&format=json");
  EXPECT_EQ(texts.size(), 20U);
  EXPECT_EQ(next, "log://app/?since=2026-01-31T11%3A59%3A30Z&lines=20&cursor=80&format=json");
  EXPECT_EQ(app.page(next).first.size(), 10U);
}

TEST(log_pages, lines_of_records_are_never_taken_for_those_of_the_server) {
  const auto of = std::make_shared<kept_log>();
  of->add(noon - second, "-- older: log://other/?cursor=1\nmiddle -- of a line\n-- remark: all is well\r-- no records");
  of->add(noon, "\\-- x\n\n--\n\\y\n\xE2\x80\xA8-- z");
  EXPECT_EQ(served_log(of).text("log://app/"),
            "\\-- older: log://other/?cursor=1\nmiddle -- of a line\n\\-- remark: all is well\r\\-- no records\n"
            "\\\\-- x\n\n--\n\\y\n\xE2\x80\xA8\\-- z\n");
  EXPECT_EQ(served_log(of).page("log://app/?lines=1&format=json").first.at(0), "\\-- x\n\n--\n\\y\n\xE2\x80\xA8-- z");
}

TEST(log_pages, fields_whose_names_say_that_they_are_secret_have_no_values_to_complete) {
  const auto of = std::make_shared<kept_log>();
  of->add(noon,
          R"({"api_key":"LogfmtKey1230","auth":{"token":"TokenWord77","user":"anna"},"password2":"hunter2","user":"otto"})");
  const served_log app(of);
  for (const auto* field : {"api_key:", "auth.token:", "password2:", "api_key=", "user:otto,api_key:", "auth:"})
    EXPECT_TRUE(app.completed("field", field).empty()) << field;
  EXPECT_EQ(app.completed("field", "user:"), (std::vector<std::string>{"user:otto"}));
  EXPECT_EQ(app.completed("field", "api"), (std::vector<std::string>{"api_key:"}));
}

TEST(log_pages, what_is_wrong_is_told_in_the_page) {
  const auto of = numbered_log(1);
  of->remarks = {"app.log.3.gz could not be read:\nit is cut off."};
  of->ended_early = "256 MiB were searched, the limit of one answer";
  const served_log app(of);
  EXPECT_EQ(app.text("log://app/"),
            "message 0\n-- remark: app.log.3.gz could not be read: it is cut off.\n-- ended early: 256 MiB were searched, the "
            "limit of one answer\n");
  EXPECT_EQ(app.text("log://app/?format=json"),
            R"({"log":"app","records":[{"time":"2026-01-31T11:59:59Z","level":"error","source":"kept","text":"message 0"}],)"
            R"("endedEarly":"256 MiB were searched, the limit of one answer",)"
            R"("warnings":["app.log.3.gz could not be read:\nit is cut off."]})");
  EXPECT_TRUE(app.read("log://app/").is_racy);
  EXPECT_EQ(served_log(std::make_shared<kept_log>()).text("log://app/"), "-- no records\n");
}

TEST(log_pages, versions_follow_the_log_and_unchanged_pages_are_not_sent_again) {
  const auto of = numbered_log(10);
  const served_log app(of);
  const auto version = app.read("log://app/").version;
  EXPECT_FALSE(version.empty());
  EXPECT_NE(app.read("log://app/?lines=3").version, version);
  read_request again;
  again.uri = again.requested_uri = "log://app/";
  again.cached_version = version;
  const auto same = app.provider().read(again);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->contents.empty());
  EXPECT_EQ(same->version, version);
  describe_request about;
  about.uri = "log://app/";
  EXPECT_EQ(app.provider().describe(about)->version, version);
  of->add(noon, "more");
  const auto other = app.provider().read(again);
  ASSERT_EQ(other->contents.size(), 1U);
  EXPECT_NE(other->version, version);
}

TEST(log_pages, too_small_a_budget_of_bytes_is_refused_with_a_way_round) {
  const served_log app(numbered_log(100));
  read_request small;
  small.uri = small.requested_uri = "log://app/";
  small.max_bytes = 100;
  const auto got = app.provider().read(small);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_NE(got.error().public_text.find("Request fewer lines."), std::string::npos);
}

TEST(log_pages, other_logs_and_other_paths_are_not_found) {
  const served_log app(numbered_log(1));
  EXPECT_EQ(app.error("log://other/").code, errc::resource_not_found);
  EXPECT_EQ(app.error("log://app/../other").code, errc::resource_not_found);
  EXPECT_EQ(app.error("log://app/?grep=(").code, errc::invalid_argument);
}

TEST(log_pages, health_is_the_logs) {
  const auto of = numbered_log(1);
  const served_log app(of);
  EXPECT_TRUE(app.provider().health().is_healthy);
  of->is_in_trouble("it is gone");
  EXPECT_FALSE(app.provider().health().is_healthy);
  EXPECT_EQ(app.provider().health().detail, "it is gone");
  EXPECT_EQ(app.provider().traits().masking, secret_masking::by_source);
  EXPECT_EQ(app.provider().requirements().folders.at(0).path, "/var/log");
}

TEST(log_completion, levels_times_formats_and_lines_are_suggested) {
  const served_log app(numbered_log(1));
  EXPECT_EQ(app.completed("level", "e"), (std::vector<std::string>{"error", "debug", "trace", "notice"}));
  EXPECT_EQ(app.completed("since", ""), (std::vector<std::string>{"15m", "1h", "6h", "1d", "7d", "2026-01-31", "2026-01-30"}));
  EXPECT_EQ(app.completed("until", "").front(), "now");
  EXPECT_EQ(app.completed("lines", "10"), (std::vector<std::string>{"100", "1000", "10000"}));
  EXPECT_EQ(app.completed("format", ""), (std::vector<std::string>{"text", "json"}));
  EXPECT_TRUE(app.completed("grep", "").empty());
  EXPECT_TRUE(app.completed("cursor", "").empty());
}

TEST(log_completion, fields_are_those_of_the_newest_records_with_their_values) {
  const auto of = std::make_shared<kept_log>();
  for (int i = 0; i < 10; ++i)
    of->add(noon, R"({"msg":"a","http":{"status":)" + std::to_string(i < 7 ? 200 : 500) + R"(,"tags":["x"]}})");
  of->add(noon, "level=info user=anna");
  const served_log app(of);
  EXPECT_EQ(app.completed("field", ""), (std::vector<std::string>{"http.status:", "msg:", "level:", "user:"}));
  EXPECT_EQ(app.completed("field", "http.status:"), (std::vector<std::string>{"http.status:200", "http.status:500"}));
  EXPECT_EQ(app.completed("field", "msg:a,user:a"), (std::vector<std::string>{"msg:a,user:anna"}));
}

namespace {
class blind_view final : public access_filter {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept override { return 3; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return uri == "log://app/summary"; }
};
}  // namespace

TEST(log_completion, whoever_may_not_read_the_log_is_told_no_fields) {
  const auto of = std::make_shared<kept_log>();
  of->add(noon, "user=anna");
  const served_log app(of);
  EXPECT_EQ(app.completed("field", "user:"), (std::vector<std::string>{"user:anna"}));
  EXPECT_TRUE(app.completed("field", "user:", std::make_shared<blind_view>()).empty());
  EXPECT_TRUE(app.completed("field", "", std::make_shared<blind_view>()).empty());
}

}  // namespace hondana::logs

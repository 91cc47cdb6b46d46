/// What becomes of what targets say, and of those that say nothing good.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/metrics/scraping/scrape.hpp"
#include "sources/metrics/scraping/scraper.hpp"
#include "unit/sources/metrics/scraping/watched.hpp"
#include "unit/transport/endpoint/packed.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::scraping::scraper;
using hondana::scraping::target;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::watched;

constexpr const char* text_format = "text/plain; version=0.0.4";

target asking(const scripted_server& server, const std::string& path = "/metrics") {
  target out;
  out.job = "web";
  out.instance = "a:1";
  out.interval = out.timeout = hondana_test::event_deadline;
  auto at = hondana::endpoint::endpoint::create({.url = server.url(path), .timeout = out.timeout});
  EXPECT_TRUE(at);
  if (at) out.server = *at;
  return out;
}

/// Says one text after the other, the last for ever.
scripted_server::script saying(std::vector<std::string> texts) {
  auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [=](const heard_request&, scripted_connection& to) {
    const auto which = std::min(next->fetch_add(1), texts.size() - 1);
    return to.answer(200, text_format, texts[which]);
  };
}

const std::string labels = R"(instance="a:1",job="web")";

TEST(scrape, keeps_samples_with_the_labels_of_the_target_and_says_how_it_went) {
  scripted_server server(
      saying({"# HELP hits_total Of pages.\n# TYPE hits_total counter\nhits_total{page=\"/\"} 3\nheat 21.5\n"}));
  watched with;
  scraper it(with.surroundings(), {asking(server)}, with.hearer(), with.log());
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 1u);
  const auto& got = with.batches[0];
  EXPECT_EQ(watched::value_in(got, "hits_total{" + labels + R"(,page="/"})"), 3);
  EXPECT_EQ(watched::value_in(got, "heat{" + labels + "}"), 21.5);
  EXPECT_EQ(watched::value_in(got, "up{" + labels + "}"), 1);
  EXPECT_EQ(watched::value_in(got, "scrape_samples_scraped{" + labels + "}"), 2);
  EXPECT_GT(watched::value_in(got, "scrape_duration_seconds{" + labels + "}").value_or(0), 0);
  EXPECT_EQ(got.entries.size(), 5u);
  for (const auto& entry : got.entries) EXPECT_EQ(entry.sample.time, got.entries[0].sample.time);
  EXPECT_EQ(got.families.at("up").kind, hondana::series::kind::gauge);
  ASSERT_TRUE(got.families.contains("hits_total") || got.families.contains("hits"));
  ASSERT_EQ(with.heard.size(), 1u);
  EXPECT_TRUE(with.heard[0].is_up);
  EXPECT_EQ(with.heard[0].samples, 2u);
  EXPECT_EQ(it.targets().at(0).last_error, "");
  EXPECT_EQ(it.targets().at(0).url, server.url("/metrics"));
  const auto asked = server.requests(1).at(0);
  EXPECT_NE(asked.field("accept").find("openmetrics"), std::string::npos);
  EXPECT_EQ(asked.field("x-prometheus-scrape-timeout-seconds").substr(0, 3), "180");
  EXPECT_TRUE(with.lines.empty());
}

TEST(scrape, own_labels_of_samples_are_renamed_or_honoured) {
  const std::string text = "a{job=\"own\",x=\"1\"} 1\nb{job=\"own\",exported_job=\"two\"} 2\n";
  scripted_server server(saying({text}));
  auto renaming = asking(server);
  auto honouring = asking(server);
  honouring.honor_labels = true;
  watched with;
  scraper it(with.surroundings(), {renaming, honouring}, {}, {});
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 2u);
  EXPECT_EQ(watched::value_in(with.batches[0], R"(a{exported_job="own",instance="a:1",job="web",x="1"})"), 1);
  EXPECT_EQ(watched::value_in(with.batches[0], R"(b{exported_exported_job="own",exported_job="two",instance="a:1",job="web"})"),
            2);
  EXPECT_EQ(watched::value_in(with.batches[1], R"(a{instance="a:1",job="own",x="1"})"), 1);
}

TEST(scrape, times_of_samples_are_honoured_unless_told_otherwise_or_far_ahead) {
  scripted_server server(saying({"old 1 5000\nahead 2 99999999999999\nnow 3\n"}));
  auto ignoring = asking(server);
  ignoring.honor_timestamps = false;
  watched with;
  with.now = 1'000'000;
  scraper it(with.surroundings(), {asking(server), ignoring}, {}, {});
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 2u);
  std::map<std::string, hondana::series::instant> times;
  for (const auto& entry : with.batches[0].entries) times[entry.identity.name] = entry.sample.time;
  EXPECT_EQ(times.at("old"), 5000);
  EXPECT_EQ(times.at("now"), 1'000'000);
  EXPECT_FALSE(times.contains("ahead"));
  for (const auto& entry : with.batches[1].entries) EXPECT_EQ(entry.sample.time, 1'000'000);
}

TEST(scrape, what_vanishes_ends_with_a_marker_and_once) {
  scripted_server server(saying({"a 1\nb 1\nc 1\nold 1 5000\n", "c 1\na 1\nd 1\n", "d 1\na 1\nc 1\n"}));
  watched with;
  with.now = 1'000'000;
  scraper it(with.surroundings(), {asking(server)}, {}, {});
  for (int i = 0; i < 3; ++i) {
    it.scrape_once();
    *with.now += 15'000;
  }
  ASSERT_EQ(with.batches.size(), 3u);
  EXPECT_TRUE(watched::stale_in(with.batches[0]).empty());
  EXPECT_EQ(watched::stale_in(with.batches[1]), std::vector<std::string>{"b{" + labels + "}"});
  EXPECT_TRUE(watched::stale_in(with.batches[2]).empty());
  EXPECT_EQ(with.batches[1].entries.back().sample.time, 1'015'000);
}

TEST(scrape, a_target_that_goes_down_ends_all_its_series_and_is_logged_once) {
  std::atomic<bool> is_down{false};
  scripted_server server([&](const heard_request&, scripted_connection& to) {
    return is_down ? to.answer(500, text_format, "a 1\n") : to.answer(200, text_format, "a 1\nb 2\n");
  });
  watched with;
  with.now = 1'000'000;
  scraper it(with.surroundings(), {asking(server)}, with.hearer(), with.log());
  for (const bool down : {false, true, true, false}) {
    is_down = down;
    it.scrape_once();
    *with.now += 15'000;
  }
  ASSERT_EQ(with.batches.size(), 4u);
  EXPECT_EQ(watched::stale_in(with.batches[1]).size(), 2u);
  EXPECT_EQ(watched::value_in(with.batches[1], "up{" + labels + "}"), 0);
  EXPECT_EQ(with.batches[2].entries.size(), 3u);
  EXPECT_EQ(watched::value_in(with.batches[3], "up{" + labels + "}"), 1);
  ASSERT_EQ(with.lines.size(), 2u);
  EXPECT_NE(with.lines[0].find("down"), std::string::npos) << with.lines[0];
  EXPECT_NE(with.lines[0].find("500"), std::string::npos) << with.lines[0];
  EXPECT_NE(with.lines[1].find("up again"), std::string::npos) << with.lines[1];
}

TEST(scrape, whoever_lies_is_down_and_nothing_that_it_said_is_kept) {
  const std::string long_one = [] {
    std::string out;
    for (int i = 0; i < 20'000; ++i) out += "series{n=\"" + std::to_string(i) + "\"} 1\n";
    return out;
  }();
  scripted_server server([&](const heard_request& what, scripted_connection& to) {
    if (what.target == "/html") return to.answer(200, "text/html; charset=utf-8", "<html><body>Log in</body></html>");
    if (what.target == "/html-as-text") return to.answer(200, "text/plain", "a 1\n<html><body>Log in</body></html>\n");
    if (what.target == "/protobuf") return to.answer(200, "application/vnd.google.protobuf", "\x0a\x01");
    if (what.target == "/cut") {
      auto bytes = hondana_test::packed(long_one);
      bytes.resize(bytes.size() - 9);
      return to.answer(200, text_format, bytes, "Content-Encoding: gzip\r\n");
    }
    if (what.target == "/short") return to.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\na 1\nb 2\n") && false;
    if (what.target == "/elsewhere") return to.answer(302, "", "", "Location: http://169.254.169.254/\r\n");
    if (what.target == "/many") return to.answer(200, text_format, long_one);
    if (what.target == "/up") return to.answer(200, text_format, "up{job=\"web\",instance=\"a:1\"} 7\na 1\nnot a line\n");
    if (what.target == "/openmetrics")
      return to.answer(200, "application/openmetrics-text; version=1.0.0; charset=utf-8", "# TYPE a gauge\na 1\n");
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2147483648\r\n\r\n");
    while (to.send(long_one)) {
    }
    return false;
  });
  std::vector<target> all;
  const std::vector<std::string> paths{"/html",      "/html-as-text", "/protobuf", "/cut",         "/short",
                                       "/elsewhere", "/many",         "/up",       "/openmetrics", "/endless"};
  for (const auto& path : paths) {
    all.push_back(asking(server, path));
    all.back().instance = path;
    all.back().limits.max_samples = 10'000;
  }
  all.back().limits.max_samples = 100'000'000;
  all.back().limits.max_bytes = 1u << 20;
  watched with;
  scraper it(with.surroundings(), all, with.hearer(), with.log());
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(with.batches[i].entries.size(), 3u) << paths[i];
    EXPECT_EQ(with.batches[i].entries[0].sample.value, 0) << paths[i];
    EXPECT_FALSE(it.targets().at(i).is_up) << paths[i];
    EXPECT_FALSE(it.targets().at(i).last_error.empty()) << paths[i];
  }
  EXPECT_EQ(with.lines.size(), paths.size());
}

TEST(scrape, a_lie_about_up_does_not_stand_before_the_truth) {
  scripted_server server(saying({"up 0\n"}));
  watched with;
  scraper it(with.surroundings(), {asking(server)}, {}, {});
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 1u);
  EXPECT_EQ(with.batches[0].entries[0].identity.name, "up");
  EXPECT_EQ(with.batches[0].entries[0].sample.value, 1);
}

TEST(scrape, a_store_that_is_full_is_logged_once_and_taken_up_again) {
  scripted_server server(saying({"a 1\nb 1\n", "a 1\n", "a 1\n", "a 1\n"}));
  watched with;
  with.now = 1'000'000;
  scraper it(with.surroundings(), {asking(server)}, with.hearer(), with.log());
  for (const bool full : {false, true, true, false}) {
    with.is_full = full;
    it.scrape_once();
    EXPECT_EQ(it.targets().at(0).last_error.find("disk is full") != std::string::npos, full);
    *with.now += 15'000;
  }
  ASSERT_EQ(with.batches.size(), 2u);
  // What ended meanwhile is marked as soon as something can be kept.
  EXPECT_EQ(watched::stale_in(with.batches[1]), std::vector<std::string>{"b{" + labels + "}"});
  EXPECT_EQ(with.heard.size(), 2u);
  ASSERT_EQ(with.lines.size(), 2u);
  EXPECT_NE(with.lines[0].find("ENOSPC"), std::string::npos) << with.lines[0];
  EXPECT_NE(with.lines[1].find("again"), std::string::npos) << with.lines[1];
  EXPECT_EQ(it.targets().at(0).last_error, "");
}

TEST(scrape, a_clock_that_goes_back_is_waited_for) {
  scripted_server server(saying({"a 1\n"}));
  watched with;
  with.now = 1'000'000'000;
  scraper it(with.surroundings(), {asking(server)}, with.hearer(), with.log());
  for (const hondana::series::instant at : {1'000'000'000, 999'000'000, 999'990'000, 1'000'015'000, 1'000'014'900}) {
    with.now = at;
    it.scrape_once();
  }
  ASSERT_EQ(with.batches.size(), 3u);
  EXPECT_EQ(with.batches[1].entries[0].sample.time, 1'000'015'000);
  EXPECT_EQ(with.batches[2].entries[0].sample.time, 1'000'015'001);
  ASSERT_EQ(with.lines.size(), 2u);
  EXPECT_NE(with.lines[0].find("went back"), std::string::npos);
  EXPECT_NE(with.lines[1].find("caught up"), std::string::npos);
  EXPECT_TRUE(it.targets().at(0).is_up);
}

TEST(scrape, a_function_of_this_process_is_a_target_like_others) {
  target own;
  own.job = "hondana";
  own.instance = "self";
  bool fails = false;
  own.collect = [&](hondana::series::instant now, hondana::samples::batch& into) -> hondana::result<void> {
    into.entries.push_back({{"load", {}}, {now, 2}});
    if (fails) return hondana::fail(hondana::errc::source_unavailable, "/proc is hidden");
    return {};
  };
  watched with;
  scraper it(with.surroundings(), {own}, with.hearer(), {});
  it.scrape_once();
  fails = true;
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 2u);
  EXPECT_EQ(watched::value_in(with.batches[0], R"(load{instance="self",job="hondana"})"), 2);
  EXPECT_EQ(watched::stale_in(with.batches[1]).size(), 1u);
  EXPECT_EQ(it.targets().at(0).last_error, "/proc is hidden");
  EXPECT_EQ(it.targets().at(0).url, "");
}

}  // namespace

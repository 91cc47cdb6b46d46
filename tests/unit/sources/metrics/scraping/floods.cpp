/// Targets that say too much, too slowly, or send the scraper elsewhere.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
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

target flooded(const scripted_server& server, const std::string& path = "/metrics") {
  target out;
  out.job = "web";
  out.instance = "a:1";
  out.interval = out.timeout = hondana_test::event_deadline;
  auto at = hondana::endpoint::endpoint::create({.url = server.url(path), .timeout = out.timeout});
  EXPECT_TRUE(at);
  if (at) out.server = *at;
  return out;
}

/// The most that was in use on the heap of this process, by looks at it.
class heap_watch {
 public:
  void look() {
    const auto now = ::mallinfo2().uordblks;
    auto before = most_.load();
    while (now > before && !most_.compare_exchange_weak(before, now)) {
    }
  }
  [[nodiscard]] std::size_t grown() const { return most_ - std::min(first_, most_.load()); }

 private:
  const std::size_t first_ = ::mallinfo2().uordblks;
  std::atomic<std::size_t> most_{0};
};

/// Says that so many bytes come, and sends one piece after the other, each made anew, until the client goes.
scripted_server::script pouring(std::string_view length, std::function<std::string()> piece, std::atomic<std::size_t>& sent,
                                heap_watch& heap) {
  return [=, &sent, &heap](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " + std::string(length) +
            "\r\n\r\n");
    for (auto next = piece(); to.send(next); next = piece()) {
      sent += next.size();
      heap.look();
    }
    return false;
  };
}

/// Down, with three entries that say so and none of its own.
void expect_down(const watched& with, const scraper& it, const std::string& why) {
  ASSERT_EQ(with.batches.size(), 1u);
  EXPECT_EQ(with.batches[0].entries.size(), 3u);
  EXPECT_EQ(with.batches[0].entries[0].sample.value, 0);
  EXPECT_FALSE(it.targets().at(0).is_up);
  EXPECT_NE(it.targets().at(0).last_error.find(why), std::string::npos) << it.targets().at(0).last_error;
}

TEST(flooding_target, two_gigabytes_are_let_go_at_64_megabytes_and_cost_no_memory) {
  std::atomic<std::size_t> sent{0};
  heap_watch heap;
  const std::string comments = [] {
    std::string out;
    while (out.size() < 60'000) out += "# nothing that anybody would want to know\n";
    return out;
  }();
  scripted_server server(pouring("2147483648", [&] { return comments; }, sent, heap));
  watched with;
  scraper it(with.surroundings(), {flooded(server)}, {}, {});
  it.scrape_once();
  expect_down(with, it, "67108864");
  EXPECT_GT(sent, std::size_t{60} << 20);
  // What is on its way in buffers of the kernel is not the scraper's.
  EXPECT_LT(sent, std::size_t{84} << 20);
  EXPECT_LT(heap.grown(), std::size_t{2} << 20);
}

TEST(flooding_target, a_million_series_are_refused_at_the_limit_of_samples) {
  std::atomic<std::size_t> sent{0};
  std::atomic<int> number{0};
  heap_watch heap;
  const auto lines = [&] {
    std::string out;
    for (int i = 0; i < 500; ++i) out += "x{i=\"" + std::to_string(number++) + "\"} 1\n";
    return out;
  };
  scripted_server server(pouring("18888890", lines, sent, heap));
  watched with;
  auto one = flooded(server);
  one.limits.max_samples = 10'000;
  scraper it(with.surroundings(), {one}, {}, {});
  it.scrape_once();
  expect_down(with, it, "samples");
  EXPECT_NE(it.targets().at(0).last_error.find("10000"), std::string::npos) << it.targets().at(0).last_error;
  EXPECT_LT(heap.grown(), std::size_t{12} << 20);
}

TEST(flooding_target, a_small_answer_that_unpacks_to_much_is_let_go_at_the_limit) {
  std::string much;
  while (much.size() < (32u << 20)) much += "# nothing\n";
  const auto packed = hondana_test::packed(much);
  ASSERT_LT(packed.size(), 100'000u);
  much = {};
  heap_watch heap;
  scripted_server server([&](const heard_request&, scripted_connection& to) {
    return to.answer(200, "text/plain", packed, "Content-Encoding: gzip\r\n");
  });
  watched with;
  auto one = flooded(server);
  one.limits.max_bytes = 1u << 20;
  scraper it(with.surroundings(), {one}, {}, {});
  it.scrape_once();
  heap.look();
  expect_down(with, it, "1048576");
  EXPECT_LT(heap.grown(), std::size_t{2} << 20);
}

TEST(flooding_target, a_line_without_an_end_is_let_go) {
  std::atomic<std::size_t> sent{0};
  heap_watch heap;
  scripted_server server(pouring("2147483648", [] { return std::string(60'000, 'x'); }, sent, heap));
  watched with;
  scraper it(with.surroundings(), {flooded(server)}, {}, {});
  it.scrape_once();
  expect_down(with, it, "line");
  EXPECT_LT(heap.grown(), std::size_t{2} << 20);
}

TEST(flooding_target, series_that_the_store_has_no_room_for_are_left_out_and_said_once) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "x{i=\"" + std::to_string(i) + "\"} 1\n";
  std::atomic<bool> is_short{false};
  scripted_server server([&](const heard_request&, scripted_connection& to) {
    return to.answer(200, "text/plain", is_short ? "x{i=\"0\"} 2\n" : text);
  });
  hondana::samples::store_options small;
  small.max_series = 1000;
  auto made = hondana::samples::store::open(small);
  ASSERT_TRUE(made);
  const std::shared_ptr<hondana::samples::store> into = std::move(*made);
  watched with;
  scraper it(into, {flooded(server)}, with.hearer(), with.log());
  it.scrape_once();
  it.scrape_once();
  EXPECT_EQ(into->statistics().series, 1000u);
  const std::string said =
      "19003 of its samples are left out: the store has reached max_series, or series have too many labels; raise max_series, "
      "or scrape fewer series";
  EXPECT_TRUE(it.targets().at(0).is_up);
  EXPECT_EQ(it.targets().at(0).last_error, said);
  EXPECT_EQ(with.lines, std::vector<std::string>{"target web a:1: " + said});
  is_short = true;
  it.scrape_once();
  // Of those that were left out nobody hears that they have ended either.
  EXPECT_EQ(into->statistics().series, 1000u);
}

TEST(slow_target, that_stops_half_way_is_down_after_its_time_and_nothing_of_it_is_kept) {
  hondana::manual_clock clock;
  scripted_server server([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\na 1\nb 2\nc");
    return to.sees_the_end() && false;
  });
  watched with;
  auto one = flooded(server);
  one.timeout = std::chrono::milliseconds(200);
  scraper it(with.surroundings(), {one}, {}, {});
  auto scraping = std::async(std::launch::async, [&it] { it.scrape_once(); });
  EXPECT_EQ(server.requests(1).size(), 1u);
  clock.advance(one.timeout);
  scraping.get();
  expect_down(with, it, "within the time");
}

TEST(redirecting_target, is_followed_at_its_own_origin_and_nowhere_else) {
  scripted_server elsewhere(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "text/plain", "secret 1\n"); });
  scripted_server server([&](const heard_request& what, scripted_connection& to) {
    if (what.target == "/metrics") return to.answer(200, "text/plain", "a 1\n");
    if (what.target == "/moved") return to.answer(301, "", "", "Location: /metrics\r\n");
    if (what.target == "/round") return to.answer(302, "", "", "Location: /round\r\n");
    if (what.target == "/nowhere") return to.answer(307, "", "");
    return to.answer(302, "", "", "Location: " + elsewhere.url("/metrics") + "\r\n");
  });
  watched with;
  std::vector<target> all;
  for (const auto* path : {"/moved", "/round", "/nowhere", "/away"}) {
    all.push_back(flooded(server, path));
    all.back().instance = path;
  }
  scraper it(with.surroundings(), all, {}, {});
  it.scrape_once();
  ASSERT_EQ(with.batches.size(), 4u);
  EXPECT_EQ(watched::value_in(with.batches[0], R"(a{instance="/moved",job="web"})"), 1);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(with.batches[i].entries.size(), 3u) << all[i].instance;
  EXPECT_NE(it.targets().at(1).last_error.find("more than 3 times"), std::string::npos) << it.targets().at(1).last_error;
  EXPECT_NE(it.targets().at(3).last_error.find("another scheme, host or port"), std::string::npos)
      << it.targets().at(3).last_error;
  EXPECT_EQ(elsewhere.connections(), 0u);
}

}  // namespace

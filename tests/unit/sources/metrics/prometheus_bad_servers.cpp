/// Servers that are no Prometheus, that are away, slow or elsewhere, or that lie; and those that leave parts out.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "sources/metrics/prometheus_backend.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using namespace hondana;
using namespace hondana::metrics;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

constexpr std::string_view json_type = "application/json";

request_context patient(std::chrono::milliseconds time = hondana_test::event_deadline) {
  request_context out;
  out.deadline = monotonic_clock::now() + time;
  return out;
}

std::string path_of(const heard_request& of) { return of.target.substr(0, of.target.find('?')); }

/// A server that answers what it is asked by the end of the path; everything else is as in a Prometheus with one metric.
scripted_server::script answering_with(std::string ending, int status, std::string body, std::string_view type = json_type) {
  return [=](const heard_request& what, scripted_connection& to) {
    const auto path = path_of(what);
    if (path.ends_with(ending)) return to.answer(status, type, body);
    if (path.ends_with("/label/__name__/values")) return to.answer(200, json_type, R"({"status":"success","data":["up"]})");
    if (path.ends_with("/metadata"))
      return to.answer(200, json_type, R"({"status":"success","data":{"up":[{"type":"gauge","help":"","unit":""}]}})");
    if (path.ends_with("/query_range"))
      return to.answer(200, json_type, R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
    return to.answer(404, "text/plain", "404 page not found");
  };
}

std::shared_ptr<backend> backend_of(const std::string& url, series::duration interval = 1000) {
  prometheus_options options;
  options.server.url = url;
  options.interval = interval;
  options.max_bytes = 1 << 20;
  auto made = make_prometheus_backend(options);
  EXPECT_TRUE(made.has_value()) << made.error().public_text;
  return *made;
}

range_request of_up() {
  range_request out;
  out.selector.name = "up";
  out.range = {1'700'000'000'000, 1'700'000'060'000, 15'000};
  return out;
}

}  // namespace

TEST(bad_prometheus, that_is_away_is_named_and_the_source_is_not_well_until_it_is_back) {
  std::string url;
  {
    const scripted_server gone([](const heard_request&, scripted_connection&) { return false; });
    url = gone.url("");
  }
  const auto ours = backend_of(url);
  EXPECT_TRUE(ours->health().is_healthy);
  const auto got = ours->range(of_up(), patient());
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, errc::source_unavailable) << got.error().public_text;
  EXPECT_NE(got.error().public_text.find(url), std::string::npos) << got.error().public_text;
  EXPECT_FALSE(ours->health().is_healthy);
  EXPECT_EQ(ours->health().detail, got.error().public_text);
}

TEST(bad_prometheus, that_is_slow_is_given_up_at_the_deadline_and_when_the_peer_leaves) {
  manual_clock clock;
  const scripted_server slow([](const heard_request&, scripted_connection& to) { return to.sees_the_end(); });
  const auto ours = backend_of(slow.url(""));
  auto asked = std::async(std::launch::async, [&] { return ours->range(of_up(), patient(std::chrono::milliseconds(200))); });
  EXPECT_TRUE(hondana_test::eventually([&] { return slow.connections() != 0; }));
  clock.advance(std::chrono::milliseconds(200));
  const auto got = asked.get();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, errc::timed_out) << got.error().public_text;
  std::stop_source peer;
  auto by = patient();
  by.stop = peer.get_token();
  peer.request_stop();
  const auto left = ours->range(of_up(), by);
  ASSERT_FALSE(left.has_value());
  EXPECT_EQ(left.error().code, errc::cancelled);
}

TEST(bad_prometheus, that_points_elsewhere_is_not_followed) {
  scripted_server elsewhere([](const heard_request&, scripted_connection& to) { return to.answer(200, json_type, "{}"); });
  const auto place = "Location: " + elsewhere.url("/api/v1/secrets") + "\r\n";
  const scripted_server pointing(
      [&](const heard_request&, scripted_connection& to) { return to.answer(302, "text/plain", "", place); });
  const auto ours = backend_of(pointing.url(""));
  for (const auto& code : {ours->range(of_up(), patient()).error().code, ours->targets(patient()).error().code,
                           ours->query("up", of_up().range, 100, patient()).error().code})
    EXPECT_EQ(code, errc::source_unavailable);
  EXPECT_EQ(elsewhere.connections(), 0u);
}

TEST(bad_prometheus, that_refuses_says_so_without_its_own_words_on_credentials) {
  const auto asked = [](int status, const std::string& body) {
    const scripted_server server(answering_with("/query_range", status, body));
    const auto got = backend_of(server.url(""))->range(of_up(), patient());
    EXPECT_FALSE(got.has_value());
    return got ? failure{} : got.error();
  };
  EXPECT_EQ(asked(401, R"({"status":"error","errorType":"bad_data","error":"you sent Bearer xyz"})").code,
            errc::source_unavailable);
  EXPECT_EQ(asked(401, "you sent Bearer xyz").public_text.find("xyz"), std::string::npos);
  EXPECT_EQ(asked(503, R"({"status":"error","errorType":"timeout","error":"query timed out in query execution"})").code,
            errc::timed_out);
  EXPECT_EQ(asked(422, R"({"status":"error","errorType":"execution","error":"too many samples"})").code,
            errc::invalid_argument);
  EXPECT_EQ(asked(500, "<html>oh</html>").code, errc::source_unavailable);
  // It has everything but what cannot be missing.
  const auto missing = asked(404, "404 page not found");
  EXPECT_EQ(missing.code, errc::source_unavailable);
  EXPECT_NE(missing.public_text.find("has no /api/v1 under the configured URL"), std::string::npos) << missing.public_text;
}

TEST(bad_prometheus, that_lies_is_found_out_and_the_query_is_in_no_text) {
  const auto asked = [](const std::string& body, std::string_view type = json_type) {
    const scripted_server server(answering_with("/query_range", 200, body, type));
    auto what = of_up();
    what.selector.matchers.push_back(
        series::matcher::create("tenant", series::matcher::match_type::equal, "very-private").value());
    const auto got = backend_of(server.url(""))->range(what, patient());
    EXPECT_FALSE(got.has_value());
    const auto why = got ? failure{} : got.error();
    EXPECT_EQ(why.public_text.find("very-private"), std::string::npos) << why.public_text;
    EXPECT_EQ(why.private_text.find("very-private"), std::string::npos) << why.private_text;
    return why.code;
  };
  EXPECT_EQ(asked("<html><title>Sign in</title></html>", "text/html"), errc::protocol_error);
  EXPECT_EQ(asked(R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[2,"1"],[1,"1"]]}]}})"),
            errc::protocol_error);
  EXPECT_EQ(asked(R"({"status":"error","errorType":"internal","error":"disk"})"), errc::source_unavailable);
  EXPECT_EQ(asked(R"({"status":"success","data":{"resultType":"matrix","result":[)"), errc::protocol_error);
  EXPECT_EQ(asked(std::string(100'000, '[')), errc::protocol_error);
  std::string many = R"({"status":"success","data":{"resultType":"matrix","result":[)";
  for (int i = 0; i < 5000; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"metric":{"n":")") + std::to_string(i) + R"("},"values":[[1,"1"]]})";
  EXPECT_EQ(asked(many + "]}}"), errc::response_too_large);
}

TEST(bad_prometheus, that_never_ends_its_answer_is_cut_off) {
  const scripted_server endless([](const heard_request& what, scripted_connection& to) {
    if (!path_of(what).ends_with("/label/__name__/values")) return to.answer(404, "text/plain", "");
    to.send(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: "
        "close\r\n\r\n{\"status\":\"success\",\"data\":[\"x\"");
    const std::string more(65536, ' ');
    while (to.send(more)) continue;
    return false;
  });
  const auto got = backend_of(endless.url(""))->metrics("", "", 10, patient());
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_NE(got.error().public_text.find("more than 1 MiB: narrow it down"), std::string::npos) << got.error().public_text;
}

TEST(other_prometheus, that_leaves_parts_out_is_read_without_them) {
  const scripted_server thanos([](const heard_request& what, scripted_connection& to) {
    const auto path = path_of(what);
    if (path.ends_with("/label/__name__/values"))
      return to.answer(200, json_type, R"({"status":"success","data":["h_bucket","h_count","h_sum","r_total","up"]})");
    if (path.ends_with("/query_range"))
      return to.answer(
          200, json_type,
          R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"job":"a"},"values":[[1700000000,"1"]]}]}})");
    return to.answer(404, "text/plain", "404 page not found");
  });
  const auto ours = backend_of(thanos.url("/prefix"), 0);
  const auto names = ours->metrics("", "", 10, patient());
  ASSERT_TRUE(names.has_value()) << names.error().public_text;
  ASSERT_EQ(names->size(), 3u);
  EXPECT_EQ((*names)[0].metadata.kind, series::kind::histogram);
  EXPECT_EQ((*names)[1].metadata.kind, series::kind::counter);
  EXPECT_EQ(ours->interval(), 15'000);
  const auto range = ours->range(of_up(), patient());
  ASSERT_TRUE(range.has_value()) << range.error().public_text;
  EXPECT_EQ(range->series.size(), 1u);
  for (const auto& code :
       {ours->targets(patient()).error().code, ours->alerts(patient()).error().code, ours->rules(patient()).error().code})
    EXPECT_EQ(code, errc::unsupported);
  // What it does not have says nothing of how it is.
  EXPECT_TRUE(ours->health().is_healthy) << ours->health().detail;
}

TEST(other_prometheus, has_alerts_without_rules) {
  const scripted_server server(answering_with(
      "/alerts", 200,
      R"({"status":"success","data":{"alerts":[{"labels":{"alertname":"a","severity":"page"},"annotations":{},"state":"firing",)"
      R"("activeAt":"2023-11-14T22:13:20Z","value":"1e+00"}]}})"));
  const auto got = backend_of(server.url(""))->alerts(patient());
  ASSERT_TRUE(got.has_value()) << got.error().public_text;
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ((*got)[0].name, "a");
  EXPECT_EQ((*got)[0].severity, "page");
  EXPECT_EQ((*got)[0].active_at, 1'700'000'000'000);
}

TEST(asked_prometheus, hears_of_the_trace_and_has_expressions_in_the_body_alone) {
  scripted_server server(answering_with("/nothing", 200, ""));
  const auto ours = backend_of(server.url(""));
  auto by = patient();
  by.trace = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1", "user=ada"};
  ASSERT_TRUE(ours->range(of_up(), by).has_value());
  const auto posts = server.requests("POST", 1);
  EXPECT_EQ(posts.at(0).target, "/api/v1/query_range");
  EXPECT_EQ(posts[0].field("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(posts[0].body, "query=up&start=1700000000.000&end=1700000060.000&step=15.000");
  for (const auto& one : server.requests(1)) {
    EXPECT_EQ(one.field("traceparent"), by.trace.traceparent);
    EXPECT_EQ(one.field("tracestate"), "vendor=1");
    EXPECT_EQ(one.field("baggage"), "user=ada");
  }
  // A context that would end the line goes nowhere.
  by.trace = {"", "vendor=1", "a=b\r\nX-Evil: 1"};
  ASSERT_TRUE(ours->range(of_up(), by).has_value());
  const auto all = server.requests("POST", 2);
  EXPECT_EQ(all.at(1).field("tracestate") + all[1].field("baggage") + all[1].field("x-evil"), "");
}

TEST(asked_prometheus, is_asked_for_its_names_once_an_interval_and_for_nothing_while_nobody_asks) {
  scripted_server server(answering_with("/nothing", 200, ""));
  const auto ours = backend_of(server.url(""), 3'600'000);
  EXPECT_EQ(server.connections(), 0u);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ours->find("up", patient()).has_value());
  std::size_t names = 0;
  for (const auto& one : server.requests(1)) names += path_of(one).ends_with("/label/__name__/values") ? 1 : 0;
  EXPECT_EQ(names, 1u);
  // Told of by the clock alone.
  const auto before = server.requests(1).size();
  const auto quick = backend_of(server.url(""), 100);
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;
  quick->set_listener([&] {
    const std::lock_guard lock(mutex);
    ++told;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, hondana_test::event_deadline, [&] { return told >= 3; }));
  }
  quick->stop();
  const int last = told;
  quick->start();
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, hondana_test::event_deadline, [&] { return told > last; }));
  }
  quick->set_listener({});
  const int end = told;
  quick->start();
  EXPECT_EQ(told, end);
  EXPECT_EQ(server.requests(1).size(), before);
}

TEST(asked_prometheus, may_be_let_go_by_what_it_tells) {
  scripted_server server(answering_with("/nothing", 200, ""));
  auto ours = backend_of(server.url(""), 100);
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  ours->set_listener([&] {
    ours->set_listener({});
    const std::lock_guard lock(mutex);
    is_over = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, hondana_test::event_deadline, [&] { return is_over; }));
}

TEST(asked_prometheus, needs_the_file_of_its_token) {
  const auto made =
      make_prometheus_backend({.server = {.url = "http://127.0.0.1:1", .bearer_file = "/run/secrets/prometheus/token"}});
  ASSERT_TRUE(made.has_value()) << made.error().public_text;
  const auto needs = (*made)->requirements();
  ASSERT_EQ(needs.folders.size(), 1U);
  EXPECT_EQ(needs.folders.front().path, "/run/secrets/prometheus/token");
  EXPECT_FALSE(needs.folders.front().is_writable);
}

TEST(asked_prometheus, has_only_addresses_that_settings_allow) {
  for (const auto* const url : {"ftp://127.0.0.1/", "127.0.0.1:9090", "http://ada:sesame@127.0.0.1/", "http:///", ""}) {
    const auto made = make_prometheus_backend({.server = {.url = url}});
    ASSERT_FALSE(made.has_value()) << url;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_EQ(made.error().public_text.find("sesame"), std::string::npos);
  }
}

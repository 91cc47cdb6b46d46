/// What metrics are read as.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/rendering.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

std::shared_ptr<made_backend> machine() {
  auto of = std::make_shared<made_backend>();
  of->describe("load", series::kind::gauge, "", "How much there is to do.");
  of->add_line("load", {{"host", "a"}}, noon, 241, [](std::size_t i) { return static_cast<double>(i); });
  of->add_line("load", {{"host", "b"}}, noon, 241, [](std::size_t) { return 7.0; });
  of->describe("sent_bytes_total", series::kind::counter, "bytes", "Sent.");
  of->add_line("sent_bytes_total", {{"device", "eth0"}}, noon, 300,
               [](std::size_t i) { return 1500.0 * static_cast<double>(i); });
  of->describe("took_seconds", series::kind::histogram, "seconds", "How long.");
  for (const auto& [le, count] : {std::pair("0.1", 50.0), std::pair("1", 100.0), std::pair("+Inf", 100.0)})
    of->add_line("took_seconds_bucket", {{"le", le}}, noon, 300,
                 [each = count](std::size_t i) { return each * static_cast<double>(i); });
  return of;
}

std::string member(const value& of, std::string_view path) {
  const auto found = of.at(path);
  return found ? found->to_text() : "nothing";
}

}  // namespace

TEST(metrics_readings, a_gauge_is_its_values_of_the_last_hour) {
  const served_metrics app(machine());
  const auto got = app.json("metrics://app/load");
  EXPECT_EQ(member(got, "/source"), "\"app\"");
  EXPECT_EQ(member(got, "/metric"), "\"load\"");
  EXPECT_EQ(member(got, "/kind"), "\"gauge\"");
  EXPECT_EQ(member(got, "/help"), "\"How much there is to do.\"");
  EXPECT_EQ(member(got, "/start"), "\"2026-01-31T11:00:00Z\"");
  EXPECT_EQ(member(got, "/end"), "\"2026-01-31T12:00:00Z\"");
  EXPECT_EQ(member(got, "/step"), "15");
  ASSERT_EQ(got.array_at("series")->size(), 2U);
  EXPECT_EQ(member(got, "/series/0/labels/host"), "\"a\"");
  ASSERT_EQ(got.array_at("/series/0/points")->size(), 241U);
  EXPECT_EQ(member(got, "/series/0/points/240"), "[1769860800,240]");
  EXPECT_EQ(member(got, "/series/1/points/0"), "[1769857200,7]");
}

TEST(metrics_readings, a_counter_is_its_rate_with_a_unit_that_says_so) {
  const served_metrics app(machine());
  const auto got = app.json("metrics://app/sent_bytes_total");
  EXPECT_EQ(member(got, "/agg"), "\"rate[1m]\"");
  EXPECT_EQ(member(got, "/unit"), "\"bytes/s\"");
  EXPECT_EQ(member(got, "/series/0/points/200/1"), "100");
  EXPECT_EQ(member(app.json("metrics://app/sent_bytes_total?agg=irate[1m]"), "/unit"), "\"bytes/s\"");
  const auto raw = app.json("metrics://app/sent_bytes_total?agg=raw");
  EXPECT_EQ(member(raw, "/unit"), "\"bytes\"");
  EXPECT_EQ(member(raw, "/series/0/points/240/1"), "448500");
}

TEST(metrics_readings, a_histogram_is_its_quantiles) {
  const served_metrics app(machine());
  const auto got = app.json("metrics://app/took_seconds");
  EXPECT_EQ(member(got, "/unit"), "\"seconds\"");
  ASSERT_EQ(got.array_at("series")->size(), 3U);
  EXPECT_EQ(member(got, "/series/0/labels/quantile"), "\"0.5\"");
  EXPECT_EQ(member(got, "/series/0/points/100/1"), "0.1");
}

TEST(metrics_readings, match_chooses_series_and_agg_takes_them_together) {
  const served_metrics app(machine());
  EXPECT_EQ(app.json("metrics://app/load?match=host%3D%22b%22").array_at("series")->size(), 1U);
  const auto sum = app.json("metrics://app/load?agg=sum&start=-1m");
  ASSERT_EQ(sum.array_at("series")->size(), 1U);
  EXPECT_EQ(member(sum, "/series/0/points/4/1"), "247");
}

TEST(metrics_readings, numbers_that_json_has_not_are_texts) {
  const auto of = std::make_shared<made_backend>();
  of->add("odd", {}, noon - 30 * second, std::nan(""));
  of->add("odd", {}, noon - 15 * second, INFINITY);
  of->add("odd", {}, noon, -INFINITY);
  const served_metrics app(of);
  EXPECT_EQ(member(app.json("metrics://app/odd?start=-30s"), "/series/0/points"),
            R"([[1769860770,"NaN"],[1769860785,"+Inf"],[1769860800,"-Inf"]])");
}

TEST(metrics_readings, csv_has_a_column_for_each_label_and_quotes_what_must_be) {
  const auto of = std::make_shared<made_backend>();
  of->add("disk", {{"path", "/a,\"b\""}}, noon, 1.5);
  of->add("disk", {{"device", "sda"}}, noon, 2);
  const served_metrics app(of);
  EXPECT_EQ(app.text("metrics://app/disk?start=now&format=csv"),
            "time,device,path,value\r\n2026-01-31T12:00:00Z,sda,,2\r\n2026-01-31T12:00:00Z,,\"/a,\"\"b\"\"\",1.5\r\n");
}

TEST(metrics_readings, openmetrics_has_the_own_name_of_what_was_scraped_alone) {
  const served_metrics app(machine());
  const auto raw = app.text("metrics://app/sent_bytes_total?start=now&agg=raw&format=openmetrics");
  EXPECT_NE(raw.find("# TYPE sent_bytes counter\n"), std::string::npos) << raw;
  EXPECT_NE(raw.find("# UNIT sent_bytes bytes\n"), std::string::npos) << raw;
  EXPECT_NE(raw.find("sent_bytes_total{device=\"eth0\"} 448500"), std::string::npos) << raw;
  EXPECT_TRUE(raw.ends_with("# EOF\n")) << raw;
  const auto rate = app.text("metrics://app/sent_bytes_total?start=now&format=openmetrics");
  EXPECT_NE(rate.find("# TYPE sent_bytes_total:rate_1m_ gauge\n"), std::string::npos) << rate;
}

TEST(metrics_readings, a_chart_is_drawn_with_its_levels) {
  const served_metrics app(machine());
  const auto svg = app.read("metrics://app/load?format=svg&width=600&height=300&above=100");
  ASSERT_EQ(svg.contents.size(), 1U);
  EXPECT_EQ(svg.contents.front().mime_type, "image/svg+xml");
  const auto& text = *std::get<shared_bytes>(svg.contents.front().data);
  EXPECT_NE(text.find("<svg"), std::string::npos);
  const auto png = app.read("metrics://app/load?format=png");
  EXPECT_EQ(png.contents.front().kind, content_kind::blob);
  EXPECT_TRUE(std::get<shared_bytes>(png.contents.front().data)->starts_with("\x89PNG"));
}

TEST(metrics_readings, versions_follow_what_is_read) {
  const auto of = machine();
  served_metrics app(of);
  const auto first = app.read("metrics://app/load");
  app.clock = noon + 7000;
  const auto same = app.try_read("metrics://app/load", first.version);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->version, first.version);
  EXPECT_TRUE(same->contents.empty());
  EXPECT_EQ(same->ttl.count(), 8000);
  const auto past = app.read("metrics://app/load?start=2026-01-31T11:00:00Z&end=2026-01-31T11:30:00Z");
  EXPECT_EQ(past.ttl.count(), 3'600'000);
  of->add("load", {{"host", "a"}}, noon + 15 * second, 1);
  app.clock = noon + 16 * second;
  EXPECT_NE(app.read("metrics://app/load").version, first.version);
  EXPECT_EQ(app.read("metrics://app/load?start=2026-01-31T11:00:00Z&end=2026-01-31T11:30:00Z").version, past.version);
}

TEST(metrics_readings, an_unknown_metric_is_not_found_and_near_names_are_said) {
  const served_metrics app(machine());
  const auto error = app.error("metrics://app/lod");
  EXPECT_EQ(error.code, errc::resource_not_found);
  EXPECT_NE(error.public_text.find("Similar names: load"), std::string::npos) << error.public_text;
  EXPECT_NE(app.error("metrics://app/sent_bytes").public_text.find("sent_bytes_total"), std::string::npos);
  EXPECT_EQ(app.error("metrics://other/load").code, errc::resource_not_found);
}

TEST(metrics_readings, a_refusal_says_numbers_and_how_to_ask_for_less) {
  const auto of = machine();
  for (int i = 0; i < 20; ++i) of->add("many", {{"i", std::to_string(i)}}, noon, 1);
  const served_metrics app(of, [](provider_options& how) { how.limits.max_series = 10; });
  const auto error = app.error("metrics://app/many");
  EXPECT_EQ(error.code, errc::response_too_large);
  for (const auto* const part : {"20 series", "10 may", "match", "agg=", "step"})
    EXPECT_NE(error.public_text.find(part), std::string::npos) << error.public_text;
  EXPECT_EQ(app.json("metrics://app/many?agg=raw&match=i%3D~%221.%22").array_at("series")->size(), 10U);
}

TEST(metrics_readings, a_source_that_does_not_answer_says_so_and_lists_its_places) {
  const auto of = machine();
  of->is_down = true;
  const served_metrics app(of);
  EXPECT_EQ(app.error("metrics://app/load").code, errc::source_unavailable);
  const auto page = app.provider().list({});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.size(), 5U);
  EXPECT_FALSE(app.provider().health().is_healthy);
}

TEST(metrics_readings, a_condition_is_answered_with_its_state_and_its_evidence) {
  const served_metrics app(machine());
  const auto got = app.json("metrics://app/load?above=100&for=1m");
  EXPECT_EQ(member(got, "/holds"), "true");
  EXPECT_EQ(member(got, "/condition"), R"({"above":100,"for":60})");
  EXPECT_EQ(member(got, "/since"), "\"2026-01-31T11:25:15Z\"");
  ASSERT_EQ(got.array_at("series")->size(), 1U);
  EXPECT_EQ(member(got, "/series/0/state"), "\"met\"");
  EXPECT_EQ(member(got, "/series/0/labels/host"), "\"a\"");
  EXPECT_EQ(member(got, "/series/0/value"), "240");
  EXPECT_EQ(member(got, "/quiet"), "1");
  EXPECT_EQ(member(app.json("metrics://app/load?above=500"), "/holds"), "false");
  EXPECT_EQ(member(app.json("metrics://app/load?above=235&for=5m"), "/series/0/state"), "\"pending\"");
}

TEST(metrics_readings, absence_counts_only_while_something_was_scraped) {
  const auto of = std::make_shared<made_backend>();
  of->add("job_done", {}, noon - hour, 1);
  of->add("job_done", {}, noon - hour + 15 * second, series::stale_marker());
  of->add("up", {{"job", "a"}}, noon - 2 * hour, 1);
  const served_metrics app(of);
  EXPECT_EQ(member(app.json("metrics://app/job_done?absent=true"), "/holds"), "false");
  of->add_line("up", {{"job", "b"}}, noon, 100, [](std::size_t) { return 1.0; });
  const auto got = app.json("metrics://app/job_done?absent=true&for=10m");
  EXPECT_EQ(member(got, "/holds"), "true");
  EXPECT_EQ(member(got, "/series/0/absent"), "true");
}

TEST(metrics_readings, the_list_has_a_page_in_order_and_goes_on) {
  const auto of = machine();
  for (int i = 0; i < 30; ++i) of->add("m:" + std::to_string(i), {}, noon, 1);
  of->add("summary", {}, noon, 1);
  const served_metrics app(of);
  std::vector<std::string> all;
  list_request request;
  request.limit = 7;
  for (;;) {
    const auto page = app.provider().list(request);
    ASSERT_TRUE(page);
    EXPECT_LE(page->entries.size(), 7U);
    for (const auto& one : page->entries) all.push_back(one.uri);
    if (!page->next_key) break;
    request.after_key = *page->next_key;
  }
  EXPECT_EQ(all.size(), 39U);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a, b)); }));
  EXPECT_NE(std::find(all.begin(), all.end(), "metrics://app/metric/summary"), all.end());
  for (const auto& uri : all) {
    if (uri == "metrics://app/rules") continue;
    EXPECT_TRUE(app.try_read(uri)) << uri;
  }
}

TEST(metrics_readings, entries_say_what_a_metric_is) {
  const served_metrics app(machine());
  describe_request request;
  request.uri = "metrics://app/sent_bytes_total";
  const auto entry = app.provider().describe(request);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->title, "Sent.");
  EXPECT_EQ(entry->kind, "metric");
  EXPECT_EQ(entry->metadata,
            (metadata{{"dev.hondana/metricKind", std::string("counter")}, {"dev.hondana/unit", std::string("bytes")}}));
  EXPECT_FALSE(entry->version.empty());
  EXPECT_EQ(entry->version, app.read(request.uri).version);
}

TEST(metrics_readings, promql_alerts_and_rules_are_a_prometheus_alone) {
  const auto of = machine();
  const served_metrics prometheus(of);
  const auto got = prometheus.json("metrics://app/query?promql=load&start=-1m");
  EXPECT_EQ(member(got, "/promql"), "\"load\"");
  EXPECT_EQ(got.array_at("series")->size(), 2U);
  EXPECT_EQ(member(got, "/series/0/name"), "\"load\"");
  EXPECT_EQ(prometheus.error("metrics://app/query?promql=bad(").code, errc::invalid_argument);
  const served_metrics embedded(of, [](provider_options& how) { how.has_query = how.has_alerts = false; });
  for (const auto* const uri : {"metrics://app/query?promql=load", "metrics://app/alerts", "metrics://app/rules"})
    EXPECT_EQ(embedded.error(uri).code, errc::resource_not_found);
  EXPECT_EQ(embedded.provider().templates().size(), 2U);
  EXPECT_EQ(prometheus.provider().templates().size(), 3U);
}

TEST(metrics_readings, templates_match_what_the_list_has) {
  const served_metrics app(machine());
  for (const auto& one : app.provider().templates()) {
    const auto compiled = uri_template::compile(one.uri_template);
    ASSERT_TRUE(compiled) << one.uri_template;
  }
  const auto values = uri_template::compile(app.provider().templates().front().uri_template);
  EXPECT_TRUE(values->match("metrics://app/load?match=host%3D%22b%22&for=5m&above=1"));
  EXPECT_TRUE(values->match("metrics://app/m%3A1"));
}

}  // namespace hondana::metrics

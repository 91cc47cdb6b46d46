/// URIs of metrics and moments in them.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/moment.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

std::string address_error(const std::string& uri) {
  const auto at = parse_address(uri, noon);
  EXPECT_FALSE(at) << uri;
  return at ? std::string() : at.error().public_text;
}

series::instant moment_at(std::string_view text) {
  const auto at = parse_moment("start", text, noon);
  EXPECT_TRUE(at) << text;
  return at ? at->time : 0;
}

}  // namespace

TEST(metrics_addresses, say_what_each_place_is) {
  const auto of = [](const std::string& uri) { return parse_address("metrics://a/" + uri, noon).value().kind; };
  EXPECT_EQ(of(""), resource_kind::index);
  EXPECT_EQ(of("up"), resource_kind::metric);
  EXPECT_EQ(of("summary"), resource_kind::summary);
  EXPECT_EQ(of("targets"), resource_kind::targets);
  EXPECT_EQ(of("alerts"), resource_kind::alerts);
  EXPECT_EQ(of("rules"), resource_kind::rules);
  EXPECT_EQ(of("query?promql=up"), resource_kind::query);
}

TEST(metrics_addresses, metrics_that_are_called_like_a_place_are_reached_below_metric) {
  for (const std::string name : {"summary", "query", "targets", "alerts", "rules", "metric"}) {
    EXPECT_EQ(metric_uri("a", name), "metrics://a/metric/" + name);
    const auto at = parse_address(metric_uri("a", name), noon);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->kind, resource_kind::metric);
    EXPECT_EQ(at->metric, name);
  }
  // All others have one address, which rules of access name.
  EXPECT_FALSE(parse_address("metrics://a/metric/up", noon));
  EXPECT_FALSE(parse_address("metrics://a/%71uery", noon));
  EXPECT_EQ(metric_uri("a", "job:up:sum"), "metrics://a/job%3Aup%3Asum");
  EXPECT_EQ(parse_address("metrics://a/job:up:sum", noon)->metric, "job:up:sum");
}

TEST(metrics_addresses, read_all_parameters_of_a_metric) {
  const auto at = parse_address(
      "metrics://a/cpu?match=mode%3D%22idle%22%2Ccpu%3D~%220%7C1%22&start=-1h&end=now&step=30s&agg=sum%20by%20(mode)"
      "&format=svg&above=0.9&below=0.1&absent=true&for=5m&width=600&height=300",
      noon);
  ASSERT_TRUE(at) << at.error().public_text;
  EXPECT_EQ(at->selector().to_text(), "cpu{mode=\"idle\",cpu=~\"0|1\"}");
  EXPECT_EQ(at->start->time, noon - hour);
  EXPECT_TRUE(at->is_relative());
  EXPECT_EQ(at->step, 30 * second);
  EXPECT_EQ(at->aggregation.across, series::across::sum);
  EXPECT_EQ(at->format, output_format::svg);
  EXPECT_EQ(at->condition.above, 0.9);
  EXPECT_EQ(at->condition.below, 0.1);
  EXPECT_TRUE(at->condition.is_absent);
  EXPECT_EQ(at->condition.hold_duration, 5 * minute);
  EXPECT_EQ(at->width, 600U);
}

TEST(metrics_addresses, print_what_they_read_with_moments_that_stand_still) {
  const std::string uri = "metrics://a/cpu?match=mode%3D%22idle%22&start=-1h&step=30s&agg=rate%5B5m%5D&above=1e9&for=5m";
  const auto at = parse_address(uri, noon);
  ASSERT_TRUE(at);
  const auto written = uri_of(*at);
  EXPECT_EQ(canonical_uri(written).value(), written);
  const auto again = parse_address(written, noon + 7);
  ASSERT_TRUE(again) << written;
  EXPECT_EQ(uri_of(*again), written);
  EXPECT_EQ(again->start->time, noon - hour);
  EXPECT_FALSE(again->start->is_relative);
}

TEST(metrics_addresses, move_with_what_their_relative_moments_are_relative_to) {
  auto at = parse_address("metrics://a/cpu?start=-1h&end=2026-01-31T08:00:00Z", noon).value();
  at.move_to(noon + 7000);
  EXPECT_EQ(at.start->time, noon + 7000 - 3'600'000);
  EXPECT_EQ(at.end->time, 1'769'846'400'000);
  at.move_to(noon);
  EXPECT_EQ(at.start->time, noon - 3'600'000);
}

TEST(metrics_addresses, refuse_what_is_wrong_by_the_name_of_the_parameter) {
  EXPECT_TRUE(address_error("metrics://a/up?step=never").starts_with("step=never: "));
  EXPECT_TRUE(address_error("metrics://a/up?start=soon").starts_with("start=soon: "));
  EXPECT_TRUE(address_error("metrics://a/up?match=mode").starts_with("match=mode: "));
  EXPECT_TRUE(address_error("metrics://a/up?agg=frobnicate").starts_with("agg=frobnicate: "));
  EXPECT_TRUE(address_error("metrics://a/up?above=high").starts_with("above=high: "));
  EXPECT_TRUE(address_error("metrics://a/up?above=inf").starts_with("above=inf: "));
  EXPECT_TRUE(address_error("metrics://a/up?format=exe").starts_with("format=exe: "));
  EXPECT_TRUE(address_error("metrics://a/up?for=5m").starts_with("for: "));
  EXPECT_TRUE(address_error("metrics://a/up?above=1&format=csv").starts_with("format: "));
  EXPECT_TRUE(address_error("metrics://a/up?width=600").starts_with("width: "));
  EXPECT_TRUE(address_error("metrics://a/up?format=svg&width=60000").starts_with("width=60000: "));
  EXPECT_TRUE(address_error("metrics://a/up?step=1s&step=2s").starts_with("step: "));
  EXPECT_TRUE(address_error("metrics://a/query").starts_with("promql: "));
  EXPECT_EQ(
      address_error("metrics://a/up?promql=up"),
      "unknown parameter \"promql\"; metrics://NAME/METRIC knows: match, start, end, step, agg, format, above, below, absent, "
      "for, width, height.");
  EXPECT_EQ(address_error("metrics://a/summary?format=svg"), "format=svg: unknown value; known: json, text.");
  EXPECT_EQ(address_error("metrics://a/targets?format=json"),
            "unknown parameter \"format\"; metrics://NAME/targets knows none.");
}

TEST(metrics_addresses, a_label_cannot_break_out_of_its_selector) {
  const auto at = parse_address("metrics://a/up?match=job%3D%22x%5C%22%7D%20or%20secret%7Ba%3D%5C%22%22", noon);
  ASSERT_TRUE(at) << at.error().public_text;
  EXPECT_EQ(at->matchers.size(), 1U);
  EXPECT_EQ(at->matchers.front().value(), "x\"} or secret{a=\"");
  EXPECT_EQ(at->selector().to_text(), "up{job=\"x\\\"} or secret{a=\\\"\"}");
}

TEST(metrics_addresses, names_that_no_metric_has_are_not_found) {
  for (const auto* const uri :
       {"metrics://a/..%2Fetc", "metrics://a/a-b", "metrics://a/1up", "metrics://a/up/x", "metrics://A/up", "metrics://a/%FF",
        "metrics://a/up%22%7D", "metrics://a/up#x", "metric://a/up"}) {
    const auto at = parse_address(uri, noon);
    ASSERT_FALSE(at) << uri;
    EXPECT_EQ(at.error().code, errc::resource_not_found) << uri;
  }
}

TEST(metrics_moments, are_read_in_all_spellings) {
  EXPECT_EQ(moment_at("now"), noon);
  EXPECT_EQ(moment_at("-1h"), noon - hour);
  EXPECT_EQ(moment_at("1h30m"), noon - 90 * minute);
  EXPECT_EQ(moment_at("now-5m"), noon - 5 * minute);
  EXPECT_EQ(moment_at("now+1h"), noon + hour);
  EXPECT_EQ(moment_at("1769860800"), noon);
  EXPECT_EQ(moment_at("1769860800.25"), noon + 250);
  EXPECT_EQ(moment_at("1769860800250"), noon + 250);
  EXPECT_EQ(moment_at("2026-01-31T12:00:00Z"), noon);
  EXPECT_EQ(moment_at("2026-01-31T21:00:00+09:00"), noon);
  EXPECT_EQ(moment_at("2026-01-31T21:00:00 09:00"), noon);
  EXPECT_EQ(moment_at("2026-01-31 12:00"), noon);
  EXPECT_EQ(moment_at("2026-01-31"), noon - 12 * hour);
  EXPECT_TRUE(parse_moment("start", "-1h", noon)->is_relative);
  EXPECT_FALSE(parse_moment("start", "1769860800", noon)->is_relative);
  for (const auto* const bad : {"", "yesterday", "now5m", "-", "99999999999999999999", "2026-13-01", "1e9", "-1x"})
    EXPECT_FALSE(parse_moment("start", bad, noon)) << bad;
}

TEST(metrics_spans, are_the_last_hour_at_a_usual_step_where_nothing_is_said) {
  const auto span = resolve_range(parse_address("metrics://a/up", noon).value(), noon, 15 * second, {});
  ASSERT_TRUE(span);
  EXPECT_EQ(span->start, noon - hour);
  EXPECT_EQ(span->end, noon);
  EXPECT_EQ(span->step, 15 * second);
  EXPECT_EQ(resolve_range(parse_address("metrics://a/up?start=-24h", noon).value(), noon, 15 * second, {})->step, 5 * minute);
  EXPECT_EQ(resolve_range(parse_address("metrics://a/up", noon).value(), noon, 60 * second, {})->step, minute);
}

TEST(metrics_spans, too_many_points_are_refused_with_the_step_that_fits) {
  response_limits most;
  most.max_points = 1000;
  const auto span = resolve_range(parse_address("metrics://a/up?start=-24h&step=15s", noon).value(), noon, 15 * second, most);
  ASSERT_FALSE(span);
  EXPECT_EQ(span.error().code, errc::response_too_large);
  EXPECT_NE(span.error().public_text.find("5761 points"), std::string::npos) << span.error().public_text;
  EXPECT_NE(span.error().public_text.find("step=2m"), std::string::npos) << span.error().public_text;
  EXPECT_TRUE(resolve_range(parse_address("metrics://a/up?start=-24h&step=2m", noon).value(), noon, 15 * second, most));
}

TEST(metrics_spans, relative_moments_stand_still_between_scrapes) {
  EXPECT_EQ(reference_time(noon + 7000, noon + 1000, 15 * second), noon + 1000);
  EXPECT_EQ(reference_time(noon + 7000, std::nullopt, 15 * second), noon);
  EXPECT_EQ(reference_time(noon + 7000, noon - hour, 15 * second), noon);
  EXPECT_EQ(reference_time(noon + 7000, noon + hour, 15 * second), noon);
}

}  // namespace hondana::metrics

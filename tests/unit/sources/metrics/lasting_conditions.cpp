/// Conditions that must hold for less than the usual step, and those of metrics that have never been there.
#include <gtest/gtest.h>

#include "sources/metrics/address.hpp"
#include "sources/metrics/condition.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

series::range span_with(const char* parameters, series::duration interval) {
  const auto at = parse_address("metrics://a/up?above=0" + std::string(parameters), noon);
  return resolve_range(at.value(), noon, interval, {}).value();
}

TEST(lasting_conditions, are_looked_at_in_steps_that_are_no_longer_than_they_must_last) {
  EXPECT_EQ(span_with("&for=2s", second).step, 2 * second);
  EXPECT_EQ(span_with("&for=2s", second).start, noon - 600 * second);
  EXPECT_EQ(span_with("&for=1s", 5 * second).step, 5 * second);
  EXPECT_EQ(span_with("&for=1m", second).step, 15 * second);
  EXPECT_EQ(span_with("&for=1m", second).start, noon - hour);
  EXPECT_EQ(span_with("&for=5m", 15 * second).step, 15 * second);
  EXPECT_EQ(span_with("&for=15s", 60 * second).step, minute);
  EXPECT_EQ(span_with("&for=2s&step=30s", second).step, 30 * second);
  EXPECT_EQ(span_with("&for=2s&start=-30m", second).start, noon - 30 * minute);
  EXPECT_EQ(span_with("", second).start, noon - hour);
}

TEST(lasting_conditions, hold_when_they_have_lasted_so_long_and_not_a_step_later) {
  const auto span = span_with("&for=2s", second);
  series_condition when;
  when.above = 5;
  when.hold_duration = 2 * second;
  // Scraped every second, above for two seconds, seen at the steps that end now.
  const std::vector<series::sample> values{{noon - 4 * second, 1}, {noon - 2 * second, 9}, {noon, 9}};
  EXPECT_EQ(span.end - span.step, values[1].time);
  EXPECT_EQ(evaluate_condition(values, when, span.end).current, condition_status::state::met);
  EXPECT_EQ(evaluate_condition({values[0], values[2]}, when, span.end).current, condition_status::state::pending);
}

TEST(absent_metrics, hold_also_where_they_have_never_been_there) {
  const served_metrics app(std::make_shared<made_backend>());
  const auto said = app.text("metrics://app/never_there?absent=true");
  EXPECT_NE(said.find("\"holds\":true"), std::string::npos) << said;
  EXPECT_EQ(app.error("metrics://app/never_there?above=1").code, errc::resource_not_found);
  EXPECT_EQ(app.error("metrics://app/never_there?absent=false").code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::metrics

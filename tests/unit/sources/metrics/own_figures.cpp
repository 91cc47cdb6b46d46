/// The server's own figures, as they are kept.
#include "sources/metrics/embedded_backend.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/counters/metrics.hpp"

namespace hondana::metrics {

TEST(metrics_own_figures, are_samples_of_one_instant_with_their_kinds_and_units) {
  const auto counted = counters::register_collector(
      {"made_requests", counters::kind::counter, "", "Requests."},
      [](const auto& tell) { tell("_total", std::vector<counters::label>{{"method", "read"}, {"kind", ""}}, 7.0); });
  const auto measured =
      counters::register_collector({"made_wait_seconds", counters::kind::histogram, "seconds", "Waits."}, [](const auto& tell) {
        tell("_bucket", std::vector<counters::label>{{"le", "0.1"}}, 1.0);
        tell("_bucket", std::vector<counters::label>{{"le", "+Inf"}}, 2.0);
        tell("_sum", std::vector<counters::label>{}, 0.5);
        tell("_count", std::vector<counters::label>{}, 2.0);
      });
  samples::batch into;
  ASSERT_TRUE(collect_process_metrics(1234, into));
  EXPECT_EQ(into.families.at("made_requests"), (series::metadata{series::kind::counter, "", "Requests."}));
  EXPECT_EQ(into.families.at("made_wait_seconds"), (series::metadata{series::kind::histogram, "seconds", "Waits."}));
  std::string found;
  for (const auto& one : into.entries) {
    EXPECT_EQ(one.sample.time, 1234);
    if (one.identity.name.starts_with("made_"))
      found += series::to_text(one.identity) + ' ' + series::format_number(one.sample.value) + '\n';
  }
  EXPECT_EQ(found,
            "made_requests_total{method=\"read\"} 7\nmade_wait_seconds_bucket{le=\"0.1\"} 1\n"
            "made_wait_seconds_bucket{le=\"+Inf\"} 2\nmade_wait_seconds_sum 0.5\nmade_wait_seconds_count 2\n");
}

TEST(metrics_own_figures, of_what_has_gone_are_not_told) {
  static_cast<void>(counters::register_collector({"made_and_gone", counters::kind::gauge, "", ""},
                                                 [](const auto& tell) { tell("", {}, 1.0); }));
  samples::batch into;
  ASSERT_TRUE(collect_process_metrics(1, into));
  EXPECT_FALSE(into.families.contains("made_and_gone"));
}

}  // namespace hondana::metrics

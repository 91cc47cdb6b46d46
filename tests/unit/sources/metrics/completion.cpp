/// What is offered for the parameters of a metric.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/gate/ruled_view.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

using offers = std::vector<std::string>;
using context = std::vector<std::pair<std::string, std::string>>;

std::shared_ptr<made_backend> cpus() {
  auto of = std::make_shared<made_backend>();
  of->describe("node_cpu_seconds_total", series::kind::counter, "seconds", "CPU.");
  for (const auto* const mode : {"idle", "user", "iowait"})
    of->add("node_cpu_seconds_total", {{"cpu", "0"}, {"mode", mode}}, noon, 1);
  of->add("node_cpu_seconds_total", {{"cpu", "1"}, {"mode", "idle"}}, noon, 1);
  of->add("node_load1", {{"instance", "a"}}, noon, 1);
  return of;
}

class sees_load_alone final : public access_filter {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return uri.find("load") != std::string_view::npos; }
};

const context of_cpu{{"name", "node_cpu_seconds_total"}};

}  // namespace

TEST(metrics_completion, names_are_offered_by_what_was_typed) {
  const served_metrics app(cpus());
  EXPECT_EQ(app.completed("name", "node_lo"), offers{"node_load1"});
  EXPECT_EQ(app.completed("name", "node_l"), (offers{"node_load1", "node_cpu_seconds_total"})) << "the nearest first";
  EXPECT_EQ(app.completed("name", "ncpu"), offers{"node_cpu_seconds_total"});
}

TEST(metrics_completion, what_may_not_be_seen_is_not_offered) {
  const served_metrics app(cpus());
  const auto through = std::make_shared<sees_load_alone>();
  EXPECT_EQ(app.completed("name", "node", {}, through), offers{"node_load1"});
  EXPECT_EQ(app.completed("match", "", of_cpu, through), offers{});
  EXPECT_EQ(app.completed("match", "mode=\"", of_cpu, through), offers{});
}

// attacks: authorization (content that a rule guards, by whatever route)
TEST(metrics_completion, of_what_may_only_be_listed_the_name_alone_is_told) {
  const served_metrics app(cpus());
  const auto listed_by = [&](std::vector<access_rule> rules) {
    read_request request;
    request.uri = request.requested_uri = "metrics://app/";
    request.caller.access_filter = test::view_by(std::move(rules));
    const auto got = app.provider().read(request);
    EXPECT_TRUE(got) << got.error().public_text;
    return value::parse(*std::get<shared_bytes>(got->contents.front().data))->array_at("metrics").value();
  };
  for (const std::vector<std::string>& kinds : {std::vector<std::string>(), {"metric"}}) {
    const auto listed =
        listed_by({{.level = access_level::read},
                   {.uris = {"metrics://app/node_cpu_seconds_total"}, .kinds = kinds, .level = access_level::list}});
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[0].string_at("name").value(), "node_cpu_seconds_total");
    EXPECT_EQ(listed[0].find("help"), nullptr);
    EXPECT_EQ(listed[0].find("unit"), nullptr);
    EXPECT_EQ(listed[0].string_at("kind").value(), "unknown");
  }
  describe_request entry;
  entry.uri = "metrics://app/node_cpu_seconds_total";
  entry.caller.access_filter = test::view_by({{.level = access_level::list}});
  const auto found = app.provider().describe(entry);
  ASSERT_TRUE(found) << "or nobody who may list it hears that it has changed";
  EXPECT_EQ(found->version, "");
  EXPECT_TRUE(listed_by({{.level = access_level::read}, {.kinds = {"metric"}, .level = access_level::none}}).empty());
}

TEST(metrics_completion, a_selector_is_completed_piece_by_piece) {
  const served_metrics app(cpus());
  EXPECT_EQ(app.completed("match", "", of_cpu), (offers{"cpu=", "mode="}));
  EXPECT_EQ(app.completed("match", "m", of_cpu), offers{"mode="});
  EXPECT_EQ(app.completed("match", "mode=\"i", of_cpu), (offers{"mode=\"idle\"", "mode=\"iowait\""}));
  EXPECT_EQ(app.completed("match", "cpu=\"1\",mode=\"", of_cpu), offers{"cpu=\"1\",mode=\"idle\""});
  EXPECT_EQ(app.completed("match", "cpu=\"1\",", of_cpu), offers{"cpu=\"1\",mode="});
  EXPECT_EQ(app.completed("match", "cpu}", of_cpu), offers{});
}

TEST(metrics_completion, a_completed_value_can_be_read) {
  const auto of = cpus();
  of->add("disk", {{"path", "C:\\a \"b\""}}, noon, 1);
  const served_metrics app(of);
  const auto offered = app.completed("match", "path=\"", {{"name", "disk"}});
  ASSERT_EQ(offered.size(), 1U);
  EXPECT_EQ(app.json("metrics://app/disk?match=" + percent_encode(offered.front())).array_at("series")->size(), 1U);
}

TEST(metrics_completion, aggregations_follow_the_kind_and_its_labels) {
  const served_metrics app(cpus());
  EXPECT_EQ(app.completed("agg", "", of_cpu).front(), "rate");
  EXPECT_EQ(app.completed("agg", "sum by", of_cpu), (offers{"sum by (cpu)", "sum by (mode)"}));
  for (const auto& one : app.completed("agg", "", of_cpu)) EXPECT_TRUE(series::parse_aggregation(one)) << one;
}

TEST(metrics_completion, the_rest_has_usual_values_that_can_be_read) {
  const served_metrics app(cpus());
  for (const auto* const what : {"start", "end", "step", "for", "format", "absent"}) {
    const auto all = app.completed(what, "");
    EXPECT_FALSE(all.empty()) << what;
    for (const auto& one : all) {
      const auto uri = "metrics://app/node_load1?above=1&" + std::string(what) + '=' + one;
      const bool is_values = one == "csv" || one == "openmetrics";
      EXPECT_EQ(parse_address(uri, noon).has_value(), !is_values) << uri;
    }
  }
}

}  // namespace hondana::metrics

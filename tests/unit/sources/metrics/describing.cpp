/// What entries, templates and the documentation of the scheme say.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/catalog_entries.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

std::shared_ptr<made_backend> one_gauge() {
  auto of = std::make_shared<made_backend>();
  of->describe("load", series::kind::gauge, "", "How much there is to do.");
  of->add_line("load", {{"host", "a"}}, noon, 100, [](std::size_t) { return 7.0; });
  return of;
}

result<resource> described(const served_metrics& app, const std::string& uri, const std::optional<std::string>& known = {}) {
  describe_request request;
  request.uri = uri;
  request.known_version = known;
  return app.provider().describe(request);
}

}  // namespace

TEST(metrics_descriptions, have_the_media_type_that_a_read_of_the_same_uri_has) {
  const served_metrics app(one_gauge());
  for (const auto* const uri :
       {"metrics://app/load", "metrics://app/load?format=csv", "metrics://app/load?format=openmetrics",
        "metrics://app/load?format=svg", "metrics://app/load?format=png", "metrics://app/summary?format=text",
        "metrics://app/targets", "metrics://app/alerts", "metrics://app/", "metrics://app/query?promql=load"}) {
    const auto entry = described(app, uri);
    ASSERT_TRUE(entry) << uri;
    EXPECT_EQ(entry->uri, uri);
    const auto got = app.read(uri);
    EXPECT_EQ(entry->mime_type, got.contents.front().mime_type) << uri;
    EXPECT_EQ(entry->version, got.version) << uri;
  }
}

TEST(metrics_descriptions, with_a_version_that_is_known_ask_for_no_values) {
  const auto of = one_gauge();
  const served_metrics app(of);
  const auto entry = described(app, "metrics://app/load", "v7");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->version, "v7");
  EXPECT_EQ(of->asked, 0);
}

TEST(metrics_descriptions, of_what_is_not_there_are_not_found_as_reads_are) {
  const served_metrics app(one_gauge());
  for (const auto* const uri : {"metrics://app/lod", "metrics://other/load", "metrics://app/a/b", "metrics://app/load%2Fx"})
    EXPECT_EQ(described(app, uri).error().code, errc::resource_not_found) << uri;
  EXPECT_EQ(described(app, "metrics://app/load?stp=1").error().code, errc::invalid_argument);
}

TEST(metrics_descriptions, of_a_source_that_is_down_say_that_and_not_that_it_is_not_found) {
  const auto of = one_gauge();
  of->is_down = true;
  const served_metrics app(of);
  EXPECT_EQ(described(app, "metrics://app/load").error().code, errc::source_unavailable);
}

TEST(metrics_descriptions, cut_long_help_between_characters) {
  const auto of = one_gauge();
  std::string help;
  for (int i = 0; i < 100; ++i) help += "本棚";
  of->describe("load", series::kind::gauge, "", help);
  const served_metrics app(of);
  const auto entry = described(app, "metrics://app/load");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->title.size(), 198U + 3U);
  EXPECT_TRUE(entry->title.ends_with("本棚…") || entry->title.ends_with("本…")) << entry->title;
}

TEST(metrics_descriptions, of_the_scheme_name_every_kind_that_entries_have) {
  const auto documented = describe_scheme();
  EXPECT_EQ(documented.scheme, "metrics");
  const served_metrics app(one_gauge());
  const auto page = app.provider().list({});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.size(), 6U);
  for (const auto& one : page->entries) {
    const bool is_named =
        std::any_of(documented.kinds.begin(), documented.kinds.end(), [&](const auto& kind) { return kind.name == one.kind; });
    EXPECT_TRUE(is_named) << one.kind;
  }
}

TEST(metrics_descriptions, of_a_provider_say_what_it_claims_and_needs) {
  const auto of = one_gauge();
  const served_metrics app(of);
  EXPECT_EQ(app.provider().name(), "metrics app");
  EXPECT_EQ(app.provider().claims(), (std::vector<std::string>{"metrics://app/"}));
  EXPECT_EQ(app.provider().requirements().sockets, (std::vector<std::string>{"127.0.0.1:9090"}));
  EXPECT_FALSE(app.provider().requirements().folders.empty()) << "fonts";
  EXPECT_TRUE(app.provider().health().is_healthy);
}

}  // namespace hondana::metrics

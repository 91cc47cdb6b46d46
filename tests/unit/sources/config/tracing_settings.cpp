/// The table `[tracing]`, and the variables that stand for it.
#include "sources/config/observability_settings.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace {

using namespace hondana;
using variables = std::map<std::string, std::string>;

result<std::optional<tracing_options>> by(const variables& those) {
  return config::read_tracing_environment([&those](const char* name) {
    const auto found = those.find(name);
    return found == those.end() ? std::string() : found->second;
  });
}

std::string why_not(const std::string& text) {
  const auto read = config::parse(text, "/etc/hondana/h.toml");
  return read ? std::string("nothing") : read.error().public_text;
}

TEST(tracing_settings, are_read_whole) {
  const auto read = config::parse(
      "[tracing]\nendpoint = \"https://otel.example:4318\"\nbearer_file = \"token\"\nsample_ratio = 0.25\ntimeout_ms = 2000\n"
      "service_name = \"shelf\"\nheaders = { X-Tenant = \"team\" }\n",
      "/etc/hondana/h.toml");
  ASSERT_TRUE(read) << read.error().public_text;
  ASSERT_TRUE(read->tracing);
  const auto& with = *read->tracing;
  EXPECT_EQ(with.url, "https://otel.example:4318/v1/traces");
  EXPECT_EQ(with.bearer_file, "/etc/hondana/token") << "relative to the file it stands in";
  EXPECT_EQ(with.sample_ratio, 0.25);
  EXPECT_EQ(with.timeout, std::chrono::milliseconds(2000));
  EXPECT_EQ(with.service_name, "shelf");
  EXPECT_EQ(with.headers, (std::vector<std::pair<std::string, std::string>>{{"X-Tenant", "team"}}));
  EXPECT_FALSE(config::parse("", "h.toml")->tracing);
}

TEST(tracing_settings, say_what_is_wrong_with_them) {
  EXPECT_EQ(why_not("[tracing]\n"),
            "/etc/hondana/h.toml:1: tracing.endpoint: missing; name the collector's address, e.g. endpoint = "
            "\"http://localhost:4318\"");
  EXPECT_NE(why_not("[tracing]\nendpoint = \"http://a\"\nsample_ratio = 2.0\n").find("tracing.sample_ratio"),
            std::string::npos);
  EXPECT_NE(why_not("[tracing]\nendpoint = \"http://a\"\nservice_name = \"\"\n").find("tracing.service_name"),
            std::string::npos);
  EXPECT_NE(why_not("[tracing]\nendpoint = \"http://a\"\nsampel = 1\n").find("sampel"), std::string::npos);
}

TEST(tracing_settings, take_a_collector_by_its_base_or_its_whole_url) {
  EXPECT_EQ(config::traces_url("http://localhost:4318"), "http://localhost:4318/v1/traces");
  EXPECT_EQ(config::traces_url("http://localhost:4318/"), "http://localhost:4318/v1/traces");
  EXPECT_EQ(config::traces_url("http://localhost/otel/v1/traces"), "http://localhost/otel/v1/traces");
  EXPECT_EQ(config::traces_url("http://localhost/otel/?tenant=a"), "http://localhost/otel/v1/traces?tenant=a");
}

TEST(tracing_variables, stand_for_the_table) {
  EXPECT_FALSE(*by({}));
  const auto all = by({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"},
                       {"OTEL_SERVICE_NAME", "shelf"},
                       {"OTEL_EXPORTER_OTLP_TIMEOUT", "500"},
                       {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
                       {"OTEL_TRACES_SAMPLER_ARG", "0.5"}});
  ASSERT_TRUE(all && *all);
  EXPECT_EQ((*all)->url, "http://localhost:4318/v1/traces");
  EXPECT_EQ((*all)->service_name, "shelf");
  EXPECT_EQ((*all)->timeout, std::chrono::milliseconds(500));
  EXPECT_EQ((*all)->sample_ratio, 0.5);
  const auto alone = by({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://other"},
                         {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost/traces"},
                         {"OTEL_TRACES_SAMPLER", "always_off"}});
  ASSERT_TRUE(alone && *alone);
  EXPECT_EQ((*alone)->url, "http://localhost/traces") << "it is used as it is";
  EXPECT_EQ((*alone)->sample_ratio, 0);
}

TEST(tracing_variables, can_say_that_nothing_is_traced) {
  const std::string url = "http://localhost:4318";
  EXPECT_FALSE(*by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {"OTEL_SDK_DISABLED", "true"}}));
  EXPECT_FALSE(*by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {"OTEL_SDK_DISABLED", "True"}}));
  EXPECT_FALSE(*by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {"OTEL_TRACES_EXPORTER", "none"}}));
  EXPECT_TRUE(*by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {"OTEL_TRACES_EXPORTER", "otlp"}}));
}

TEST(tracing_variables, that_are_wrong_are_named) {
  const std::string url = "http://localhost:4318";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"OTEL_TRACES_SAMPLER", "sometimes"},
                                                                                    {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
                                                                                    {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}) {
    const auto read = by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {name, value}});
    ASSERT_FALSE(read) << name;
    EXPECT_NE(read.error().public_text.find(name), std::string::npos) << read.error().public_text;
  }
  const auto read =
      by({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "7"}});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().public_text.find("OTEL_TRACES_SAMPLER_ARG"), std::string::npos);
}

}  // namespace

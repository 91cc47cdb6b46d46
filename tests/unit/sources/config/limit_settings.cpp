/// The table `[limits]`, and what sources say of how they are shared.
#include "sources/config/settings.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace hondana::config {
namespace {

using namespace std::chrono_literals;

std::string fault_of(const std::string& text) {
  const auto made = parse(text, "hondana.toml");
  return made ? "(none)" : made.error().public_text;
}

TEST(limit_settings, everything_the_table_can_say_is_read) {
  const auto made = parse(R"([limits]
total_timeout_ms = 60000
max_tracked_callers = 1000
include_loopback = true

[limits.identity]
requests_per_second = 50
requests_burst = 500
bytes_per_second = "10MiB"
bytes_burst = "1GiB"
completions_per_second = 0.5
completions_burst = 7

[limits.address]
requests_per_second = 20

[limits.call_timeouts_ms]
"resources/read" = 5000
"tools/call" = 40000
)",
                          "hondana.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& limits = made->limits;
  EXPECT_EQ(limits.total_timeout, 60s);
  EXPECT_EQ(limits.max_tracked_callers, 1000u);
  EXPECT_TRUE(limits.limits_loopback);
  EXPECT_EQ(limits.per_identity, (rate_quotas{rate_quota{50, 500}, rate_quota{10.0 * (1 << 20), 1 << 30}, rate_quota{0.5, 7}}));
  EXPECT_EQ(limits.per_address.requests, (rate_quota{20, {}})) << "the burst of the default is that of another rate";
  EXPECT_EQ(limits.per_address.completions, (rate_quota{100, 200}));
  EXPECT_EQ(limits.call_timeouts.at("resources/read"), 5s);
  EXPECT_EQ(limits.call_timeouts.at("tools/call"), 40s);
}

TEST(limit_settings, without_the_table_addresses_of_other_machines_are_limited_and_nobody_else) {
  const auto made = parse("", "hondana.toml");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->limits.per_identity, rate_quotas{});
  EXPECT_EQ(made->limits.per_address, (rate_quotas{rate_quota{1000, 2000}, {}, rate_quota{100, 200}}));
  EXPECT_FALSE(made->limits.limits_loopback);
  EXPECT_EQ(made->limits.total_timeout, 15min);
  EXPECT_TRUE(made->limits.call_timeouts.empty());
}

TEST(limit_settings, zero_is_no_limit) {
  const auto made = parse("[limits.address]\nrequests_per_second = 0\ncompletions_per_second = 0\n", "hondana.toml");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->limits.per_address, rate_quotas{});
}

TEST(limit_settings, a_mistake_is_named_with_its_place) {
  EXPECT_EQ(fault_of("[limits.identity]\nrequests_per_second = -1\n").substr(0, 53),
            "hondana.toml:2: limits.identity.requests_per_second: ");
  EXPECT_NE(
      fault_of("[limits.identity]\nbytes_per_second = \"much\"\n").find("limits.identity.bytes_per_second: expected bytes"),
      std::string::npos);
  EXPECT_NE(fault_of("[limits.identity]\nspeed = 1\n").find("unknown key"), std::string::npos);
  EXPECT_NE(fault_of("[limits]\ntotal_timeout_ms = 0\n").find("limits.total_timeout_ms: expected an integer"),
            std::string::npos);
  EXPECT_NE(fault_of("[limits.call_timeouts_ms]\n\"resources/read\" = \"1s\"\n").find("resources/read: expected an integer"),
            std::string::npos);
  EXPECT_TRUE(
      fault_of("[limits.call_timeouts_ms]\n\"resource/read\" = 1000\n")
          .starts_with(
              "hondana.toml:2: limits.call_timeouts_ms.resource/read: is not a method that can have a timeout; did you mean "
              "\"resources/read\"? Known here: resources/list, "));
}

TEST(limit_settings, a_source_says_how_it_is_shared) {
  auto made = parse(
      "[[source]]\ntype = \"files\"\nmax_concurrency = 2\nmax_queued_calls = 10\nmax_calls_per_caller = 1\ncall_timeout_ms = "
      "500\n",
      "h.toml");
  ASSERT_TRUE(made);
  auto& options = made->sources.front().options;
  EXPECT_EQ(read_source_limits(options).value(), (source_limits{2, 10, 1, 500ms}));
  EXPECT_TRUE(options.finish());
  made = parse("[[source]]\ntype = \"files\"\nmax_concurrency = 0\n", "h.toml");
  const auto refused = read_source_limits(made->sources.front().options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text.substr(0, 24), "h.toml:3: source.max_con");
}

}  // namespace
}  // namespace hondana::config

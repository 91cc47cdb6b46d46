/// The table of a source of metrics: what it means when nothing is said, and what it refuses by the name of the key.
#include "sources/metrics/settings.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"

namespace hondana::metrics {
namespace {

/// As long as it lives.
class set_variable {
 public:
  set_variable(const char* name, const char* value) : name_(name) {
    if (const char* const there = std::getenv(name)) before_ = there;
    ::setenv(name, value, 1);
  }
  ~set_variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_{};
};

result<settings> settings_of(const std::string& text) {
  auto table = config::parse_toml(text, "/etc/hondana/m.toml");
  if (!table) return tl::unexpected(table.error());
  return read_settings(*table);
}

settings settings_read(const std::string& text) {
  auto made = settings_of(text);
  if (!made) ADD_FAILURE() << text << ": " << made.error().public_text;
  return made ? std::move(*made) : settings{};
}

std::string settings_refusal(const std::string& text) {
  const auto made = settings_of(text);
  return made ? "nothing is wrong" : made.error().public_text;
}

}  // namespace

TEST(metrics_settings, are_the_machine_every_fifteen_seconds_when_nothing_is_said) {
  const auto how = settings_read("store = \":memory:\"\n");
  EXPECT_EQ(how.name, "host");
  EXPECT_TRUE(how.has_host);
  EXPECT_FALSE(how.has_process);
  EXPECT_FALSE(how.prometheus);
  EXPECT_TRUE(how.scrapes.empty());
  EXPECT_EQ(how.interval, 15'000);
  EXPECT_EQ(how.store.path, "");
  EXPECT_EQ(how.store.retention, 15LL * 86'400'000);
  EXPECT_EQ(how.store.coarse_retention, 400LL * 86'400'000);
  EXPECT_EQ(how.store.max_bytes, 4ULL << 30);
  EXPECT_EQ(how.store.max_series, 1'000'000U);
  EXPECT_EQ(how.limits.max_series, 1000U);
  EXPECT_EQ(how.limits.max_points, 50'000U);
  EXPECT_EQ(how.limits.timeout.count(), 5000);
  EXPECT_TRUE(how.redact);
  EXPECT_TRUE(how.watch);
  EXPECT_TRUE(how.has_query);
}

TEST(metrics_settings, of_targets_are_read_whole) {
  const auto how = settings_read(
      "name = \"web\"\nstore = \"data/web.db\"\ninterval = \"30s\"\nretention = \"7d\"\ncoarse_retention = \"90d\"\n"
      "max_store_bytes = \"64MiB\"\nmax_series = 5000\nprocess = true\nmax_series_per_response = 10\nmax_points_per_response = "
      "2000\nquery_timeout = \"2s\"\ntime_zone = "
      "\"Asia/Tokyo\"\n"
      "redact = false\nwatch = false\n"
      "[[scrape]]\nurl = \"http://127.0.0.1:9100/metrics\"\njob = \"node\"\ninstance = \"here\"\ninterval = \"10s\"\n"
      "timeout = \"3s\"\nhonor_labels = true\nhonor_timestamps = false\nsample_limit = 100\nlabel_limit = 9\nbody_size_limit = "
      "\"1MiB\"\n"
      "headers = { X-Tenant = \"a\" }\n"
      "[[scrape]]\nurl = \"https://db.example/metrics\"\njob = \"db\"\nbearer_file = \"token\"\n");
  EXPECT_EQ(how.name, "web");
  EXPECT_EQ(how.store.path, "/etc/hondana/data/web.db") << "relative to the file it stands in";
  EXPECT_EQ(how.store.retention, 7LL * 86'400'000);
  EXPECT_EQ(how.store.coarse_retention, 90LL * 86'400'000);
  EXPECT_EQ(how.store.max_bytes, 64U << 20);
  EXPECT_EQ(how.store.max_series, 5000U);
  EXPECT_FALSE(how.has_host) << "it is measured when nothing else is";
  EXPECT_TRUE(how.has_process);
  EXPECT_EQ(how.limits.max_series, 10U);
  EXPECT_EQ(how.limits.max_points, 2000U);
  EXPECT_EQ(how.limits.timeout.count(), 2000);
  EXPECT_EQ(how.zone, "Asia/Tokyo");
  EXPECT_FALSE(how.redact);
  EXPECT_FALSE(how.watch);
  ASSERT_EQ(how.scrapes.size(), 2U);
  const auto& node = how.scrapes[0];
  EXPECT_EQ(node.server.url, "http://127.0.0.1:9100/metrics");
  EXPECT_EQ(node.job, "node");
  EXPECT_EQ(node.instance, "here");
  EXPECT_EQ(node.interval, 10'000);
  EXPECT_EQ(node.server.timeout.count(), 3000);
  EXPECT_TRUE(node.honor_labels);
  EXPECT_FALSE(node.honor_timestamps);
  EXPECT_EQ(node.limits.max_samples, 100U);
  EXPECT_EQ(node.limits.max_labels, 9U);
  EXPECT_EQ(node.limits.max_bytes, 1U << 20);
  EXPECT_EQ(node.server.headers, (std::vector<std::pair<std::string, std::string>>{{"X-Tenant", "a"}}));
  EXPECT_EQ(how.scrapes[1].server.bearer_file, "/etc/hondana/token");
  EXPECT_EQ(how.scrapes[1].interval, 0) << "the source's";
}

TEST(metrics_settings, of_a_prometheus_leave_the_interval_to_it) {
  const auto how =
      settings_read("prometheus = \"https://prom.example/base\"\nuser = \"a\"\npassword_file = \"pw\"\nquery = false\n");
  EXPECT_EQ(how.name, "prometheus");
  ASSERT_TRUE(how.prometheus);
  EXPECT_EQ(how.prometheus->url, "https://prom.example/base");
  EXPECT_EQ(how.prometheus->user, "a");
  EXPECT_EQ(how.prometheus->password_file, "/etc/hondana/pw");
  EXPECT_EQ(how.interval, 0);
  EXPECT_FALSE(how.has_query);
  EXPECT_FALSE(how.has_host);
  EXPECT_EQ(settings_read("prometheus = \"http://127.0.0.1:9090\"\ninterval = \"1m\"\n").interval, 60'000);
}

TEST(metrics_settings, that_are_wrong_are_refused_by_line_and_key) {
  const std::string scrape = "store = \":memory:\"\n[[scrape]]\nurl = \"http://127.0.0.1:9100/\"\njob = \"a\"\n";
  const std::vector<std::pair<std::string, std::string>> all{
      {"name = \"A b\"\n", "m.toml:1: name: "},
      {"interval = \"1ms\"\n", "m.toml:1: interval: expected a duration from 1s to 1d"},
      {"interval = 15\n", "m.toml:1: interval: "},
      {"store = \"\"\nretention = \"1s\"\n", "m.toml:2: retention: "},
      {"store = \":memory:\"\ncoarse_retention = \"200000d\"\n", "m.toml:2: coarse_retention: "},
      {"store = \":memory:\"\nmax_store_bytes = \"1MiB\"\n", "m.toml:2: max_store_bytes: expected 8MiB or more"},
      {"store = \":memory:\"\nmax_series = 0\n", "m.toml:2: max_series: "},
      {"store = \"folder/\"\n", "m.toml:1: store: expected the path of a file"},
      {"host = false\n", "m.toml:1: host: no metrics are collected"},
      {"store = \":memory:\"\nmax_series_per_response = 0\n", "m.toml:2: max_series_per_response: "},
      {"store = \":memory:\"\nmax_points_per_response = 100000000\n", "m.toml:2: max_points_per_response: "},
      {"store = \":memory:\"\nquery_timeout = \"1ms\"\n", "m.toml:2: query_timeout: "},
      {"store = \":memory:\"\nintervall = \"1s\"\n", "m.toml:2: intervall"},
      {"store = \":memory:\"\nquery = false\n", "m.toml:2: query: allowed only with prometheus = "},
      {"store = \":memory:\"\nbearer_file = \"t\"\n", "m.toml:2: bearer_file: allowed only with prometheus = "},
      {"prometheus = \"http://a\"\nhost = true\n", "m.toml:2: host: not allowed with prometheus"},
      {"prometheus = \"http://a\"\nstore = \"x\"\n", "m.toml:2: store: not allowed with prometheus"},
      {"prometheus = \"file:///etc/passwd\"\n", "m.toml:1: prometheus: expected a URL that begins with http"},
      {"prometheus = \"http://a\"\nuser = \"u\"\n", "password_file: user and password_file go together"},
      {"prometheus = \"http://a\"\npassword_file = \"p\"\n", "user: user and password_file go together"},
      {"prometheus = \"http://a\"\nuser = \"u\"\npassword_file = \"p\"\nbearer_file = \"t\"\n",
       "m.toml:4: bearer_file: either"},
      {"prometheus = \"http://a\"\nca_file = \"\"\n", "m.toml:2: ca_file: expected the path of a file"},
      {"prometheus = \"http://a\"\ntimeout = \"1h\"\n", "m.toml:2: timeout: "},
      {"store = \":memory:\"\n[[scrape]]\njob = \"a\"\n", "url: expected a URL that begins with http"},
      {"store = \":memory:\"\n[[scrape]]\nurl = \"http://a\"\n", "job: missing"},
      {scrape + "timeout = \"20s\"\n", "m.toml:5: scrape.timeout: it is longer than the interval, 15s"},
      {scrape + "sample_limit = 0\n", "m.toml:5: scrape.sample_limit: "},
      {scrape + "body_size_limit = \"many\"\n", "m.toml:5: scrape.body_size_limit: "},
      {scrape + "labels = 1\n", "m.toml:5: scrape.labels"},
      {scrape + "[[scrape]]\nurl = \"http://127.0.0.1:9100/\"\njob = \"a\"\n", "url: two targets have this job and this URL"}};
  for (const auto& [text, why] : all)
    EXPECT_NE(settings_refusal(text).find(why), std::string::npos) << text << settings_refusal(text);
}

TEST(metrics_settings, of_scrapes_never_wait_longer_than_the_interval) {
  const auto how =
      settings_read("store = \":memory:\"\ninterval = \"2s\"\n[[scrape]]\nurl = \"http://127.0.0.1:1/\"\njob = \"a\"\n");
  EXPECT_EQ(how.scrapes[0].server.timeout.count(), 2000);
}

TEST(metrics_settings, keep_the_store_where_users_keep_their_state) {
  const set_variable state("XDG_STATE_HOME", "/var/tmp/state"), home("HOME", "/home/somebody");
  EXPECT_EQ(default_store_path("host"), "/var/tmp/state/hondana/metrics/host.db");
  EXPECT_EQ(settings_read("").store.path, "/var/tmp/state/hondana/metrics/host.db");
  const set_variable relative("XDG_STATE_HOME", "relative");
  EXPECT_EQ(default_store_path("a"), "/home/somebody/.local/state/hondana/metrics/a.db");
  const set_variable homeless("HOME", "");
  EXPECT_EQ(default_store_path("a"), "");
  EXPECT_NE(settings_refusal("").find("store: missing"), std::string::npos) << settings_refusal("");
}

}  // namespace hondana::metrics

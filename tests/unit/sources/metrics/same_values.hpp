/// What the curl program and Boost.JSON have from a real Prometheus, and what is compared with it.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sources/metrics/prometheus_backend.hpp"
#include "unit/sources/metrics/real_prometheus.hpp"

namespace hondana_test {

namespace series = hondana::series;

inline constexpr const char* rules_of_the_test = R"(
groups:
- name: tests
  rules:
  - alert: fires
    expr: up{job="node"} == 1
    labels: {severity: page}
    annotations: {summary: "It is {{ $value }}: \"日本\""}
  - alert: waits
    expr: vector(7)
    for: 1h
  - alert: rests
    expr: vector(1) > 2
  - record: job:up:sum
    expr: sum by (job) (up)
)";

/// One for all tests of the suite, with at least eight scrapes.
class same_values : public testing::Test {
 protected:
  static void SetUpTestSuite() { begin(false); }
  /// With a restart of the node exporter within the steps that are compared, or without one.
  static void begin(bool restarts) {
    const bool is_new = !real_ || (restarts && !has_restarted_);
    if (is_new) {
      wanted_prometheus wanted;
      wanted.rules = rules_of_the_test;
      real_.reset();
      real_ = std::make_unique<real_prometheus>(wanted);
      has_restarted_ = restarts;
    }
    if (is_new && restarts) {
      static_cast<void>(real_->scraped(6));
      settled_ = real_->scraped(4, real_->restart_exporter());
    } else {
      settled_ = real_->scraped(8);
    }
    hondana::metrics::prometheus_options options;
    options.server.url = real_->url();
    ours_ = hondana::metrics::make_prometheus_backend(options).value();
  }
  static void TearDownTestSuite() {
    // The programs stay for the next suite, until the end of this process.
    ours_.reset();
  }

  /// Steps of a second, at instants that nothing changes any more, and between scrapes.
  static series::range steps() { return {settled_ - 4500, settled_ - 500, 1000}; }

  static hondana::request_context by() {
    hondana::request_context out;
    out.deadline = std::chrono::steady_clock::now() + program_patience;
    return out;
  }

  using values = std::map<std::string, std::map<std::int64_t, std::uint64_t>>;

  /// Any NaN is one like no number.
  static std::uint64_t bits(double of) { return std::isnan(of) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(of); }

  /// As the API takes it.
  static std::string seconds(std::int64_t of) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(of / 1000), static_cast<long long>(of % 1000));
    return text;
  }

  /// What Prometheus itself answers, by the text of each series' labels as JSON; `label`: one more.
  static values raw(const std::string& promql, const std::string& label = {}) {
    const auto at = steps();
    const auto data = real_->ask(
        "/query_range",
        {{"query", promql}, {"start", seconds(at.start)}, {"end", seconds(at.end)}, {"step", std::to_string(at.step / 1000)}});
    values out;
    for (const auto& one : data.at("result").as_array()) {
      std::map<std::string, std::string> labels;
      for (const auto& [name, value] : one.at("metric").as_object()) labels[name] = value.as_string();
      if (!label.empty()) labels["quantile"] = label;
      auto& samples = out[spelled(labels)];
      for (const auto& sample : one.at("values").as_array()) {
        const std::string text(sample.at(1).as_string());
        samples[std::llround(sample.at(0).to_number<double>() * 1000)] = bits(std::strtod(text.c_str(), nullptr));
      }
    }
    return out;
  }

  /// Many expressions in one request: series that would be the same are told apart by a label `asked` with the name of each.
  /// A quantile gets its label.
  class asked_together {
   public:
    void add(const std::string& name, const std::string& promql, const std::string& quantile = {}) {
      auto whole = labelled(promql, "asked", name);
      if (!quantile.empty()) whole = labelled(whole, "quantile", quantile);
      if (!joined_.empty()) joined_ += " or ";
      joined_ += whole;
      constexpr std::size_t at_once = 40;
      if (++count_ == at_once) ask();
    }
    [[nodiscard]] const values& answered() {
      ask();
      return all_;
    }

   private:
    static std::string labelled(const std::string& promql, const std::string& label, const std::string& value) {
      return "label_replace(" + promql + ", \"" + label + "\", \"" + value + "\", \"\", \"\")";
    }
    void ask() {
      if (count_ > 0) all_.merge(raw(joined_));
      joined_.clear();
      count_ = 0;
    }
    std::string joined_{};
    std::size_t count_ = 0;
    values all_{};
  };

  /// `asked`: as of those that are asked together.
  static values ours(const std::vector<series::time_series>& of, const std::string& asked = {}) {
    values out;
    for (const auto& one : of) {
      std::map<std::string, std::string> labels(one.id.labels.begin(), one.id.labels.end());
      if (!asked.empty()) labels["asked"] = asked;
      if (!one.id.name.empty()) labels["__name__"] = one.id.name;
      auto& samples = out[spelled(labels)];
      for (const auto& sample : one.samples) samples[sample.time] = bits(sample.value);
    }
    return out;
  }

  static std::string spelled(const std::map<std::string, std::string>& labels) {
    std::string out;
    for (const auto& [name, value] : labels) out += name + '=' + value + '\n';
    return out;
  }

  static hondana::metrics::range_answer range(const std::string& name, const std::string& how = {}) {
    hondana::metrics::range_request what;
    what.selector.name = name;
    what.aggregation = series::parse_aggregation(how).value();
    what.range = steps();
    auto got = ours_->range(what, by());
    EXPECT_TRUE(got.has_value()) << name << ": " << got.error().public_text;
    return got ? *std::move(got) : hondana::metrics::range_answer{};
  }

  static std::size_t points(const values& of) {
    std::size_t out = 0;
    for (const auto& [name, samples] : of) out += samples.size();
    return out;
  }

  static inline std::unique_ptr<real_prometheus> real_{};
  static inline bool has_restarted_ = false;
  static inline std::int64_t settled_ = 0;
  static inline std::shared_ptr<hondana::metrics::backend> ours_{};
};

}  // namespace hondana_test

/// A source of metrics in memory, and what its provider answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/metrics_provider.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "unit/sources/recorded_changes.hpp"

namespace hondana::metrics {

/// 2026-01-31T12:00:00Z
inline constexpr series::instant noon = 1'769'860'800LL * second;

/// Series that tests put there, read as the real ones are.
class made_backend final : public backend {
 public:
  void describe(const std::string& name, series::kind kind, std::string unit = {}, std::string help = {}) {
    const std::lock_guard lock(mutex_);
    facts_[name] = {kind, std::move(unit), std::move(help)};
  }
  void add(const std::string& name, std::vector<series::label> labels, series::instant at, double value) {
    series::identity of{name, std::move(labels)};
    if (!series::normalize(of)) ADD_FAILURE() << "no series is called so";
    const std::lock_guard lock(mutex_);
    all_[of].push_back({at, value});
    latest_ = std::max(latest_.value_or(at), at);
  }
  /// Every 15 s up to `end`.
  void add_line(const std::string& name, const std::vector<series::label>& labels, series::instant end, std::size_t count,
                const std::function<double(std::size_t)>& value) {
    for (std::size_t i = 0; i < count; ++i)
      add(name, labels, end - static_cast<series::duration>(count - 1 - i) * interval(), value(i));
  }
  /// A scrape has been kept.
  void tell() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      call = told_;
    }
    if (call) call();
  }
  [[nodiscard]] bool is_followed() const {
    const std::lock_guard lock(mutex_);
    return told_ != nullptr;
  }

  /// Waits until alerts have been asked for so often.
  [[nodiscard]] bool await_alerts(int times) {
    std::unique_lock lock(asking_);
    return was_asked_.wait_for(lock, hondana_test::event_deadline, [&] { return asked_for_alerts >= times; });
  }

  std::atomic<bool> is_down{false}, is_started{false};
  std::atomic<series::duration> every{15 * second};
  std::atomic<int> asked{0};
  std::atomic<int> asked_for_names{0}, asked_for_alerts{0};
  std::vector<scraping::target_state> target_states;
  std::vector<alert> alert_states;
  std::optional<std::vector<rule>> rule_states;

  result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                           const request_context&) override {
    ++asked_for_names;
    if (auto down = trouble(); !down) return tl::unexpected(down.error());
    const std::lock_guard lock(mutex_);
    std::set<std::string, std::less<>> found;
    for (const auto& [of, samples] : all_) {
      auto name = of.name;
      const auto bucket = name.rfind("_bucket");
      if (bucket != std::string::npos && facts_.contains(name.substr(0, bucket))) name.resize(bucket);
      if (name.starts_with(prefix) && (after.empty() || name > after)) found.insert(name);
    }
    std::vector<metric_info> out;
    for (const auto& name : found)
      if (out.size() < limit) out.push_back({name, facts_of(name)});
    return out;
  }
  result<std::optional<metric_info>> find(std::string_view name, const request_context&) override {
    if (auto down = trouble(); !down) return tl::unexpected(down.error());
    const std::lock_guard lock(mutex_);
    for (const auto& [of, samples] : all_)
      if (of.name == name || of.name == std::string(name) + "_bucket")
        return std::optional(metric_info{std::string(name), facts_of(name)});
    return std::optional<metric_info>();
  }
  result<range_answer> range(const range_request& what, const request_context&) override {
    ++asked;
    if (auto down = trouble(); !down) return tl::unexpected(down.error());
    const std::lock_guard lock(mutex_);
    range_answer out;
    out.metadata = facts_of(what.selector.name);
    out.aggregation = what.aggregation.for_kind(out.metadata.kind).for_step(what.range.step, interval());
    const series::selector which{series::series_name_for(what.selector.name, out.metadata.kind, out.aggregation),
                                 what.selector.matchers};
    std::vector<series::time_series> raw;
    for (const auto& [of, samples] : all_)
      if (which.matches(of)) raw.push_back({of, samples});
    if (raw.size() > what.max_series)
      return fail(errc::response_too_large, "The result has " + std::to_string(raw.size()) + " series, and at most " +
                                                std::to_string(what.max_series) + " may be returned.");
    auto made = series::evaluate(std::move(raw), out.aggregation, what.range);
    if (!made) return tl::unexpected(made.error());
    out.series = std::move(*made);
    return out;
  }
  result<std::optional<series::instant>> newest_sample_time(const series::selector& of, const request_context&) override {
    if (auto down = trouble(); !down) return tl::unexpected(down.error());
    const std::lock_guard lock(mutex_);
    std::optional<series::instant> out;
    for (const auto& [one, samples] : all_)
      if (of.matches(one) && !series::is_stale(samples.back().value))
        out = std::max(out.value_or(samples.back().time), samples.back().time);
    return out;
  }
  [[nodiscard]] std::optional<series::instant> last_ingest_time() const override {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  result<std::vector<std::string>> label_names(const series::selector& of, const request_context&) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> out;
    for (const auto& [one, samples] : all_)
      if (of.matches(one))
        for (const auto& [name, value] : one.labels) out.insert(name);
    return std::vector<std::string>(out.begin(), out.end());
  }
  result<std::vector<std::string>> label_values(const series::selector& of, std::string_view label, std::string_view prefix,
                                                const request_context&) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> out;
    for (const auto& [one, samples] : all_)
      if (of.matches(one) && !one.value_of(label).empty() && one.value_of(label).starts_with(prefix))
        out.emplace(one.value_of(label));
    return std::vector<std::string>(out.begin(), out.end());
  }
  result<std::vector<scraping::target_state>> targets(const request_context&) override {
    if (auto down = trouble(); !down) return tl::unexpected(down.error());
    const std::lock_guard lock(mutex_);
    return target_states;
  }
  result<std::vector<alert>> alerts(const request_context&) override {
    {
      const std::lock_guard held(asking_);
      ++asked_for_alerts;
    }
    was_asked_.notify_all();
    const std::lock_guard lock(mutex_);
    return alert_states;
  }
  result<std::vector<rule>> rules(const request_context&) override {
    if (!rule_states) return fail(errc::unsupported, "no rules");
    return *rule_states;
  }
  result<range_answer> query(std::string_view promql, const series::range& at, std::size_t,
                             const request_context& by) override {
    if (promql == "bad(") return fail(errc::invalid_argument, "parse error");
    range_request asked_for;
    asked_for.selector.name = promql;
    asked_for.range = at;
    return range(asked_for, by);
  }
  [[nodiscard]] series::duration interval() const override { return every; }
  void start() override { is_started = true; }
  void stop() override { is_started = false; }
  void set_listener(std::function<void()> told) override {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
  }
  [[nodiscard]] hondana::provider_health health() const override { return {!is_down, is_down ? "down" : ""}; }
  [[nodiscard]] hondana::system_requirements requirements() const override {
    return {.folders = {}, .sockets = {"127.0.0.1:9090"}, .programs = {}};
  }
  /// Holds its lock, for changing what is public.
  void change(const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    work();
  }

 private:
  [[nodiscard]] result<void> trouble() const {
    if (is_down) return fail(errc::source_unavailable, "The Prometheus does not answer.");
    return {};
  }
  [[nodiscard]] series::metadata facts_of(std::string_view name) const {
    const auto found = facts_.find(name);
    return found == facts_.end() ? series::metadata{} : found->second;
  }
  mutable std::mutex mutex_;
  std::map<series::identity, std::vector<series::sample>> all_;
  std::map<std::string, series::metadata, std::less<>> facts_;
  std::optional<series::instant> latest_;
  std::function<void()> told_;
  std::mutex asking_;
  std::condition_variable was_asked_;
};

/// A provider called "app".
class served_metrics {
 public:
  explicit served_metrics(std::shared_ptr<backend> of, const std::function<void(provider_options&)>& change = {}) {
    provider_options options;
    options.name = "app";
    options.metrics_backend = std::move(of);
    options.has_query = options.has_alerts = true;
    options.names_ttl = std::chrono::milliseconds(0);
    options.limits.timeout = hondana_test::event_deadline;
    options.now = [this] { return clock.load(); };
    if (change) change(options);
    provider_ = std::make_shared<metrics_provider>(std::move(options));
  }

  std::atomic<series::instant> clock{noon};

  [[nodiscard]] metrics_provider& provider() const { return *provider_; }
  [[nodiscard]] result<read_result> try_read(const std::string& uri, std::optional<std::string> if_version = {}) const {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.cached_version = std::move(if_version);
    return provider_->read(request);
  }
  [[nodiscard]] read_result read(const std::string& uri) const {
    auto got = try_read(uri);
    if (!got) ADD_FAILURE() << uri << ": " << got.error().public_text << " / " << got.error().private_text;
    return got ? *got : read_result{};
  }
  [[nodiscard]] std::string text(const std::string& uri) const {
    const auto got = read(uri);
    return got.contents.empty() ? std::string() : *std::get<shared_bytes>(got.contents.front().data);
  }
  [[nodiscard]] value json(const std::string& uri) const {
    const auto whole = text(uri);
    auto parsed = value::parse(whole);
    if (!parsed) ADD_FAILURE() << parsed.error().public_text << ": " << whole.substr(0, 200);
    return parsed ? *parsed : value();
  }
  [[nodiscard]] failure error(const std::string& uri) const {
    const auto got = try_read(uri);
    if (got) ADD_FAILURE() << uri << " is answered";
    return got ? failure{} : got.error();
  }
  [[nodiscard]] std::vector<std::string> completed(const std::string& argument, const std::string& typed,
                                                   std::vector<std::pair<std::string, std::string>> context = {},
                                                   std::shared_ptr<const access_filter> through = nullptr) const {
    complete_request request;
    request.uri_template = provider_->templates().front().uri_template;
    request.argument = argument;
    request.value = typed;
    request.context = std::move(context);
    request.caller.access_filter = std::move(through);
    const auto got = provider_->complete(request);
    if (!got) ADD_FAILURE() << got.error().public_text;
    return got ? got->values : std::vector<std::string>{};
  }

 private:
  std::shared_ptr<metrics_provider> provider_;
};

}  // namespace hondana::metrics

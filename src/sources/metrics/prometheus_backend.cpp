/// The backend that queries a Prometheus server, or another server with the same HTTP API.
#include "sources/metrics/prometheus_backend.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/ascii/ascii.hpp"
#include "base/executor/thread_guards.hpp"
#include "sources/metrics/prometheus_client.hpp"
#include "sources/metrics/prometheus_metadata.hpp"
#include "sources/metrics/prometheus_response.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// Calls a function at regular intervals. It has a thread only while there is a function to call.
/// Threads: any. No method waits for a running call of the function, except that ending it from another thread does.
class interval_timer {
 public:
  /// `interval` is called repeatedly, and a new value takes effect within a second.
  explicit interval_timer(std::function<series::duration()> interval) : interval_(std::move(interval)) {}
  ~interval_timer() { set_callback({}); }
  interval_timer(const interval_timer&) = delete;
  interval_timer& operator=(const interval_timer&) = delete;

  /// Starts to call `callback`. An empty function ends the calls: it is not running when this returns, unless it makes this
  /// call itself.
  void set_callback(std::function<void()> callback);
  /// Stops the calls until `resume`, or until `set_callback` sets another function. It waits as `set_callback` does.
  void pause();
  void resume();

 private:
  void start_thread();
  static void stop_thread(std::jthread thread);
  void run(const std::stop_token& stop);

  std::function<series::duration()> interval_;
  std::mutex mutex_;
  std::condition_variable_any wakeup_;
  std::function<void()> callback_{};
  std::jthread thread_{};
};

namespace {

constexpr std::chrono::milliseconds min_interval{100};
constexpr std::chrono::milliseconds max_wait{1000};

}  // namespace

void interval_timer::set_callback(std::function<void()> callback) {
  std::jthread finished;
  {
    const std::lock_guard lock(mutex_);
    callback_ = std::move(callback);
    if (callback_) return start_thread();
    finished = std::move(thread_);
  }
  stop_thread(std::move(finished));
}

void interval_timer::pause() {
  std::jthread finished;
  {
    const std::lock_guard lock(mutex_);
    finished = std::move(thread_);
  }
  stop_thread(std::move(finished));
}

void interval_timer::resume() {
  const std::lock_guard lock(mutex_);
  if (callback_) start_thread();
}

void interval_timer::start_thread() {
  if (thread_.joinable()) return;
  const executor::signal_blocker blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void interval_timer::stop_thread(std::jthread thread) {
  thread.request_stop();
  // The called function may itself end the thread.
  if (thread.get_id() == std::this_thread::get_id() && thread.joinable()) thread.detach();
}

void interval_timer::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // The interval may become known, or change, during the wait.
    const auto start = monotonic_clock::now();
    for (std::chrono::milliseconds remaining{min_interval}; remaining.count() > 0 && !stop.stop_requested();) {
      monotonic_clock::wait_for(wakeup_, lock, stop, std::min(remaining, max_wait), [] { return false; });
      const auto interval = std::chrono::milliseconds(std::max<series::duration>(interval_(), min_interval.count()));
      remaining = std::chrono::ceil<std::chrono::milliseconds>(start + interval - monotonic_clock::now());
    }
    if (stop.stop_requested() || !callback_) return;
    const auto callback = callback_;
    lock.unlock();
    callback();
    // The called function may have ended this thread, and destroyed this object.
    if (stop.stop_requested()) return;
    lock.lock();
  }
}

namespace {

/// The most steps that Prometheus accepts in a range query.
constexpr std::size_t max_steps = 11'000;
constexpr std::size_t max_expression_bytes = 16 * 1024;
/// Completion includes series that ended no longer than this ago, in milliseconds.
constexpr series::duration lookup_range = 86'400'000;

series::instant now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// An RE2 expression that matches strings with this prefix.
std::string prefix_pattern(std::string_view prefix) {
  std::string out;
  for (const char c : prefix) {
    const bool is_literal = static_cast<unsigned char>(c) >= 0x80 || ascii::is_letter(c) || (c >= '0' && c <= '9');
    if (!is_literal) out += '\\';
    out += c;
  }
  return out + ".*";
}

class prometheus_backend final : public backend {
 public:
  prometheus_backend(prometheus_options options, std::shared_ptr<endpoint::endpoint> server)
      : options_(std::move(options)),
        api_(std::move(server), options_.max_bytes),
        cache_(api_, options_.interval, options_.max_names, options_.max_entries),
        timer_([this] { return interval(); }) {}

  result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after_key, std::size_t limit,
                                           const request_context& context) override {
    const auto names = cache_.names(context);
    if (!names) return tl::unexpected<failure>(names.error());
    return (*names)->page(prefix, after_key, limit);
  }

  result<std::optional<metric_info>> find(std::string_view name, const request_context& context) override {
    const auto names = cache_.names(context);
    if (!names) return tl::unexpected<failure>(names.error());
    return (*names)->find(name);
  }

  result<range_answer> range(const range_request& request, const request_context& context) override;
  result<std::optional<series::instant>> newest_sample_time(const series::selector& selector,
                                                            const request_context& context) override;
  result<std::vector<std::string>> label_names(const series::selector& selector, const request_context& context) override;
  result<std::vector<std::string>> label_values(const series::selector& selector, std::string_view label,
                                                std::string_view prefix, const request_context& context) override;
  result<std::vector<scraping::target_state>> targets(const request_context& context) override;
  result<std::vector<alert>> alerts(const request_context& context) override;
  result<std::vector<rule>> rules(const request_context& context) override;
  result<range_answer> query(std::string_view promql, const series::range& range, std::size_t max_points,
                             const request_context& context) override;

  [[nodiscard]] series::duration interval() const override { return cache_.interval(); }
  void start() override { timer_.resume(); }
  void stop() override { timer_.pause(); }
  void set_listener(std::function<void()> listener) override { timer_.set_callback(std::move(listener)); }
  [[nodiscard]] hondana::provider_health health() const override;
  [[nodiscard]] hondana::system_requirements requirements() const override;

 private:
  /// Parameters of a lookup API (labels, values) that select the matching series of the last day.
  [[nodiscard]] result<prometheus_api::form> make_lookup_form(const series::selector& selector, const request_context& context);
  [[nodiscard]] result<void> check_range(const series::range& range) const;
  /// The series of one expression over the steps of a range.
  [[nodiscard]] result<std::vector<series::time_series>> evaluate(std::string_view promql, const series::range& range,
                                                                  const prometheus_limits& limits,
                                                                  std::vector<std::string>& warnings,
                                                                  const request_context& context) const;

  const prometheus_options options_;
  const prometheus_api api_;
  prometheus_cache cache_;
  interval_timer timer_;  // must be the last member: its thread uses the others
};

result<void> prometheus_backend::check_range(const series::range& range) const {
  const auto steps = range.steps();
  if (steps == 0) return fail(errc::invalid_argument, "the range ends before it starts, or its step is not positive");
  if (steps <= max_steps + 1) return {};
  const auto span = static_cast<std::uint64_t>(range.end) - static_cast<std::uint64_t>(range.start);
  // In whole seconds, rounded up.
  const auto min_step = static_cast<series::duration>(std::min<std::uint64_t>(span / max_steps / 1000 + 1, 1u << 31) * 1000);
  return fail(errc::response_too_large, "the range has " + std::to_string(steps - 1) +
                                            " steps, and Prometheus returns at most " + std::to_string(max_steps) +
                                            ": request a step of " + series::to_text(min_step) +
                                            " or more, or a shorter range");
}

result<std::vector<series::time_series>> prometheus_backend::evaluate(std::string_view promql, const series::range& range,
                                                                      const prometheus_limits& limits,
                                                                      std::vector<std::string>& warnings,
                                                                      const request_context& context) const {
  prometheus_api::form form{{"query", std::string(promql)},
                            {"start", prometheus_time(range.start)},
                            {"end", prometheus_time(range.end)},
                            {"step", prometheus_time(range.step)}};
  auto answer = api_.post("/query_range", std::move(form), context);
  if (!answer) return required_api_error(std::move(answer.error()), api_.server_name());
  for (auto& warning : answer->warnings) warnings.push_back(std::move(warning));
  return parse_series(answer->data, limits, api_.server_name(), warnings);
}

result<range_answer> prometheus_backend::range(const range_request& request, const request_context& context) {
  if (const auto valid = check_range(request.range); !valid) return tl::unexpected<failure>(valid.error());
  range_answer out;
  const auto names = cache_.names(context);
  if (!names) return tl::unexpected<failure>(names.error());
  if (const auto match = (*names)->find(request.selector.name); match) out.metadata = match->metadata;
  out.aggregation = request.aggregation.for_kind(out.metadata.kind);
  out.aggregation = out.aggregation.for_step(request.range.step, interval());
  auto selector = request.selector;
  if (!selector.name.empty()) selector.name = series::series_name_for(selector.name, out.metadata.kind, out.aggregation);
  const auto queries = series::to_promql(out.aggregation, selector);
  prometheus_limits remaining{request.max_series, request.max_points};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto evaluated = evaluate(queries[i], request.range, remaining, out.warnings, context);
    if (!evaluated) return tl::unexpected<failure>(std::move(evaluated.error()));
    remaining.max_series -= evaluated->size();
    for (auto& entry : *evaluated) {
      remaining.max_points -= entry.samples.size();
      if (i < out.aggregation.quantiles.size()) {
        entry.id.labels.emplace_back("quantile", series::format_number(out.aggregation.quantiles[i]));
        std::sort(entry.id.labels.begin(), entry.id.labels.end());
      }
      out.series.push_back(std::move(entry));
    }
  }
  std::sort(out.series.begin(), out.series.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

result<range_answer> prometheus_backend::query(std::string_view promql, const series::range& range, std::size_t max_points,
                                               const request_context& context) {
  if (promql.empty() || promql.size() > max_expression_bytes) {
    return fail(errc::invalid_argument,
                "promql is " + (promql.empty() ? std::string("missing")
                                               : "longer than " + std::to_string(max_expression_bytes) + " bytes"));
  }
  if (const auto valid = check_range(range); !valid) return tl::unexpected<failure>(valid.error());
  cache_.refresh_server_info(context);
  range_answer out;
  const prometheus_limits limits{max_points, max_points};
  if (range.start != range.end) {
    auto evaluated = evaluate(promql, range, limits, out.warnings, context);
    if (!evaluated) return tl::unexpected<failure>(std::move(evaluated.error()));
    out.series = std::move(*evaluated);
    return out;
  }
  auto answer = api_.post("/query", {{"query", std::string(promql)}, {"time", prometheus_time(range.start)}}, context);
  if (!answer) return required_api_error(std::move(answer.error()), api_.server_name());
  out.warnings = std::move(answer->warnings);
  auto parsed = parse_series(answer->data, limits, api_.server_name(), out.warnings);
  if (!parsed) return tl::unexpected<failure>(std::move(parsed.error()));
  out.series = std::move(*parsed);
  return out;
}

result<std::optional<series::instant>> prometheus_backend::newest_sample_time(const series::selector& selector,
                                                                              const request_context& context) {
  const auto names = cache_.names(context);
  if (!names) return tl::unexpected<failure>(names.error());
  auto stored = selector;
  stored.name = (*names)->series_name(selector.name);
  const auto time = now();
  auto answer =
      api_.post("/query", {{"query", "max(timestamp(" + stored.to_text() + "))"}, {"time", prometheus_time(time)}}, context);
  if (!answer) return required_api_error(std::move(answer.error()), api_.server_name());
  const auto parsed = parse_series(answer->data, {1, 1}, api_.server_name(), answer->warnings);
  if (!parsed) return tl::unexpected<failure>(parsed.error());
  if (parsed->empty()) return std::nullopt;
  const double seconds = parsed->front().samples.front().value;
  // The value is not a plausible time.
  if (!(seconds > -1e12 && seconds < 1e12))
    return malformed_answer(api_.server_name(), {"data.result[0].value", "the time is out of range"});
  return static_cast<series::instant>(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5));
}

result<prometheus_api::form> prometheus_backend::make_lookup_form(const series::selector& selector,
                                                                  const request_context& context) {
  const auto time = now();
  prometheus_api::form out{{"start", prometheus_time(time - lookup_range)},
                           {"end", prometheus_time(time)},
                           {"limit", std::to_string(options_.max_entries)}};
  if (selector.name.empty() && selector.matchers.empty()) return out;
  const auto names = cache_.names(context);
  if (!names) return tl::unexpected<failure>(names.error());
  auto stored = selector;
  if (!selector.name.empty()) stored.name = (*names)->series_name(selector.name);
  out.emplace_back("match[]", stored.to_text());
  return out;
}

result<std::vector<std::string>> prometheus_backend::label_names(const series::selector& selector,
                                                                 const request_context& context) {
  auto form = make_lookup_form(selector, context);
  if (!form) return tl::unexpected<failure>(std::move(form.error()));
  const auto answer = api_.post("/labels", std::move(*form), context);
  if (!answer) return required_api_error(answer.error(), api_.server_name());
  auto labels = parse_strings(answer->data, options_.max_entries, api_.server_name());
  if (!labels) return labels;
  const auto names = cache_.names(context);
  const bool is_family = names && !selector.name.empty() && (*names)->series_name(selector.name) != selector.name;
  // `le`, the bucket bounds, is not a label of the histogram as a whole.
  std::erase_if(*labels, [&](const auto& name) {
    return name == "__name__" || (is_family && name == "le") || !series::is_label_name(name);
  });
  return labels;
}

result<std::vector<std::string>> prometheus_backend::label_values(const series::selector& selector, std::string_view label,
                                                                  std::string_view prefix, const request_context& context) {
  if (!series::is_label_name(label)) return fail(errc::invalid_argument, "not a valid label name");
  // The server filters by prefix, since it may cut off values beyond the limit.
  auto filtered = selector;
  if (!prefix.empty()) {
    auto prefix_matcher =
        series::matcher::create(std::string(label), series::matcher::match_type::matches, prefix_pattern(prefix));
    if (!prefix_matcher) return tl::unexpected<failure>(std::move(prefix_matcher.error()));
    filtered.matchers.push_back(std::move(*prefix_matcher));
  }
  auto form = make_lookup_form(filtered, context);
  if (!form) return tl::unexpected<failure>(std::move(form.error()));
  const auto answer = api_.get("/label/" + std::string(label) + "/values", std::move(*form), context);
  if (!answer) return required_api_error(answer.error(), api_.server_name());
  auto values = parse_strings(answer->data, std::numeric_limits<std::size_t>::max(), api_.server_name());
  if (!values) return values;
  std::erase_if(*values, [&](const auto& value) { return !value.starts_with(prefix); });
  if (values->size() > options_.max_entries) values->resize(options_.max_entries);
  return values;
}

result<std::vector<scraping::target_state>> prometheus_backend::targets(const request_context& context) {
  const auto answer = api_.get("/targets", {{"state", "active"}}, context);
  if (!answer) return tl::unexpected<failure>(answer.error());
  return parse_targets(answer->data, options_.max_entries, api_.server_name());
}

result<std::vector<alert>> prometheus_backend::alerts(const request_context& context) {
  // /rules includes the expressions of alerts, /alerts does not.
  const auto rules_answer = api_.get("/rules", {{"type", "alert"}}, context);
  if (rules_answer) {
    auto parsed = parse_rules(rules_answer->data, options_.max_entries, api_.server_name());
    if (!parsed) return tl::unexpected<failure>(std::move(parsed.error()));
    return std::move(parsed->alerts);
  }
  if (rules_answer.error().code != errc::unsupported) return tl::unexpected<failure>(rules_answer.error());
  const auto answer = api_.get("/alerts", {}, context);
  if (!answer) return tl::unexpected<failure>(answer.error());
  return parse_alerts(answer->data, options_.max_entries, api_.server_name());
}

result<std::vector<rule>> prometheus_backend::rules(const request_context& context) {
  const auto answer = api_.get("/rules", {}, context);
  if (!answer) return tl::unexpected<failure>(answer.error());
  auto parsed = parse_rules(answer->data, options_.max_entries, api_.server_name());
  if (!parsed) return tl::unexpected<failure>(std::move(parsed.error()));
  return std::move(parsed->rules);
}

hondana::provider_health prometheus_backend::health() const {
  if (auto error = api_.last_error(); !error.empty()) return {false, std::move(error)};
  std::string detail = api_.server_name();
  if (const auto version = cache_.version(); !version.empty())
    detail.insert(std::string_view("Prometheus").size(), ' ' + version);
  return {true, std::move(detail)};
}

hondana::system_requirements prometheus_backend::requirements() const {
  hondana::system_requirements out;
  out.sockets.push_back(api_.server().address());
  for (auto& file : api_.server().files()) out.folders.push_back({std::move(file)});
  return out;
}

}  // namespace

result<std::shared_ptr<backend>> make_prometheus_backend(prometheus_options options) {
  auto server = endpoint::endpoint::create(options.server);
  if (!server) return tl::unexpected<failure>(std::move(server.error()));
  return std::make_shared<prometheus_backend>(std::move(options), std::move(*server));
}

result<std::shared_ptr<backend>> make_prometheus_backend(endpoint::settings server, series::duration interval,
                                                         std::function<void(std::string_view)> log) {
  prometheus_options options;
  options.server = std::move(server);
  options.interval = interval;
  options.log = std::move(log);
  return make_prometheus_backend(std::move(options));
}

}  // namespace hondana::metrics

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
class following {
 public:
  /// `every` returns the interval. It is evaluated repeatedly, and a new value takes effect within a second.
  explicit following(std::function<series::duration()> every) : every_(std::move(every)) {}
  ~following() { tell({}); }
  following(const following&) = delete;
  following& operator=(const following&) = delete;

  /// Starts to call `told`. An empty function ends the calls: it is not running when this returns, unless it makes this call
  /// itself.
  void tell(std::function<void()> told);
  /// Stops the calls until `go_on` resumes them or `tell` sets a new function. It waits as `tell` does.
  void pause();
  void go_on();

 private:
  void begin();
  static void end(std::jthread thread);
  void run(const std::stop_token& stop);

  std::function<series::duration()> every_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> told_{};
  std::jthread thread_{};
};

namespace {

constexpr std::chrono::milliseconds shortest_pause{100};
constexpr std::chrono::milliseconds longest_wait{1000};

}  // namespace

void following::tell(std::function<void()> told) {
  std::jthread ended;
  {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    if (told_) return begin();
    ended = std::move(thread_);
  }
  end(std::move(ended));
}

void following::pause() {
  std::jthread ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(thread_);
  }
  end(std::move(ended));
}

void following::go_on() {
  const std::lock_guard lock(mutex_);
  if (told_) begin();
}

void following::begin() {
  if (thread_.joinable()) return;
  const executor::signals_blocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void following::end(std::jthread thread) {
  thread.request_stop();
  // The called function may itself end the thread.
  if (thread.get_id() == std::this_thread::get_id() && thread.joinable()) thread.detach();
}

void following::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // The interval may become known, or change, during the wait.
    const auto begun = monotonic_clock::now();
    for (std::chrono::milliseconds left{shortest_pause}; left.count() > 0 && !stop.stop_requested();) {
      monotonic_clock::wait_for(changed_, lock, stop, std::min(left, longest_wait), [] { return false; });
      const auto pause = std::chrono::milliseconds(std::max<series::duration>(every_(), shortest_pause.count()));
      left = std::chrono::ceil<std::chrono::milliseconds>(begun + pause - monotonic_clock::now());
    }
    if (stop.stop_requested() || !told_) return;
    const auto told = told_;
    lock.unlock();
    told();
    // The called function may have ended this thread, and destroyed this object.
    if (stop.stop_requested()) return;
    lock.lock();
  }
}

namespace {

/// The most steps that Prometheus accepts in a range query.
constexpr std::size_t most_steps = 11'000;
constexpr std::size_t longest_expression = 16 * 1024;
/// Completion includes series that ended no longer than this ago, in milliseconds.
constexpr series::duration lookup_range = 86'400'000;

series::instant now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// An RE2 expression that matches strings with this prefix.
std::string beginning_with(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool stands_for_itself = static_cast<unsigned char>(c) >= 0x80 || ascii::is_letter(c) || (c >= '0' && c <= '9');
    if (!stands_for_itself) out += '\\';
    out += c;
  }
  return out + ".*";
}

class prometheus_backend final : public backend {
 public:
  prometheus_backend(prometheus_options options, std::shared_ptr<endpoint::endpoint> at)
      : options_(std::move(options)),
        api_(std::move(at), options_.most_bytes),
        known_(api_, options_.interval, options_.most_names, options_.most_entries),
        following_([this] { return interval(); }) {}

  result<std::vector<metric>> metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                      const call& by) override {
    const auto known = known_.names(by);
    if (!known) return tl::unexpected<failure>(known.error());
    return (*known)->page(prefix, after, limit);
  }

  result<std::optional<metric>> find(std::string_view name, const call& by) override {
    const auto known = known_.names(by);
    if (!known) return tl::unexpected<failure>(known.error());
    return (*known)->find(name);
  }

  result<range_answer> range(const range_request& what, const call& by) override;
  result<std::optional<series::instant>> newest(const series::selector& of, const call& by) override;
  result<std::vector<std::string>> label_names(const series::selector& of, const call& by) override;
  result<std::vector<std::string>> label_values(const series::selector& of, std::string_view label, std::string_view prefix,
                                                const call& by) override;
  result<std::vector<scraping::target_state>> targets(const call& by) override;
  result<std::vector<alert>> alerts(const call& by) override;
  result<std::vector<rule>> rules(const call& by) override;
  result<range_answer> query(std::string_view promql, const series::range& at, std::size_t most_points,
                             const call& by) override;

  [[nodiscard]] series::duration interval() const override { return known_.interval(); }
  void start() override { following_.go_on(); }
  void stop() override { following_.pause(); }
  void follow(std::function<void()> told) override { following_.tell(std::move(told)); }
  [[nodiscard]] hondana::health health() const override;
  [[nodiscard]] hondana::needs needs() const override;

 private:
  /// Parameters of a lookup API (labels, values) that select the matching series of the last day.
  [[nodiscard]] result<prometheus_api::form> lookup(const series::selector& of, const call& by);
  [[nodiscard]] result<void> check(const series::range& at) const;
  /// The series of one expression over the steps of a range.
  [[nodiscard]] result<std::vector<series::points>> evaluated(std::string_view promql, const series::range& at,
                                                              const prometheus_limits& most, std::vector<std::string>& warnings,
                                                              const call& by) const;

  const prometheus_options options_;
  const prometheus_api api_;
  prometheus_known known_;
  following following_;  // must be the last member: its thread uses the others
};

result<void> prometheus_backend::check(const series::range& at) const {
  const auto steps = at.steps();
  if (steps == 0) return fail(errc::invalid_argument, "the range ends before it starts, or its step is not positive");
  if (steps <= most_steps + 1) return {};
  const auto span = static_cast<std::uint64_t>(at.end) - static_cast<std::uint64_t>(at.start);
  // In whole seconds, rounded up.
  const auto least = static_cast<series::duration>(std::min<std::uint64_t>(span / most_steps / 1000 + 1, 1u << 31) * 1000);
  return fail(errc::response_too_large, "the range has " + std::to_string(steps - 1) +
                                            " steps, and Prometheus returns at most " + std::to_string(most_steps) +
                                            ": request a step of " + series::to_text(least) + " or more, or a shorter range");
}

result<std::vector<series::points>> prometheus_backend::evaluated(std::string_view promql, const series::range& at,
                                                                  const prometheus_limits& most,
                                                                  std::vector<std::string>& warnings, const call& by) const {
  prometheus_api::form form{{"query", std::string(promql)},
                            {"start", prometheus_time(at.start)},
                            {"end", prometheus_time(at.end)},
                            {"step", prometheus_time(at.step)}};
  auto got = api_.post("/query_range", std::move(form), by);
  if (!got) return essential(std::move(got.error()), api_.whose());
  for (auto& one : got->warnings) warnings.push_back(std::move(one));
  return series_of(got->data, most, api_.whose(), warnings);
}

result<range_answer> prometheus_backend::range(const range_request& what, const call& by) {
  if (const auto fits = check(what.at); !fits) return tl::unexpected<failure>(fits.error());
  range_answer out;
  const auto known = known_.names(by);
  if (!known) return tl::unexpected<failure>(known.error());
  if (const auto found = (*known)->find(what.which.name); found) out.of = found->of;
  out.how = what.how.for_kind(out.of.kind);
  out.how = out.how.for_step(what.at.step, interval());
  auto which = what.which;
  if (!which.name.empty()) which.name = series::series_read(which.name, out.of.kind, out.how);
  const auto asks = series::to_promql(out.how, which);
  prometheus_limits left{what.most_series, what.most_points};
  for (std::size_t i = 0; i < asks.size(); ++i) {
    auto got = evaluated(asks[i], what.at, left, out.warnings, by);
    if (!got) return tl::unexpected<failure>(std::move(got.error()));
    left.series -= got->size();
    for (auto& one : *got) {
      left.points -= one.samples.size();
      if (i < out.how.quantiles.size()) {
        one.of.labels.emplace_back("quantile", series::number_text(out.how.quantiles[i]));
        std::sort(one.of.labels.begin(), one.of.labels.end());
      }
      out.series.push_back(std::move(one));
    }
  }
  std::sort(out.series.begin(), out.series.end(), [](const auto& a, const auto& b) { return a.of < b.of; });
  return out;
}

result<range_answer> prometheus_backend::query(std::string_view promql, const series::range& at, std::size_t most_points,
                                               const call& by) {
  if (promql.empty() || promql.size() > longest_expression) {
    return fail(errc::invalid_argument,
                "promql is " +
                    (promql.empty() ? std::string("missing") : "longer than " + std::to_string(longest_expression) + " bytes"));
  }
  if (const auto fits = check(at); !fits) return tl::unexpected<failure>(fits.error());
  known_.learn(by);
  range_answer out;
  const prometheus_limits most{most_points, most_points};
  if (at.start != at.end) {
    auto got = evaluated(promql, at, most, out.warnings, by);
    if (!got) return tl::unexpected<failure>(std::move(got.error()));
    out.series = std::move(*got);
    return out;
  }
  auto got = api_.post("/query", {{"query", std::string(promql)}, {"time", prometheus_time(at.start)}}, by);
  if (!got) return essential(std::move(got.error()), api_.whose());
  out.warnings = std::move(got->warnings);
  auto read = series_of(got->data, most, api_.whose(), out.warnings);
  if (!read) return tl::unexpected<failure>(std::move(read.error()));
  out.series = std::move(*read);
  return out;
}

result<std::optional<series::instant>> prometheus_backend::newest(const series::selector& of, const call& by) {
  const auto known = known_.names(by);
  if (!known) return tl::unexpected<failure>(known.error());
  auto which = of;
  which.name = (*known)->series_name(of.name);
  const auto at = now();
  auto got = api_.post("/query", {{"query", "max(timestamp(" + which.to_text() + "))"}, {"time", prometheus_time(at)}}, by);
  if (!got) return essential(std::move(got.error()), api_.whose());
  const auto read = series_of(got->data, {1, 1}, api_.whose(), got->warnings);
  if (!read) return tl::unexpected<failure>(read.error());
  if (read->empty()) return std::nullopt;
  const double told = read->front().samples.front().value;
  // The value is not a plausible time.
  if (!(told > -1e12 && told < 1e12)) return broken_answer(api_.whose(), {"data.result[0].value", "the time is out of range"});
  return static_cast<series::instant>(told * 1000 + (told < 0 ? -0.5 : 0.5));
}

result<prometheus_api::form> prometheus_backend::lookup(const series::selector& of, const call& by) {
  const auto at = now();
  prometheus_api::form out{{"start", prometheus_time(at - lookup_range)},
                           {"end", prometheus_time(at)},
                           {"limit", std::to_string(options_.most_entries)}};
  if (of.name.empty() && of.matchers.empty()) return out;
  const auto known = known_.names(by);
  if (!known) return tl::unexpected<failure>(known.error());
  auto which = of;
  if (!of.name.empty()) which.name = (*known)->series_name(of.name);
  out.emplace_back("match[]", which.to_text());
  return out;
}

result<std::vector<std::string>> prometheus_backend::label_names(const series::selector& of, const call& by) {
  auto form = lookup(of, by);
  if (!form) return tl::unexpected<failure>(std::move(form.error()));
  const auto got = api_.post("/labels", std::move(*form), by);
  if (!got) return essential(got.error(), api_.whose());
  auto all = texts_of(got->data, options_.most_entries, api_.whose());
  if (!all) return all;
  const auto known = known_.names(by);
  const bool is_family = known && !of.name.empty() && (*known)->series_name(of.name) != of.name;
  // `le`, the bucket bounds, is not a label of the histogram as a whole.
  std::erase_if(
      *all, [&](const auto& one) { return one == "__name__" || (is_family && one == "le") || !series::is_label_name(one); });
  return all;
}

result<std::vector<std::string>> prometheus_backend::label_values(const series::selector& of, std::string_view label,
                                                                  std::string_view prefix, const call& by) {
  if (!series::is_label_name(label)) return fail(errc::invalid_argument, "not a valid label name");
  // The server filters by prefix, since it may cut off values beyond the limit.
  auto which = of;
  if (!prefix.empty()) {
    auto begins = series::matcher::of(std::string(label), series::matcher::relation::matches, beginning_with(prefix));
    if (!begins) return tl::unexpected<failure>(std::move(begins.error()));
    which.matchers.push_back(std::move(*begins));
  }
  auto form = lookup(which, by);
  if (!form) return tl::unexpected<failure>(std::move(form.error()));
  const auto got = api_.get("/label/" + std::string(label) + "/values", std::move(*form), by);
  if (!got) return essential(got.error(), api_.whose());
  auto all = texts_of(got->data, std::numeric_limits<std::size_t>::max(), api_.whose());
  if (!all) return all;
  std::erase_if(*all, [&](const auto& one) { return !one.starts_with(prefix); });
  if (all->size() > options_.most_entries) all->resize(options_.most_entries);
  return all;
}

result<std::vector<scraping::target_state>> prometheus_backend::targets(const call& by) {
  const auto got = api_.get("/targets", {{"state", "active"}}, by);
  if (!got) return tl::unexpected<failure>(got.error());
  return targets_of(got->data, options_.most_entries, api_.whose());
}

result<std::vector<alert>> prometheus_backend::alerts(const call& by) {
  // /rules includes the expressions of alerts, /alerts does not.
  const auto all = api_.get("/rules", {{"type", "alert"}}, by);
  if (all) {
    auto read = rules_of(all->data, options_.most_entries, api_.whose());
    if (!read) return tl::unexpected<failure>(std::move(read.error()));
    return std::move(read->alerts);
  }
  if (all.error().code != errc::unsupported) return tl::unexpected<failure>(all.error());
  const auto got = api_.get("/alerts", {}, by);
  if (!got) return tl::unexpected<failure>(got.error());
  return alerts_of(got->data, options_.most_entries, api_.whose());
}

result<std::vector<rule>> prometheus_backend::rules(const call& by) {
  const auto got = api_.get("/rules", {}, by);
  if (!got) return tl::unexpected<failure>(got.error());
  auto read = rules_of(got->data, options_.most_entries, api_.whose());
  if (!read) return tl::unexpected<failure>(std::move(read.error()));
  return std::move(read->rules);
}

hondana::health prometheus_backend::health() const {
  if (auto trouble = api_.trouble(); !trouble.empty()) return {false, std::move(trouble)};
  std::string detail = api_.whose();
  if (const auto version = known_.version(); !version.empty())
    detail.insert(std::string_view("Prometheus").size(), ' ' + version);
  return {true, std::move(detail)};
}

hondana::needs prometheus_backend::needs() const {
  hondana::needs out;
  out.sockets.push_back(api_.at().place());
  for (auto& file : api_.at().files()) out.folders.push_back({std::move(file)});
  return out;
}

}  // namespace

result<std::shared_ptr<backend>> make_prometheus_backend(prometheus_options options) {
  auto at = endpoint::endpoint::of(options.at);
  if (!at) return tl::unexpected<failure>(std::move(at.error()));
  return std::make_shared<prometheus_backend>(std::move(options), std::move(*at));
}

result<std::shared_ptr<backend>> make_prometheus_backend(endpoint::settings at, series::duration interval,
                                                         std::function<void(std::string_view)> log) {
  prometheus_options options;
  options.at = std::move(at);
  options.interval = interval;
  options.log = std::move(log);
  return make_prometheus_backend(std::move(options));
}

}  // namespace hondana::metrics

/// The backend with an embedded store, into which targets and the metrics of this server are scraped.
#include "sources/metrics/embedded_backend.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <hondana/clock.hpp>

#include "base/counters/metrics.hpp"
#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

constexpr std::chrono::seconds retry_delay{3};
/// The first scrapes complete within a second.
constexpr std::chrono::milliseconds first_scrapes_timeout{1500};

/// Removes the store's path from the text for clients. The private text keeps it.
failure without_path(failure error, const std::string& path) {
  auto text = error.public_text;
  if (const auto position = path.empty() ? std::string::npos : text.find(path); position != std::string::npos) {
    text.replace(position, path.size(), "its store");
    error.private_text = error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
    error.public_text = std::move(text);
  }
  return error;
}

tl::unexpected<failure> unsupported_by_store(std::string_view feature) {
  return fail(errc::unsupported,
              std::string(feature) + " are available from Prometheus sources only; this source uses the embedded store.");
}

}  // namespace

embedded_backend::embedded_backend(embedded_options options) : options_(std::move(options)) {
  std::set<std::pair<std::string, std::string>> distinct;
  for (const auto& target : options_.targets) distinct.emplace(target.job, target.instance);
  target_count_ = distinct.size();
}

embedded_backend::~embedded_backend() {
  stop();
  open_or_close();
}

series::instant embedded_backend::now() const { return options_.now ? options_.now() : current_time(); }

void embedded_backend::start() {
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = false;
    if (std::exchange(is_start_requested_, true)) return;
  }
  timers_.schedule(executor::clock::now(), [this] { open_or_close(); });
}

void embedded_backend::stop() {
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
    is_start_requested_ = false;
    error_.reset();
    changed_.notify_all();
  }
  timers_.schedule(executor::clock::now(), [this] { open_or_close(); });
}

/// Opens or closes the store, as last requested by `start` or `stop`.
void embedded_backend::open_or_close() {
  const std::lock_guard open_lock(open_mutex_);
  std::shared_ptr<open_store> closed;
  bool needs_open = false;
  {
    const std::lock_guard lock(mutex_);
    needs_open = is_start_requested_ && !open_;
    if (!is_start_requested_) closed.swap(open_);
  }
  // The scraper stops before another process can open the store. Running reads hold the store open until they finish.
  if (closed) closed->scraper->stop();
  closed.reset();
  if (needs_open) open();
}

void embedded_backend::open() {
  auto opened_store = samples::store::open(options_.store);
  if (!opened_store) {
    const auto& cause = opened_store.error();
    const auto line = cause.public_text + (cause.private_text.empty() ? "" : " (" + cause.private_text + ')');
    auto error = without_path(std::move(opened_store.error()), options_.store.path);
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      is_new = !error_ || error_->public_text != error.public_text;
      error_ = std::move(error);
      changed_.notify_all();
    }
    if (is_new && options_.log) options_.log(line);
    timers_.schedule(executor::clock::now() + retry_delay, [this] { open_or_close(); });
    return;
  }
  auto opened = std::make_shared<open_store>();
  opened->store = std::move(*opened_store);
  opened->scraper = std::make_unique<scraping::scraper>(
      scraping::scraper_environment{[store = opened->store](const samples::batch& batch) { return store->append(batch); },
                                    options_.now},
      options_.targets, [this](const auto& target, auto time) { on_scrape(target, time); },
      options_.log ? options_.log : [](std::string_view) {});
  if (!options_.is_manual) opened->scraper->start();
  const std::lock_guard lock(mutex_);
  open_ = std::move(opened);
  error_.reset();
  changed_.notify_all();
}

result<std::shared_ptr<embedded_backend::open_store>> embedded_backend::wait_until_open(const request_context& context) {
  bool needs_start = false;
  {
    const std::lock_guard lock(mutex_);
    needs_start = !is_start_requested_ && !has_stopped_;
  }
  if (needs_start) start();
  std::unique_lock lock(mutex_);
  const auto deadline = std::min(context.deadline, monotonic_clock::now() + std::chrono::minutes(1));
  const bool is_done =
      monotonic_clock::wait_until(changed_, lock, context.stop, deadline, [&] { return open_ || error_ || has_stopped_; });
  // Right after the start, wait for the first scrapes, so that the answer is not empty.
  if (open_ && !options_.is_manual)
    monotonic_clock::wait_until(changed_, lock, context.stop, std::min(deadline, open_->opened_at + first_scrapes_timeout),
                                [&] { return scraped_.size() >= target_count_ || has_stopped_ || !open_; });
  if (open_) return open_;
  if (has_stopped_) return fail(errc::source_unavailable, "The source is shutting down.");
  if (error_) return tl::unexpected(*error_);
  if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  return is_done ? fail(errc::internal, "The metrics store is not available.")
                 : fail(errc::timed_out, "The metrics store is still being opened. Retry in a few seconds.");
}

void embedded_backend::on_scrape(const scraping::target_state& target, series::instant time) {
  std::function<void()> listener;
  {
    const std::lock_guard lock(mutex_);
    latest_ = std::max(latest_.value_or(time), time);
    scraped_.emplace(target.job, target.instance);
    changed_.notify_all();
    // Until each target was scraped once, an absent series may only be late.
    if (scraped_.size() >= target_count_) listener = listener_;
  }
  if (listener) listener();
}

std::optional<series::instant> embedded_backend::last_ingest_time() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void embedded_backend::set_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

result<void> embedded_backend::scrape_once() {
  HONDANA_TRY(const auto opened, wait_until_open({}));
  opened->scraper->scrape_once();
  return {};
}

result<std::vector<scraping::target_state>> embedded_backend::targets(const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  return opened->scraper->targets();
}

result<std::vector<alert>> embedded_backend::alerts(const request_context&) { return unsupported_by_store("Alerts"); }

result<std::vector<rule>> embedded_backend::rules(const request_context&) { return unsupported_by_store("Rules"); }

result<range_answer> embedded_backend::query(std::string_view, const series::range&, std::size_t, const request_context&) {
  return unsupported_by_store("PromQL queries");
}

hondana::provider_health embedded_backend::health() const {
  std::shared_ptr<open_store> opened;
  {
    const std::lock_guard lock(mutex_);
    if (error_) return {false, error_->public_text};
    opened = open_;
  }
  if (!opened) return {true, "not started yet"};
  const auto targets = opened->scraper->targets();
  std::string down;
  std::size_t count = 0;
  for (const auto& target : targets) {
    if (target.is_up || !target.last_scrape) continue;
    down += (count++ == 0 ? "" : "; ") + target.job + ' ' + target.instance + ": " + target.last_error;
    constexpr std::size_t max_listed = 3;
    if (count == max_listed) break;
  }
  return {count == 0 || count < targets.size(), down};
}

hondana::system_requirements embedded_backend::requirements() const {
  hondana::system_requirements out;
  if (!options_.store.path.empty())
    out.folders.push_back({std::filesystem::path(options_.store.path).parent_path().string(), true});
  for (const auto& folder : options_.host_folders) out.folders.push_back({folder});
  for (const auto& target : options_.targets) {
    if (!target.server) continue;
    out.sockets.push_back(target.server->address());
    for (auto& file : target.server->files()) out.folders.push_back({std::move(file)});
  }
  return out;
}

namespace {

constexpr std::size_t max_stored_names = 100'000;
/// How many stored series, and points, may be aggregated into one series, or point, of the answer.
constexpr std::size_t max_series_per_result = 20;
constexpr std::size_t max_points_per_result = 40;
/// Metrics without a sample for longer than this are not listed, but can be read.
constexpr series::duration listing_window = day;

samples::query_limits make_query_limits(const range_request& request, bool is_per_series, const request_context& context) {
  samples::query_limits out;
  out.max_series = is_per_series ? request.max_series : request.max_series * max_series_per_result;
  out.deadline = context.deadline;
  out.stop = context.stop;
  return out;
}

bool has_buckets(series::kind kind) noexcept { return kind == series::kind::histogram; }

/// The series that are stored: those of a histogram family are its `_bucket` series.
series::selector stored_selector(const series::selector& selector, const series::metadata& metadata) {
  auto out = selector;
  if (has_buckets(metadata.kind)) out.name = selector.name + "_bucket";
  return out;
}

}  // namespace

series::metadata embedded_backend::metadata_of(const samples::store& store, std::string_view name) {
  auto metadata = store.find_metadata(name);
  constexpr std::array<std::string_view, 6> suffixes{"_bucket", "_sum", "_count", "_total", "_created", "_info"};
  for (const auto suffix : suffixes)
    if (!metadata && name.size() > suffix.size() && name.ends_with(suffix))
      metadata = store.find_metadata(name.substr(0, name.size() - suffix.size()));
  auto out = metadata.value_or(series::metadata{});
  out.kind = series::kind_of_series(name, out.kind);
  if (out.unit.empty()) out.unit = series::unit_from_name(name);
  return out;
}

result<std::vector<metric_info>> embedded_backend::metrics(std::string_view prefix, std::string_view after_key,
                                                           std::size_t limit, const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  const auto stored = store.metric_names({}, now() - listing_window, max_stored_names);
  const auto is_stored = [&](const std::string& name) { return std::binary_search(stored.begin(), stored.end(), name); };
  std::set<std::string, std::less<>> names;
  for (const auto& name : stored) {
    auto listed = name;
    for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(suffix)) continue;
      const auto family = name.substr(0, name.size() - suffix.size());
      const auto metadata = store.find_metadata(family);
      if (!metadata || (metadata->kind != series::kind::histogram && metadata->kind != series::kind::summary)) continue;
      // As in `find`. A summary without quantiles, for example, is listed by its series, since reads find only those.
      if (is_stored(family) || (has_buckets(metadata_of(store, family).kind) && is_stored(family + "_bucket"))) listed = family;
      break;
    }
    names.insert(std::move(listed));
  }
  std::vector<metric_info> out;
  for (auto it = after_key.empty() ? names.begin() : names.upper_bound(after_key); it != names.end() && out.size() < limit;
       ++it)
    if (it->starts_with(prefix)) out.push_back({*it, metadata_of(store, *it)});
  return out;
}

result<std::optional<metric_info>> embedded_backend::find(std::string_view name, const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  const auto has_series = [&](const std::string& exact) {
    const auto first = store.metric_names(exact, 0, 1);
    return !first.empty() && first.front() == exact;
  };
  const auto metadata = metadata_of(store, name);
  const bool exists =
      has_series(std::string(name)) || (has_buckets(metadata.kind) && has_series(std::string(name) + "_bucket"));
  if (!exists) return std::optional<metric_info>();
  return std::optional<metric_info>(metric_info{std::string(name), metadata});
}

result<range_answer> embedded_backend::range(const range_request& request, const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  range_answer out;
  out.metadata = metadata_of(store, request.selector.name);
  out.aggregation = request.aggregation.for_kind(out.metadata.kind).for_step(request.range.step, options_.interval);
  const series::selector selector{series::series_name_for(request.selector.name, out.metadata.kind, out.aggregation),
                                  request.selector.matchers};
  const bool is_per_series = out.aggregation.across == series::across::none && out.aggregation.quantiles.empty();
  const auto start = request.range.start - std::max(out.aggregation.window, series::default_lookback);
  HONDANA_TRY(auto raw, store.read(selector, start, request.range.end, make_query_limits(request, is_per_series, context)));
  const auto steps = request.range.steps();
  const auto max_points = is_per_series ? request.max_points : request.max_points * max_points_per_result;
  const auto reject = [&](std::size_t count, std::size_t limit) {
    return fail(errc::response_too_large, std::to_string(count) + " series at " + std::to_string(steps) + " steps are " +
                                              std::to_string(count * steps) + " points, and at most " + std::to_string(limit) +
                                              (is_per_series ? " may be returned." : " may be evaluated."));
  };
  if (raw.size() * steps > max_points) return reject(raw.size(), max_points);
  auto evaluated = series::evaluate(std::move(raw), out.aggregation, request.range);
  if (!evaluated) return tl::unexpected(std::move(evaluated.error()));
  if (evaluated->size() > request.max_series)
    return fail(errc::response_too_large, "The result has " + std::to_string(evaluated->size()) + " series, and at most " +
                                              std::to_string(request.max_series) + " may be returned.");
  std::size_t point_count = 0;
  for (const auto& series : *evaluated) point_count += series.samples.size();
  if (point_count > request.max_points) return reject(evaluated->size(), request.max_points);
  out.series = std::move(*evaluated);
  return out;
}

result<std::optional<series::instant>> embedded_backend::newest_sample_time(const series::selector& selector,
                                                                            const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  range_request request;
  const auto stored = stored_selector(selector, metadata_of(store, selector.name));
  const auto last = store.last(stored, now() - series::default_lookback, make_query_limits(request, false, context));
  if (!last) return tl::unexpected(last.error());
  std::optional<series::instant> out;
  for (const auto& entry : *last)
    if (!entry.samples.empty() && !series::is_stale(entry.samples.back().value) && (!out || entry.samples.back().time > *out))
      out = entry.samples.back().time;
  return out;
}

result<std::vector<std::string>> embedded_backend::label_names(const series::selector& selector,
                                                               const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  return store.label_names(selector.name.empty() ? selector : stored_selector(selector, metadata_of(store, selector.name)),
                           max_label_values);
}

result<std::vector<std::string>> embedded_backend::label_values(const series::selector& selector, std::string_view label,
                                                                std::string_view prefix, const request_context& context) {
  HONDANA_TRY(const auto opened, wait_until_open(context));
  const auto& store = *opened->store;
  return store.label_values(selector.name.empty() ? selector : stored_selector(selector, metadata_of(store, selector.name)),
                            label, prefix, max_label_values);
}

namespace {

series::kind to_series_kind(counters::kind kind) noexcept {
  switch (kind) {
    case counters::kind::counter:
      return series::kind::counter;
    case counters::kind::histogram:
      return series::kind::histogram;
    case counters::kind::info:
      return series::kind::info;
    case counters::kind::gauge:
      break;
  }
  return series::kind::gauge;
}

class batch_sink final : public counters::sink {
 public:
  batch_sink(series::instant now, samples::batch& batch) : now_(now), batch_(batch) {}

  void family(const counters::metric_family& head) override {
    name_ = head.name;
    // The store finds metadata by family name. For some metrics it equals the name of the series.
    batch_.families.insert_or_assign(
        name_, series::metadata{to_series_kind(head.kind), std::string(head.unit), std::string(head.help)});
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    series::identity identity{name_ + std::string(suffix), {}};
    for (const auto& label : labels) identity.labels.emplace_back(label.name, label.value);
    if (series::normalize(identity)) batch_.entries.push_back({std::move(identity), {now_, value}});
  }

 private:
  const series::instant now_;
  samples::batch& batch_;
  std::string name_;
};

}  // namespace

result<void> collect_process_metrics(series::instant now, samples::batch& batch) {
  batch_sink sink(now, batch);
  counters::registry::global().collect(sink);
  return {};
}

}  // namespace hondana::metrics

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

constexpr std::chrono::seconds next_try{3};
/// The first scrapes complete within a second.
constexpr std::chrono::milliseconds for_first_scrapes{1500};

/// Removes the store's path from the text for clients. The private text keeps it.
failure without_path(failure why, const std::string& path) {
  auto said = why.public_text;
  if (const auto at = path.empty() ? std::string::npos : said.find(path); at != std::string::npos) {
    said.replace(at, path.size(), "its store");
    why.private_text = why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
    why.public_text = std::move(said);
  }
  return why;
}

tl::unexpected<failure> not_in_a_store(std::string_view what) {
  return fail(errc::unsupported,
              std::string(what) + " are available from Prometheus sources only; this source uses the embedded store.");
}

}  // namespace

embedded_backend::embedded_backend(embedded_options how) : how_(std::move(how)) {
  std::set<std::pair<std::string, std::string>> all;
  for (const auto& one : how_.targets) all.emplace(one.job, one.instance);
  places_ = all.size();
}

embedded_backend::~embedded_backend() {
  stop();
  turn();
}

series::instant embedded_backend::now() const { return how_.now ? how_.now() : present(); }

void embedded_backend::start() {
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = false;
    if (std::exchange(is_wanted_, true)) return;
  }
  timers_.at(executor::clock::now(), [this] { turn(); });
}

void embedded_backend::stop() {
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
    is_wanted_ = false;
    problem_.reset();
    news_.notify_all();
  }
  timers_.at(executor::clock::now(), [this] { turn(); });
}

/// Opens or closes the store, as last requested by `start` or `stop`.
void embedded_backend::turn() {
  const std::lock_guard turning(turning_);
  std::shared_ptr<open_store> gone;
  bool opens = false;
  {
    const std::lock_guard lock(mutex_);
    opens = is_wanted_ && !open_;
    if (!is_wanted_) gone.swap(open_);
  }
  // The scraper stops before another process can open the store. Running reads hold the store open until they finish.
  if (gone) gone->scraper->stop();
  gone.reset();
  if (opens) open();
}

void embedded_backend::open() {
  auto kept = samples::store::open(how_.store);
  if (!kept) {
    const auto& why = kept.error();
    const auto line = why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
    auto problem = without_path(std::move(kept.error()), how_.store.path);
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      is_new = !problem_ || problem_->public_text != problem.public_text;
      problem_ = std::move(problem);
      news_.notify_all();
    }
    if (is_new && how_.log) how_.log(line);
    timers_.at(executor::clock::now() + next_try, [this] { turn(); });
    return;
  }
  auto made = std::make_shared<open_store>();
  made->kept = std::move(*kept);
  made->scraper = std::make_unique<scraping::scraper>(
      scraping::surroundings{[into = made->kept](const samples::batch& what) { return into->append(what); }, how_.now},
      how_.targets, [this](const auto& of, auto at) { hear(of, at); }, how_.log ? how_.log : [](std::string_view) {});
  if (!how_.is_still) made->scraper->start();
  const std::lock_guard lock(mutex_);
  open_ = std::move(made);
  problem_.reset();
  news_.notify_all();
}

result<std::shared_ptr<embedded_backend::open_store>> embedded_backend::opened(const call& by) {
  bool starts = false;
  {
    const std::lock_guard lock(mutex_);
    starts = !is_wanted_ && !has_stopped_;
  }
  if (starts) start();
  std::unique_lock lock(mutex_);
  const auto until = std::min(by.deadline, monotonic_clock::now() + std::chrono::minutes(1));
  const bool is_done =
      monotonic_clock::wait_until(news_, lock, by.stop, until, [&] { return open_ || problem_ || has_stopped_; });
  // Right after the start, wait for the first scrapes, so that the answer is not empty.
  if (open_ && !how_.is_still)
    monotonic_clock::wait_until(news_, lock, by.stop, std::min(until, open_->since + for_first_scrapes),
                                [&] { return heard_.size() >= places_ || has_stopped_ || !open_; });
  if (open_) return open_;
  if (has_stopped_) return fail(errc::source_unavailable, "The source is shutting down.");
  if (problem_) return tl::unexpected(*problem_);
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  return is_done ? fail(errc::internal, "The metrics store is not available.")
                 : fail(errc::timed_out, "The metrics store is still being opened. Retry in a few seconds.");
}

void embedded_backend::hear(const scraping::target_state& of, series::instant at) {
  std::function<void()> told;
  {
    const std::lock_guard lock(mutex_);
    latest_ = std::max(latest_.value_or(at), at);
    heard_.emplace(of.job, of.instance);
    news_.notify_all();
    // Until each target was scraped once, an absent series may only be late.
    if (heard_.size() >= places_) told = told_;
  }
  if (told) told();
}

std::optional<series::instant> embedded_backend::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void embedded_backend::follow(std::function<void()> told) {
  const std::lock_guard lock(mutex_);
  told_ = std::move(told);
}

result<void> embedded_backend::scrape_once() {
  HONDANA_TRY(const auto there, opened({}));
  there->scraper->scrape_once();
  return {};
}

result<std::vector<scraping::target_state>> embedded_backend::targets(const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  return there->scraper->targets();
}

result<std::vector<alert>> embedded_backend::alerts(const call&) { return not_in_a_store("Alerts"); }

result<std::vector<rule>> embedded_backend::rules(const call&) { return not_in_a_store("Rules"); }

result<range_answer> embedded_backend::query(std::string_view, const series::range&, std::size_t, const call&) {
  return not_in_a_store("PromQL queries");
}

hondana::health embedded_backend::health() const {
  std::shared_ptr<open_store> there;
  {
    const std::lock_guard lock(mutex_);
    if (problem_) return {false, problem_->public_text};
    there = open_;
  }
  if (!there) return {true, "not started yet"};
  const auto all = there->scraper->targets();
  std::string down;
  std::size_t count = 0;
  for (const auto& one : all) {
    if (one.is_up || !one.last_scrape) continue;
    down += (count++ == 0 ? "" : "; ") + one.job + ' ' + one.instance + ": " + one.last_error;
    constexpr std::size_t enough = 3;
    if (count == enough) break;
  }
  return {count == 0 || count < all.size(), down};
}

hondana::needs embedded_backend::needs() const {
  hondana::needs out;
  if (!how_.store.path.empty()) out.folders.push_back({std::filesystem::path(how_.store.path).parent_path().string(), true});
  for (const auto& one : how_.host_folders) out.folders.push_back({one});
  for (const auto& one : how_.targets) {
    if (!one.at) continue;
    out.sockets.push_back(one.at->place());
    for (auto& file : one.at->files()) out.folders.push_back({std::move(file)});
  }
  return out;
}

namespace {

constexpr std::size_t most_stored_names = 100'000;
/// How many stored series, and points, may be aggregated into one series, or point, of the answer.
constexpr std::size_t series_in_one = 20;
constexpr std::size_t points_in_one = 40;
/// Metrics without a sample for longer than this are not listed, but can be read.
constexpr series::duration listed_for = day;

samples::budget budget_of(const range_request& what, bool is_each, const call& by) {
  samples::budget out;
  out.series = is_each ? what.most_series : what.most_series * series_in_one;
  out.until = by.deadline;
  out.stop = by.stop;
  return out;
}

bool has_buckets(series::kind what) noexcept { return what == series::kind::histogram; }

/// The series that are stored: those of a histogram family are its `_bucket` series.
series::selector stored(const series::selector& of, const series::metadata& facts) {
  auto out = of;
  if (has_buckets(facts.kind)) out.name = of.name + "_bucket";
  return out;
}

}  // namespace

series::metadata embedded_backend::facts_of(const samples::store& from, std::string_view name) {
  auto found = from.metadata_of(name);
  constexpr std::array<std::string_view, 6> endings{"_bucket", "_sum", "_count", "_total", "_created", "_info"};
  for (const auto ending : endings)
    if (!found && name.size() > ending.size() && name.ends_with(ending))
      found = from.metadata_of(name.substr(0, name.size() - ending.size()));
  auto out = found.value_or(series::metadata{});
  out.kind = series::kind_of_series(name, out.kind);
  if (out.unit.empty()) out.unit = series::unit_in(name);
  return out;
}

result<std::vector<metric>> embedded_backend::metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                                      const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  std::set<std::string, std::less<>> all;
  for (auto& name : kept.names(prefix, now() - listed_for, most_stored_names)) {
    for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(ending)) continue;
      const auto family = name.substr(0, name.size() - ending.size());
      const auto facts = kept.metadata_of(family);
      if (!facts || (facts->kind != series::kind::histogram && facts->kind != series::kind::summary)) continue;
      name = family;
      break;
    }
    all.insert(std::move(name));
  }
  std::vector<metric> out;
  for (auto at = after.empty() ? all.begin() : all.upper_bound(after); at != all.end() && out.size() < limit; ++at)
    if (at->starts_with(prefix)) out.push_back({*at, facts_of(kept, *at)});
  return out;
}

result<std::optional<metric>> embedded_backend::find(std::string_view name, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  const auto has = [&](const std::string& exact) {
    const auto first = kept.names(exact, 0, 1);
    return !first.empty() && first.front() == exact;
  };
  const auto facts = facts_of(kept, name);
  const bool is_there = has(std::string(name)) || (has_buckets(facts.kind) && has(std::string(name) + "_bucket"));
  if (!is_there) return std::optional<metric>();
  return std::optional<metric>(metric{std::string(name), facts});
}

result<range_answer> embedded_backend::range(const range_request& what, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  range_answer out;
  out.of = facts_of(kept, what.which.name);
  out.how = what.how.for_kind(out.of.kind).for_step(what.at.step, how_.interval);
  const series::selector which{series::series_read(what.which.name, out.of.kind, out.how), what.which.matchers};
  const bool is_each = out.how.across == series::across::none && out.how.quantiles.empty();
  const auto from = what.at.start - std::max(out.how.window, series::usual_look_back);
  HONDANA_TRY(auto raw, kept.read(which, from, what.at.end, budget_of(what, is_each, by)));
  const auto steps = what.at.steps();
  const auto most = is_each ? what.most_points : what.most_points * points_in_one;
  const auto refuse = [&](std::size_t count, std::size_t limit) {
    return fail(errc::response_too_large, std::to_string(count) + " series at " + std::to_string(steps) + " steps are " +
                                              std::to_string(count * steps) + " points, and at most " + std::to_string(limit) +
                                              (is_each ? " may be returned." : " may be evaluated."));
  };
  if (raw.size() * steps > most) return refuse(raw.size(), most);
  auto made = series::evaluate(std::move(raw), out.how, what.at);
  if (!made) return tl::unexpected(std::move(made.error()));
  if (made->size() > what.most_series)
    return fail(errc::response_too_large, "The result has " + std::to_string(made->size()) + " series, and at most " +
                                              std::to_string(what.most_series) + " may be returned.");
  std::size_t points = 0;
  for (const auto& one : *made) points += one.samples.size();
  if (points > what.most_points) return refuse(made->size(), what.most_points);
  out.series = std::move(*made);
  return out;
}

result<std::optional<series::instant>> embedded_backend::newest(const series::selector& of, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  range_request all;
  const auto which = stored(of, facts_of(kept, of.name));
  const auto last = kept.last(which, now() - series::usual_look_back, budget_of(all, false, by));
  if (!last) return tl::unexpected(last.error());
  std::optional<series::instant> out;
  for (const auto& one : *last)
    if (!one.samples.empty() && !series::is_stale(one.samples.back().value) && (!out || one.samples.back().at > *out))
      out = one.samples.back().at;
  return out;
}

result<std::vector<std::string>> embedded_backend::label_names(const series::selector& of, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  return kept.label_names(of.name.empty() ? of : stored(of, facts_of(kept, of.name)), most_label_values);
}

result<std::vector<std::string>> embedded_backend::label_values(const series::selector& of, std::string_view label,
                                                                std::string_view prefix, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  return kept.label_values(of.name.empty() ? of : stored(of, facts_of(kept, of.name)), label, prefix, most_label_values);
}

namespace {

series::kind kind_of_figures(counters::kind what) noexcept {
  switch (what) {
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

class taken final : public counters::sink {
 public:
  taken(series::instant now, samples::batch& into) : now_(now), into_(into) {}

  void family(const counters::head& of) override {
    name_ = of.name;
    // The store finds metadata by family name. For some metrics it equals the name of the series.
    into_.families.insert_or_assign(name_,
                                    series::metadata{kind_of_figures(of.kind), std::string(of.unit), std::string(of.help)});
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    series::identity of{name_ + std::string(suffix), {}};
    for (const auto& one : labels) of.labels.emplace_back(one.name, one.value);
    if (series::normalise(of)) into_.entries.push_back({std::move(of), {now_, value}});
  }

 private:
  const series::instant now_;
  samples::batch& into_;
  std::string name_;
};

}  // namespace

result<void> collect_own_figures(series::instant now, samples::batch& into) {
  taken all(now, into);
  counters::registry::here().collect(all);
  return {};
}

}  // namespace hondana::metrics

/// Opening, closing, and what is asked of the scraper; what is asked of the store is in embedded_values.cpp.
#include "sources/metrics/embedded_backend.hpp"

#include <algorithm>
#include <filesystem>

#include <hondana/clock.hpp>

#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

constexpr std::chrono::seconds next_try{3};
/// First scrapes come within a second.
constexpr std::chrono::milliseconds for_first_scrapes{1500};

/// As peers may have it: without the path, which is in the private text.
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

/// Makes it as it is wanted.
void embedded_backend::turn() {
  const std::lock_guard turning(turning_);
  std::shared_ptr<open_store> gone;
  bool opens = false;
  {
    const std::lock_guard lock(mutex_);
    opens = is_wanted_ && !open_;
    if (!is_wanted_) gone.swap(open_);
  }
  // The scraper ends before others can open the store; whoever still reads keeps it a little longer.
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
  // Who asks what has only just been started is better answered a moment later than with nothing.
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
    // Before each has been asked once, what is absent may only not be there yet.
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

}  // namespace hondana::metrics

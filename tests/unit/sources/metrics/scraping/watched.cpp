/// Keeps batches in memory.
#include "unit/sources/metrics/scraping/watched.hpp"

#include "deadline.hpp"

namespace hondana_test {

hondana::scraping::scraper_environment watched::surroundings() {
  hondana::scraping::scraper_environment out;
  out.append = [this](const batch& what) -> hondana::result<hondana::samples::append_result> {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    if (is_full) return hondana::fail(hondana::errc::source_unavailable, "the disk is full", "ENOSPC");
    batches.push_back(what);
    return hondana::samples::append_result{.stored = what.entries.size()};
  };
  out.now = [this] {
    const std::lock_guard lock(mutex_);
    if (now) return *now;
    return static_cast<hondana::series::instant>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  };
  return out;
}

std::function<void(std::string_view)> watched::log() {
  return [this](std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines.emplace_back(line);
    changed_.notify_all();
  };
}

hondana::scraping::scraper::scrape_listener watched::hearer() {
  return [this](const hondana::scraping::target_state& of, hondana::series::instant) {
    const std::lock_guard lock(mutex_);
    heard.push_back(of);
    changed_.notify_all();
  };
}

bool watched::wait_for(const std::function<bool(const watched&)>& what) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, event_deadline, [&] { return what(*this); });
}

void watched::set(const std::function<void(watched&)>& change) {
  const std::lock_guard lock(mutex_);
  change(*this);
  changed_.notify_all();
}

std::size_t watched::kept_of(const std::string& instance) const {
  std::size_t out = 0;
  for (const auto& one : heard) out += one.instance == instance;
  return out;
}

std::optional<double> watched::value_in(const batch& of, const std::string& series) {
  for (const auto& entry : of.entries) {
    if (hondana::series::to_text(entry.identity) == series && !hondana::series::is_stale(entry.sample.value))
      return entry.sample.value;
  }
  return std::nullopt;
}

std::vector<std::string> watched::stale_in(const batch& of) {
  std::vector<std::string> out;
  for (const auto& entry : of.entries) {
    if (hondana::series::is_stale(entry.sample.value)) out.push_back(hondana::series::to_text(entry.identity));
  }
  return out;
}

}  // namespace hondana_test

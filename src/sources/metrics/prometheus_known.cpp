/// Keeps what is known of a Prometheus, and finds it out.
#include "sources/metrics/prometheus_known.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/prometheus_facts.hpp"

namespace hondana::metrics {
namespace {

constexpr series::duration usual_interval = 15'000;
constexpr auto interval_kept = std::chrono::minutes(5);
constexpr auto pause_after_failure = std::chrono::seconds(5);

}  // namespace

tl::unexpected<failure> essential(failure why, std::string_view whose) {
  if (why.code == errc::unsupported) {
    why.code = errc::source_unavailable;
    why.public_text = std::string(whose) + " has no /api/v1 under the configured URL: configure the URL that /api/v1 is under";
  }
  return tl::unexpected<failure>(std::move(why));
}

prometheus_known::prometheus_known(const prometheus_api& api, series::duration interval, std::size_t most_names,
                                   std::size_t most_entries)
    : api_(api),
      is_interval_given_(interval > 0),
      most_names_(most_names),
      most_entries_(most_entries),
      interval_(interval > 0 ? interval : usual_interval) {}

std::string prometheus_known::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

result<std::shared_ptr<const prometheus_names>> prometheus_known::names(const call& by) {
  {
    const std::lock_guard lock(mutex_);
    if (names_ && clock::now() < names_until_) return names_;
  }
  return asked_names(by);
}

result<std::shared_ptr<const prometheus_names>> prometheus_known::asked_names(const call& by) {
  learn(by);
  const auto all = api_.get("/label/__name__/values", {{"limit", std::to_string(most_names_)}}, by);
  if (!all) return essential(all.error(), api_.whose());
  auto texts = texts_of(all->data, most_names_, api_.whose());
  if (!texts) return tl::unexpected<failure>(std::move(texts.error()));
  families known;
  if (const auto metadata = api_.get("/metadata", {}, by); metadata) {
    auto read = families_of(metadata->data, most_names_, api_.whose());
    if (!read) return tl::unexpected<failure>(std::move(read.error()));
    known = std::move(*read);
  } else if (metadata.error().code != errc::unsupported && metadata.error().code != errc::invalid_argument) {
    return tl::unexpected<failure>(metadata.error());
  }
  auto made = std::make_shared<const prometheus_names>(std::move(*texts), std::move(known));
  const std::lock_guard lock(mutex_);
  names_ = made;
  names_until_ = clock::now() + std::chrono::milliseconds(std::max<series::duration>(interval(), 1000));
  return made;
}

void prometheus_known::learn(const call& by) {
  std::unique_lock lock(learning_, std::defer_lock);
  if (by.deadline == clock::time_point::max()) {
    lock.lock();
  } else if (!monotonic_clock::try_lock_until(lock, by.deadline)) {
    return;
  }
  if (clock::now() < learned_until_) return;
  learned_until_ = clock::now() + pause_after_failure;
  const auto info = api_.get("/status/buildinfo", {}, by);
  if (info) {
    const std::lock_guard held(mutex_);
    version_ = version_in(info->data);
  } else if (info.error().code == errc::timed_out || info.error().code == errc::cancelled) {
    return;
  }
  const auto told = is_interval_given_ ? std::nullopt : told_interval(by);
  if (told) interval_ = *told;
  if (info || told) learned_until_ = clock::now() + interval_kept;
}

std::optional<series::duration> prometheus_known::told_interval(const call& by) const {
  if (const auto config = api_.get("/status/config", {}, by); config) {
    if (const auto told = interval_in(config->data); told) return told;
  }
  const auto active = api_.get("/targets", {{"state", "active"}}, by);
  if (!active) return std::nullopt;
  const auto all = targets_of(active->data, most_entries_, api_.whose());
  if (!all) return std::nullopt;
  std::map<series::duration, std::size_t> votes;
  for (const auto& one : *all) {
    if (one.every.count() > 0) ++votes[one.every.count()];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end()) return std::nullopt;
  return most->first;
}

}  // namespace hondana::metrics

/// The list of metrics of a source: cached, refreshed when it is old, and searched for similar names.
#include "sources/metrics/metric_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/address.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t page_size = 5000;
constexpr std::size_t max_similar = 5;

bool is_same_list(const metric_list& a, const metric_list& b) {
  return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const auto& x, const auto& y) { return x.uri == y.uri && x.metric.metadata == y.metric.metadata; });
}

}  // namespace

result<std::shared_ptr<const metric_list>> metric_name_cache::fetch(const request_context& context) const {
  auto out = std::make_shared<metric_list>();
  std::string after_key;
  for (;;) {
    auto page = backend_->metrics({}, after_key, page_size, context);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& metric : *page) {
      if (out->entries.size() == max_listed_metrics) {
        out->has_more = true;
        break;
      }
      after_key = metric.name;
      out->entries.push_back({metric_uri(source_, metric.name), std::move(metric)});
    }
    if (page->size() < page_size || out->has_more) break;
  }
  std::sort(out->entries.begin(), out->entries.end(),
            [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  return out;
}

std::shared_ptr<const metric_list> metric_name_cache::cached() const {
  const std::lock_guard lock(mutex_);
  return expires_at_ && monotonic_clock::now() < *expires_at_ ? list_ : nullptr;
}

bool metric_name_cache::lock_until_deadline(std::unique_lock<std::timed_mutex>& refresh_lock,
                                            const request_context& context) const {
  if (context.deadline == std::chrono::steady_clock::time_point::max()) {
    refresh_lock.lock();
    return true;
  }
  return monotonic_clock::try_lock_until(refresh_lock, context.deadline);
}

result<std::shared_ptr<const metric_list>> metric_name_cache::get(const request_context& context) {
  if (auto unexpired = cached()) return unexpired;
  std::unique_lock refresh_lock(refresh_mutex_, std::defer_lock);
  if (!lock_until_deadline(refresh_lock, context)) {
    const std::lock_guard lock(mutex_);
    if (list_) return list_;
    return fail(errc::timed_out, "Listing the metrics timed out. Retry in a few seconds.");
  }
  if (auto refreshed = cached()) return refreshed;
  auto fetched = fetch(context);
  bool is_changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_clock::now();
    if (!fetched) {
      if (!list_) return fetched;
      // The source is not answering. Callers get the old list for a while instead of each waiting for its own timeout.
      constexpr std::chrono::milliseconds old_list_ttl{2000};
      expires_at_ = now + std::min(ttl_, old_list_ttl);
      return list_;
    }
    is_changed = list_ && !is_same_list(*list_, **fetched);
    list_ = *fetched;
    expires_at_ = now + ttl_;
  }
  if (is_changed && on_change_) on_change_();
  return fetched;
}

std::vector<std::string> metric_name_cache::find_similar(std::string_view name, const request_context& context) {
  const auto list = get(context);
  if (!list) return {};
  const auto max_distance = std::max<std::size_t>(2, name.size() / 4);
  std::vector<std::pair<std::size_t, std::string>> matches;
  for (const auto& entry : (*list)->entries) {
    const std::string_view candidate = entry.metric.name;
    auto distance = edit_distance(name, candidate, max_distance);
    // A name that contains the given one, such as the same name with a unit, counts as similar.
    constexpr std::size_t min_substring = 4;
    if (distance > max_distance && name.size() >= min_substring && candidate.find(name) != std::string_view::npos)
      distance = max_distance;
    if (distance <= max_distance) matches.emplace_back(distance, entry.metric.name);
  }
  std::sort(matches.begin(), matches.end());
  if (matches.size() > max_similar) matches.resize(max_similar);
  std::vector<std::string> out;
  out.reserve(matches.size());
  for (auto& [distance, text] : matches) out.push_back(std::move(text));
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t max_distance) {
  constexpr std::size_t max_bytes = 128;
  a = a.substr(0, max_bytes);
  b = b.substr(0, max_bytes);
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > max_distance) return max_distance + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace hondana::metrics

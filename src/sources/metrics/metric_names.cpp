/// The list of metrics of a source: cached, refreshed when it is old, and searched for similar names.
#include "sources/metrics/metric_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/address.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t names_at_once = 5000;
constexpr std::size_t most_near = 5;

bool is_same_list(const named_metrics& a, const named_metrics& b) {
  return std::equal(a.all.begin(), a.all.end(), b.all.begin(), b.all.end(),
                    [](const auto& x, const auto& y) { return x.uri == y.uri && x.of.of == y.of.of; });
}

}  // namespace

result<std::shared_ptr<const named_metrics>> names::ask(const call& by) const {
  auto out = std::make_shared<named_metrics>();
  std::string after;
  for (;;) {
    auto page = from_->metrics({}, after, names_at_once, by);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& one : *page) {
      if (out->all.size() == most_listed) {
        out->are_more = true;
        break;
      }
      after = one.name;
      out->all.push_back({metric_uri(source_, one.name), std::move(one)});
    }
    if (page->size() < names_at_once || out->are_more) break;
  }
  std::sort(out->all.begin(), out->all.end(),
            [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  return out;
}

std::shared_ptr<const named_metrics> names::kept() const {
  const std::lock_guard lock(mutex_);
  return until_ && monotonic_clock::now() < *until_ ? last_ : nullptr;
}

bool names::wait_for_turn(std::unique_lock<std::timed_mutex>& turn, const call& by) const {
  if (by.deadline == std::chrono::steady_clock::time_point::max()) {
    turn.lock();
    return true;
  }
  return monotonic_clock::try_lock_until(turn, by.deadline);
}

result<std::shared_ptr<const named_metrics>> names::get(const call& by) {
  if (auto there = kept()) return there;
  std::unique_lock turn(asking_, std::defer_lock);
  if (!wait_for_turn(turn, by)) {
    const std::lock_guard lock(mutex_);
    if (last_) return last_;
    return fail(errc::timed_out, "Listing the metrics timed out. Retry in a few seconds.");
  }
  if (auto there = kept()) return there;
  auto made = ask(by);
  bool is_changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_clock::now();
    if (!made) {
      if (!last_) return made;
      // The source is not answering. Callers get the old list for a while instead of each waiting for its own timeout.
      constexpr std::chrono::milliseconds before_next_try{2000};
      until_ = now + std::min(keeps_, before_next_try);
      return last_;
    }
    is_changed = last_ && !is_same_list(*last_, **made);
    last_ = *made;
    until_ = now + keeps_;
  }
  if (is_changed && changed_) changed_();
  return made;
}

std::vector<std::string> names::near(std::string_view name, const call& by) {
  const auto all = get(by);
  if (!all) return {};
  const auto most = std::max<std::size_t>(2, name.size() / 4);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& one : (*all)->all) {
    const std::string_view there = one.of.name;
    auto distance = distance_of(name, there, most);
    // A name that contains the given one, such as the same name with a unit, counts as similar.
    constexpr std::size_t least_part = 4;
    if (distance > most && name.size() >= least_part && there.find(name) != std::string_view::npos) distance = most;
    if (distance <= most) found.emplace_back(distance, one.of.name);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most_near) found.resize(most_near);
  std::vector<std::string> out;
  out.reserve(found.size());
  for (auto& [distance, text] : found) out.push_back(std::move(text));
  return out;
}

std::size_t distance_of(std::string_view a, std::string_view b, std::size_t most) {
  constexpr std::size_t longest = 128;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
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

/// Delays notifications about a file until it has not changed for a while.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

namespace hondana::watch {

/// The index of a watched tree, and a path relative to its root. A key for `debouncer`.
using tree_path = std::pair<std::size_t, std::string>;

struct tree_path_hash {
  [[nodiscard]] std::size_t operator()(const tree_path& key) const noexcept {
    return std::hash<std::string>()(key.second) ^ (key.first * 0x9E3779B97F4A7C15ull);
  }
};

/// Records changes of keys until they are due for a notification. Threads: one.
/// A key is due `quiet_time` after its last change, and at the latest `max_delay` after its first one.
template <class Key, class Hash = std::hash<Key>>
class debouncer {
 public:
  using clock = monotonic_clock;
  struct debounce_times {
    std::chrono::milliseconds quiet_time{20};
    std::chrono::milliseconds max_delay{100};
  };

  /// `max_pending`: if there are more keys, `pop_due` treats all as due.
  explicit debouncer(debounce_times times = {}, std::size_t max_pending = 4096) : times_(times), max_pending_(max_pending) {}

  /// Records a change of `key`.
  void touch(const Key& key, clock::time_point now) {
    const auto [entry, is_new] = pending_.try_emplace(key, event_interval{now, now});
    entry->second.last = now;
  }
  /// Removes a key without a notification. Does nothing if there is no such key.
  void erase(const Key& key) { pending_.erase(key); }
  /// Removes and returns the keys that are due.
  [[nodiscard]] std::vector<Key> pop_due(clock::time_point now) {
    std::vector<Key> out;
    const bool is_full = pending_.size() > max_pending_;
    for (auto entry = pending_.begin(); entry != pending_.end();) {
      if (!is_full && due_at(entry->second) > now) {
        ++entry;
        continue;
      }
      out.push_back(entry->first);
      entry = pending_.erase(entry);
    }
    return out;
  }
  /// When the next key is due, regardless of `max_pending`; nullopt if there are no keys.
  [[nodiscard]] std::optional<clock::time_point> next_due() const {
    std::optional<clock::time_point> soonest;
    for (const auto& [key, interval] : pending_) {
      if (!soonest || due_at(interval) < *soonest) soonest = due_at(interval);
    }
    return soonest;
  }
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }

 private:
  struct event_interval {
    clock::time_point first, last;
  };
  [[nodiscard]] clock::time_point due_at(const event_interval& interval) const {
    return std::min(interval.last + times_.quiet_time, interval.first + times_.max_delay);
  }

  const debounce_times times_;
  const std::size_t max_pending_;
  std::unordered_map<Key, event_interval, Hash> pending_;
};

}  // namespace hondana::watch

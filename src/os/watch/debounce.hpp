/// Delays notifications until a file that is being written has not changed for a while.
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

/// The index of a tree, and a path in it.
using place_in_tree = std::pair<std::size_t, std::string>;

struct place_hash {
  [[nodiscard]] std::size_t operator()(const place_in_tree& of) const noexcept {
    return std::hash<std::string>()(of.second) ^ (of.first * 0x9E3779B97F4A7C15ull);
  }
};

/// Debounces changes. A key is due when it has been quiet for `quiet`, and at the latest `latest` after its first change.
/// With more than `cap` keys, all are due. Threads: one.
template <class Key, class Hash = std::hash<Key>>
class settling {
 public:
  using clock = monotonic_clock;
  struct times {
    std::chrono::milliseconds quiet{20};
    std::chrono::milliseconds latest{100};
  };

  explicit settling(times with = {}, std::size_t cap = 4096) : with_(with), cap_(cap) {}

  /// Records a change of `what`.
  void touch(const Key& what, clock::time_point now) {
    const auto [place, is_new] = open_.try_emplace(what, span{now, now});
    place->second.last = now;
  }
  /// Removes a key whose change has been reported.
  void settle(const Key& what) { open_.erase(what); }
  /// Removes and returns the keys that are due.
  [[nodiscard]] std::vector<Key> due(clock::time_point now) {
    std::vector<Key> out;
    const bool is_full = open_.size() > cap_;
    for (auto one = open_.begin(); one != open_.end();) {
      if (!is_full && due_at(one->second) > now) {
        ++one;
        continue;
      }
      out.push_back(one->first);
      one = open_.erase(one);
    }
    return out;
  }
  /// When the next key is due; nothing when there are no keys.
  [[nodiscard]] std::optional<clock::time_point> next() const {
    std::optional<clock::time_point> soonest;
    for (const auto& [what, when] : open_) {
      if (!soonest || due_at(when) < *soonest) soonest = due_at(when);
    }
    return soonest;
  }
  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }

 private:
  struct span {
    clock::time_point first, last;
  };
  [[nodiscard]] clock::time_point due_at(const span& of) const {
    return std::min(of.last + with_.quiet, of.first + with_.latest);
  }

  const times with_;
  const std::size_t cap_;
  std::unordered_map<Key, span, Hash> open_;
};

}  // namespace hondana::watch

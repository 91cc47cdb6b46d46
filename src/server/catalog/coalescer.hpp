/// Between sources and the feed: many changes of one thing become few.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/executor/timers.hpp"
#include "protocol/model/change.hpp"
#include "server/catalog/feed.hpp"

namespace hondana::catalog {

/// Passes the first change of anything on at once. What follows is passed on as one change: of a resource at the end of the
/// window that the one before it opened; of a list when it has been quiet, at the latest at the end of its longer window. The
/// last change is always passed on. Memory: one note a resource that somebody watches and that changes. Threads: any.
class coalescer : public std::enable_shared_from_this<coalescer> {
 public:
  struct windows {
    std::chrono::milliseconds resource{100};
    std::chrono::milliseconds quiet{250};
    std::chrono::milliseconds list{5'000};
  };

  coalescer(std::shared_ptr<feed> to, std::shared_ptr<executor::timers> timers, windows with);

  void take(const model::change& what);
  /// Resources that changed within the last window.
  [[nodiscard]] std::size_t size() const;

 private:
  using clock = executor::clock;
  struct note {
    bool is_pending = false;
    model::change latest;
  };
  struct due {
    clock::time_point when;
    std::string uri;
  };
  /// Of one kind of list.
  struct list_window {
    bool is_open = false;
    bool is_pending = false;
    clock::time_point end;
    clock::time_point last;
  };

  void take_content(const model::change& what);
  void take_list(const model::change& what);
  /// Under the lock.
  void arm_resources();
  void arm_list(model::change::what kind, clock::time_point when);
  void resources_due();
  void list_due(model::change::what kind);
  [[nodiscard]] list_window& window_of(model::change::what kind);

  const std::shared_ptr<feed> feed_;
  const std::shared_ptr<executor::timers> timers_;
  const windows within_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, note> recent_;
  std::deque<due> by_time_;  // one for each of `recent_`
  bool is_armed_ = false;
  list_window resources_;
  list_window tools_;
  list_window prompts_;
};

}  // namespace hondana::catalog

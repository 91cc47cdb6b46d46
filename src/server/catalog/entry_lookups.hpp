/// Looks up the entries of changed resources, once for all listeners that need them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hondana/resource.hpp>

#include "base/executor/timers.hpp"
#include "server/catalog/catalog.hpp"

namespace hondana::catalog {

/// Describes each URI once at a time for each access filter, for any number of callers. The number of lookups at a time is
/// limited per source, so that no source delays another. If a lookup is already running, later callers get the result of the
/// next one, because the running one may have seen the state before the change.
///
/// Memory: waiting lookups. Their callers are bounded by the limits of the feed. Threads: any.
class lookups : public std::enable_shared_from_this<lookups> {
 public:
  /// Receives the entry; null if there is none, or the source did not answer in time. Must only take a note.
  using taker = std::function<void(std::shared_ptr<const resource> entry)>;

  /// `at_once`: lookups at a time per source. With `timers`, sources are called on the timer thread, never by the thread that
  /// calls `ask`. That thread may hold a lock that a source would need if it answers at once.
  explicit lookups(std::size_t at_once = 16, std::shared_ptr<executor::timers> timers = nullptr) noexcept
      : at_once_(at_once), timers_(std::move(timers)) {}

  /// Sets the catalog of later lookups.
  void use(std::shared_ptr<const catalog> from);
  /// Calls `done` once, on any thread, possibly before this returns. `uri` is canonical. The entry is as the access filter
  /// `through` (may be null) permits.
  void ask(const std::string& uri, std::shared_ptr<const view> through, taker done);
  /// The same for callers that are notified only if the entry exists. If the source is busy or fails, the lookup is retried
  /// with growing pauses, for about a minute and a half.
  void ask_patiently(const std::string& uri, std::shared_ptr<const view> through, taker done);

  /// Number of waiting and running lookups, for tests and metrics.
  [[nodiscard]] std::size_t under_way() const;

 private:
  struct key {
    std::string uri;
    std::shared_ptr<const view> through;
    bool is_patient = false;
    friend auto operator<=>(const key&, const key&) = default;
  };
  struct asker {
    taker done;
    int tries = 0;  // failed ones
  };
  struct job {
    std::vector<asker> asked;    // before it started
    std::vector<asker> waiting;  // since it started
    std::uint64_t source = 0;
    int failures = 0;  // since the last answer; determines the pause
  };
  using jobs = std::map<key, job>;
  /// The lookups of one source.
  struct line {
    std::deque<jobs::iterator> next;  // those that have not started
    std::size_t begun = 0;
    bool is_going_on = false;  // prevents recursion for sources that answer at once
  };

  void ask(key what, taker done);
  /// Continues a lookup after its pause.
  void wake(const key& which);
  /// Starts waiting lookups of a source, up to the limit.
  void go_on(std::uint64_t source);
  void finish(jobs::iterator which, const std::vector<asker>& askers, const result<resource>& found);

  const std::size_t at_once_;
  const std::shared_ptr<executor::timers> timers_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog> from_;
  jobs jobs_;
  std::map<std::uint64_t, line> lines_;  // by source; empty ones are erased
};

}  // namespace hondana::catalog

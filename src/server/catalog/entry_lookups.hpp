/// Looks up the entries of changed resources, once for all who report them to peers.
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

/// One lookup of a URI through a view at a time, whoever and however many ask for it, and a bounded number at once of each
/// source, so that none waits for another. Whoever asks while one is under way gets the outcome of another, which begins after
/// that, since the first may have seen the state before the change.
///
/// Memory: what is asked for and not answered; askers are bounded by what the feed lets them watch, in the time that one is
/// kept waiting. Threads: any.
class lookups : public std::enable_shared_from_this<lookups> {
 public:
  /// Takes the entry; null when there is none, or none could be had in time. Must only take a note.
  using taker = std::function<void(std::shared_ptr<const resource> entry)>;

  /// `at_once` of each source. With `timers`, sources are asked on their thread and never by whoever calls `ask`, who may hold
  /// a lock that a source which answers at once would take.
  explicit lookups(std::size_t at_once = 16, std::shared_ptr<executor::timers> timers = nullptr) noexcept
      : at_once_(at_once), timers_(std::move(timers)) {}

  /// Where entries come from from now on.
  void use(std::shared_ptr<const catalog> from);
  /// Has `done` called once, on any thread, maybe before this returns. `uri` is canonical; the entry is as `through` (may be
  /// null) shows it.
  void ask(const std::string& uri, std::shared_ptr<const view> through, taker done);
  /// The same for who is to be told only of what was found: a source that is busy or unwell is asked again after a pause which
  /// grows, for about a minute and a half.
  void ask_patiently(const std::string& uri, std::shared_ptr<const view> through, taker done);

  /// URIs waiting or under way, for tests and figures.
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
    int tries = 0;  // that failed
  };
  struct job {
    std::vector<asker> asked;    // before it began
    std::vector<asker> waiting;  // since
    std::uint64_t source = 0;
    int failures = 0;  // since anybody was answered, which the pause follows
  };
  using jobs = std::map<key, job>;
  /// What is to be asked of one source.
  struct line {
    std::deque<jobs::iterator> next;  // those not begun
    std::size_t begun = 0;
    bool is_going_on = false;  // so that sources that answer at once do not nest
  };

  void ask(key what, taker done);
  /// One whose pause is over.
  void wake(const key& which);
  /// Begins what may begin of a source.
  void go_on(std::uint64_t source);
  void finish(jobs::iterator which, const std::vector<asker>& askers, const result<resource>& found);

  const std::size_t at_once_;
  const std::shared_ptr<executor::timers> timers_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog> from_;
  jobs jobs_;
  std::map<std::uint64_t, line> lines_;  // by source; none is empty
};

}  // namespace hondana::catalog

/// Notifies subscribers when a metric has new samples, or when a condition on it begins or ceases to hold.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/condition_check.hpp"

namespace hondana::metrics {

/// How a watched condition is with each series. Pure: it is given verdicts, and says whether something was crossed.
///
/// A crossing is a series that begins to meet the condition (for long enough), or one that met it and does not any more. What
/// is not known changes nothing; a series that was known and is missing for longer than `gap`, while the source does answer, is
/// gone, which is a crossing where it met the condition. Verdicts that are older than the last are left out, so that a clock
/// that goes back crosses nothing. The steps of verdicts may lie at other instants each time: an interruption that one of them
/// shows and the next one passes over is one crossing all the same.
class crossings {
 public:
  /// `wait`: what the condition has as `for`.
  explicit crossings(series::duration wait = 0) : wait_(wait) {}
  /// Takes it as the way things are.
  void begin(const verdict& found, series::instant at);
  /// Whether something was crossed.
  [[nodiscard]] bool take(const verdict& found, series::instant at, series::duration gap = series::usual_look_back);

 private:
  struct known {
    bool is_met = false;
    series::instant at = 0;                  // of the verdict
    std::optional<series::instant> since{};  // when the stretch began in which it is met or pending; nothing: it is quiet
    std::optional<series::instant> missing_since{};
  };
  [[nodiscard]] known next(const standing& how, const known* before, series::instant at) const;

  series::duration wait_;
  std::map<std::string, known, std::less<>> all_;
  std::optional<series::instant> last_;
};

struct watcher_options {
  std::shared_ptr<backend> from;
  limits most{};
  std::function<series::instant()> now{};
  /// Whether a metric or query may be looked at; empty: each may. Nothing is told of what may not.
  std::function<result<void>(const address&, const call&)> check{};
  /// What tells whether a place other than a metric has changed. Empty text: it is not known, so nothing is told.
  std::function<std::string(const address&, const call&)> mark{};
  std::function<void(std::string_view)> log{};  ///< May be empty.
  std::size_t most_watched = 1000;              ///< URIs; further ones are not told of, which the log says.
};

/// One thread, from the first URI on, that sleeps until the source says that there may be something new. All URIs are looked
/// at one after the other then. A plain one is told at most once for that, when it has a newer sample; one with a condition
/// when something was crossed since it is watched. A source that does not answer tells nothing, and what was crossed meanwhile
/// is told when it does. What cannot be looked at, for instance because it has too many series, the log says, once for each
/// URI. Threads: any.
class watcher {
 public:
  explicit watcher(watcher_options from);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Nothing is looked at any more, from when this returns; `check` and `mark` are not called either.
  void end();
  void tell_to(std::shared_ptr<change_listener> to);
  /// From now on. `at` is what the URI says. `is_silent`: it is looked at, and nobody is told.
  void attach(const std::string& uri, const address& at, bool is_silent = false);
  void detach(const std::string& uri);
  [[nodiscard]] bool is_empty() const;
  /// There may be something new.
  void stir();

 private:
  struct item;
  void run(const std::stop_token& stop);
  [[nodiscard]] bool look_safely(item& one, const std::stop_token& stop);
  [[nodiscard]] bool look(item& one, const std::stop_token& stop);
  void complain(item& of, const failure& why) const;
  [[nodiscard]] bool look_at_condition(item& one, const call& by);
  [[nodiscard]] bool look_at_values(item& one, const call& by);
  [[nodiscard]] series::instant now() const;

  const watcher_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::map<std::string, std::shared_ptr<item>, std::less<>> all_;
  std::shared_ptr<change_listener> to_;
  std::uint64_t stirred_ = 0;
  bool has_said_full_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace hondana::metrics

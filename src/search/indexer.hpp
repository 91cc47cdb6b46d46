/// Keeps an index like what the server serves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "catalog/feed.hpp"
#include "search/cutting.hpp"
#include "search/ground.hpp"

namespace hondana::search {

/// Looks at everything when it begins, when a list changes and each `interval`, and at single resources when they change; what
/// has another version is read and put into the store, what has gone is taken out. Then vectors are made for what has none.
/// What fails is tried again with the next look, and said once. One thread.
class indexer {
 public:
  explicit indexer(std::shared_ptr<ground> on);
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  void begin(std::shared_ptr<catalog::feed> changes);
  /// Waits until the thread has ended.
  void end();
  /// Everything is to be looked at. Returns the number of the look that will have seen all that is there now.
  std::uint64_t ask_for_look();
  void heard_of(std::string_view uri);
  /// Looks that have ended with everything indexed.
  [[nodiscard]] std::uint64_t complete_looks() const;
  /// False: the time is up, or it was stopped.
  bool wait_for_change(std::chrono::steady_clock::time_point until, const std::stop_token& stop) const;

 private:
  class ears;
  /// What the store has of a resource.
  struct entry_known {
    std::string version{};
    std::uint64_t described = 0;
    std::uint64_t seen = 0;  // the last look that saw it
    bool is_watched = false;
  };
  /// What fails at once is asked again after this, and later as `interval` says.
  static constexpr std::chrono::seconds after_failure{5};
  enum class outcome : std::uint8_t { indexed, same, gone, later };

  void run(const std::stop_token& stop);
  [[nodiscard]] result<void> load();
  void load_vectors();
  /// Goes through the lists; what is to be read is put into `pending_`.
  void look(const std::stop_token& stop);
  [[nodiscard]] result<void> look_at(const std::string& claim, const std::stop_token& stop);
  [[nodiscard]] bool is_in_memory() const noexcept { return on_->options.path.empty() && on_->options.postgres.empty(); }
  [[nodiscard]] bool is_wanted(std::string_view uri) const;
  [[nodiscard]] std::vector<std::string> claims() const;
  void index_pending(const std::stop_token& stop);
  [[nodiscard]] result<outcome> index_one(const resource& entry, const std::stop_token& stop);
  [[nodiscard]] result<void> forget(const std::string& uri);
  [[nodiscard]] result<void> commit();
  void roll_back() noexcept;
  /// For those that look in from outside, where it has changed.
  [[nodiscard]] result<void> note_progress();
  /// False: there is nothing more to do, or it failed.
  [[nodiscard]] bool make_vectors(const std::stop_token& stop);
  void take_vectors(std::span<const std::string> digests);
  void drop_vectors();
  void take_changed();
  void watch(const std::string& uri, entry_known& known);
  void unwatch(const std::string& uri);
  void problem(std::string what);
  void tell_state(bool is_counted);
  [[nodiscard]] call own_call(const std::stop_token& stop) const;

  const std::shared_ptr<ground> on_;
  std::shared_ptr<catalog::feed> feed_;
  std::shared_ptr<ears> ears_;
  std::chrono::steady_clock::time_point began_{};

  // Of the thread.
  std::unordered_map<std::string, entry_known> known_;
  std::unordered_map<std::string, resource> pending_;
  std::vector<passage_id> gone_;          // since the last commit
  std::vector<std::string> new_digests_;  // the same
  std::uint64_t look_ = 0;
  std::size_t watched_ = 0;
  std::string said_;
  std::string noted_;  // progress without its time
  std::chrono::steady_clock::time_point next_look_{};
  std::chrono::steady_clock::time_point next_vectors_{};
  std::chrono::steady_clock::time_point next_count_{};
  std::chrono::steady_clock::time_point next_tidying_{};
  std::chrono::milliseconds vector_pause_{0};
  bool is_look_whole_ = false;
  bool has_more_vectors_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t asked_looks_ = 1;
  std::uint64_t begun_looks_ = 0;
  std::uint64_t complete_looks_ = 0;
  std::uint64_t steps_ = 0;  // grows with everything that `wait_for_change` waits for
  std::set<std::string> changed_uris_;
  std::jthread thread_;
};

}  // namespace hondana::search

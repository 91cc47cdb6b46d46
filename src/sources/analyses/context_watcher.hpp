/// Watches the resources that analyses are based on, and deletes analyses when these resources change.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// The validity of a cached read result. It holds for one second at most, until the store or a watched resource changes.
/// Changes by another process are noticed slightly later with a shared file, and not at all while a Redis server is
/// unreachable.
class analysis_validator final : public cache_validator {
 public:
  using counter = std::atomic<std::uint64_t>;
  /// The state before the read.
  struct snapshot {
    std::uint64_t generation = 0;
    std::uint64_t change_count = 0;
  };
  /// `change_counter`: increases with each notified change of a context. `expires_at`: when the content changes without an
  /// event.
  analysis_validator(std::weak_ptr<const analyses::cache> cache, std::shared_ptr<const counter> change_counter,
                     snapshot initial, std::chrono::steady_clock::time_point expires_at)
      : cache_(std::move(cache)), change_counter_(std::move(change_counter)), initial_(initial), expires_at_(expires_at) {}

  [[nodiscard]] bool is_valid() const noexcept override {
    if (monotonic_clock::now() >= expires_at_ || change_counter_->load() != initial_.change_count) return false;
    const auto locked_cache = cache_.lock();
    return locked_cache && locked_cache->generation() == initial_.generation;
  }

 private:
  const std::weak_ptr<const analyses::cache> cache_;
  const std::shared_ptr<const counter> change_counter_;
  const snapshot initial_;
  const std::chrono::steady_clock::time_point expires_at_;
};

/// Keeps analyses consistent with the resources they are based on, with one thread.
/// It notifies the server of changes in the store, by all processes. When a resource changes, it reads the version and deletes
/// analyses based on another one. At intervals it scans: it checks all versions. Threads: any.
class context_watcher {
 public:
  explicit context_watcher(std::shared_ptr<provider_state> state) : state_(std::move(state)) {}
  ~context_watcher() { stop(); }
  context_watcher(const context_watcher&) = delete;
  context_watcher& operator=(const context_watcher&) = delete;

  /// Sets the listener for changes. Null: none is notified any more. Does not block.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Gives access to the server's other sources. Null: no access; the thread has ended when the call returns.
  void set_host(std::shared_ptr<provider_host> host);
  void add_subscription(const std::string& uri);
  void remove_subscription(const std::string& uri);
  /// Reports a change of a resource. Its version is read, and analyses based on the same version stay.
  void resource_changed(std::string_view uri);
  /// Whether analyses based on an unknown version of a resource may be based on this one. True if it is the first version
  /// found, or if none was found yet.
  [[nodiscard]] bool matches_first_version(std::string_view uri, std::string_view version) const;
  /// Subscribes to changes of a resource, unless the limit is reached.
  void watch_resource(const std::string& uri);
  /// Whether changes of all these resources are notified.
  [[nodiscard]] bool is_watching(const std::vector<analyses::resource_version>& resources) const;
  /// Increases with every notified change.
  [[nodiscard]] const std::shared_ptr<const analysis_validator::counter>& change_counter() const noexcept {
    return shared_change_counter_;
  }
  void stop();

 private:
  struct watch_state {
    std::uint64_t last_scan = 0;  ///< The last scan that saw it, or the first scan after it was added.
    bool is_active = false;       ///< The subscription is active.
  };
  /// The version of a resource when an analysis based on an unknown version was first seen.
  struct first_version {
    std::string version{};
    std::uint64_t last_scan = 0;  ///< The last scan that saw it.
  };
  enum class check_reason : std::uint8_t { change, scan };

  void start();
  void run(const std::stop_token& stop);
  void queue_change(const analyses::store_change* change);
  /// The work that is due.
  struct pending_work;
  [[nodiscard]] pending_work wait_for_work(const std::stop_token& stop, bool has_cache);
  void notify_listener(const std::vector<analyses::store_change>& changes, bool has_missed_changes, analyses::cache& cache);
  /// Watches the context of new analyses, and schedules resources without a version to be read.
  void watch_contexts(const std::vector<analyses::store_change>& changes, analyses::cache& cache);
  /// Reads a version, and deletes analyses based on another one. Only a change notification can report that a resource is gone:
  /// at a scan its source may not be ready yet.
  void check_resource(const std::string& uri, const std::string* stored_version, check_reason reason, analyses::cache& cache,
                      const std::stop_token& stop);
  /// Like `matches_first_version`, and stores the first version.
  [[nodiscard]] bool accept_version(const std::string& uri, const std::string& version);
  /// The stored versions that are current if `current_version` is: also versions for single callers, and the unknown one.
  [[nodiscard]] result<std::vector<std::string>> find_current_versions(const analyses::cache& cache, const std::string& uri,
                                                                       const std::string& current_version);
  /// Whether there are events to notify or versions to read.
  [[nodiscard]] bool has_pending_work() const;
  /// A part of a scan; returns early if events arrive.
  void scan(analyses::cache& cache, const std::stop_token& stop);
  void unwatch_resources(const std::vector<std::string>& uris);

  const std::shared_ptr<provider_state> state_;
  const std::shared_ptr<analysis_validator::counter> change_counter_ = std::make_shared<analysis_validator::counter>(0);
  const std::shared_ptr<const analysis_validator::counter> shared_change_counter_ = change_counter_;
  std::mutex thread_mutex_;
  std::jthread thread_;

  // Used by the thread only.
  std::string scan_after_uri_;  // the URI after which the scan continues
  std::vector<analyses::resource_version> scan_page_;
  std::size_t scan_page_index_ = 0;  // the next element
  std::size_t scanned_count_ = 0;
  bool is_scanning_ = false;
  bool is_full_scan_ = false;  // it began at the first URI
  std::chrono::steady_clock::time_point next_scan_at_{};
  std::set<std::string, std::less<>> unversioned_uris_;  // resources whose first version is to be read
  std::string last_checked_uri_;                         // the URI after which the next change is taken
  std::set<std::string, std::less<>> retry_uris_;        // changed resources whose version could not be read
  std::chrono::steady_clock::time_point retry_at_{};
  std::chrono::milliseconds retry_delay_{0};

  // Held during a subscribe or unsubscribe call, so that these stay in order. Lock before `mutex_`.
  std::mutex subscription_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable_any work_arrived_;
  std::shared_ptr<change_listener> listener_;
  std::set<std::string, std::less<>> subscriptions_;
  std::vector<analyses::store_change> changes_;
  bool has_missed_changes_ = false;
  std::set<std::string, std::less<>> changed_uris_;
  std::map<std::string, watch_state, std::less<>> watched_resources_;
  std::map<std::string, first_version, std::less<>> first_versions_;
  std::uint64_t scan_number_ = 1;
  bool is_scan_requested_ = false;
};

/// Fills in the current versions of a question's context, as the caller may read them. Starts to watch each resource before
/// reading its version. Without a server, the versions stay unchanged. If a resource differs by caller, its version covers both
/// the caller's content and the whole.
///
/// `path`: the name of the context in errors. Errors: resource_not_found: not served to this caller; content_changed: a given
/// version is not the current one; invalid_argument: an invalid or repeated URI. Also insufficient_scope, and those of the
/// sources and of `provider_state::require_host`.
[[nodiscard]] result<void> resolve_versions(const provider_state& state, context_watcher& watcher,
                                            const request_context& request, analyses::model_question& question,
                                            std::string_view path);

/// Whether all resources still have the given versions. An unknown version counts as current unless the watcher found another
/// one before. A resource that no source serves is not current, but its source may be added later. `changed_uris`: receives the
/// resources with another version. Errors: why a version could not be read.
[[nodiscard]] result<bool> are_versions_current(const provider_state& state, const context_watcher& watcher,
                                                const request_context& request,
                                                const std::vector<analyses::resource_version>& resources,
                                                std::vector<std::string>& changed_uris);

/// Whether a version from `resolve_versions` is current. `current_version`: as returned by `provider_host::version_as_server`.
[[nodiscard]] bool matches_version(std::string_view stored_version, std::string_view current_version);

}  // namespace hondana::analyses_source

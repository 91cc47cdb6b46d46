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

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Says whether a cached read result is still valid: until `expires_at`, or until the store or a watched resource changes.
/// Notices changes by other processes up to 100 ms later, and none while a Redis server is unreachable.
class analysis_validator final : public cache_validator {
 public:
  using counter = std::atomic<std::uint64_t>;
  /// The counters before the read.
  struct snapshot {
    std::uint64_t generation = 0;    ///< `cache::generation`.
    std::uint64_t change_count = 0;  ///< `context_watcher::change_counter`.
  };
  /// `change_counter`: that of the `context_watcher`. `expires_at`: end of the validity, at the latest when the analysis
  /// becomes stale or is removed, which no event reports.
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

/// Deletes analyses when resources in their context change, and notifies the server of changes in the store.
/// One thread does this, unless `provider_options::watch` is false. When a resource changes, the thread reads its version, and
/// deletes analyses based on another version. At intervals it scans: it checks the versions of all resources in contexts. It
/// notifies the server of changes by all processes. Threads of all functions: any.
class context_watcher {
 public:
  explicit context_watcher(std::shared_ptr<provider_state> state) : state_(std::move(state)) {}
  ~context_watcher() { stop(); }
  context_watcher(const context_watcher&) = delete;
  context_watcher& operator=(const context_watcher&) = delete;

  /// Sets the receiver of changes in the store, and starts the thread. Null: changes are not reported any more. Does not block.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Gives access to the server's other sources, and starts the thread and a scan. Null: waits until the thread has ended.
  void set_host(std::shared_ptr<provider_host> host);
  /// A client watches `uri`, a canonical URI of this source.
  void add_subscription(const std::string& uri);
  void remove_subscription(const std::string& uri);
  /// Reports that a resource of another source may have changed. The thread then checks its version. Does not block.
  void resource_changed(std::string_view uri);
  /// Whether analyses based on an unknown version of a resource count as based on `version`. True if `version` is the first
  /// version that the thread found, or if the thread has found none.
  [[nodiscard]] bool matches_first_version(std::string_view uri, std::string_view version) const;
  /// Starts to watch a resource of another source. Does nothing without a host, or if `max_watched` is reached.
  void watch_resource(const std::string& uri);
  /// Whether the server reports changes of all these resources to `resource_changed`.
  [[nodiscard]] bool is_watching(const std::vector<analyses::resource_version>& resources) const;
  /// Counts the calls of `resource_changed`. Never null.
  [[nodiscard]] const std::shared_ptr<const analysis_validator::counter>& change_counter() const noexcept {
    return shared_change_counter_;
  }
  /// Ends the thread, and waits for it.
  void stop();

 private:
  struct watch_state {
    std::uint64_t last_scan = 0;  ///< A full scan with a higher number ends the watch.
    bool is_active = false;       ///< `provider_host::watch` has succeeded.
  };
  /// The version that counts as the version of analyses based on an unknown version: the first one that the thread found.
  struct first_version {
    std::string version{};
    std::uint64_t last_scan = 0;  ///< The last scan that found an analysis based on an unknown version.
  };
  enum class check_reason : std::uint8_t {
    change,  ///< The resource may have changed.
    scan     ///< A scan, or a new analysis based on an unknown version.
  };

  void start();
  void run(const std::stop_token& stop);
  /// Queues a change of the store. Null: changes were missed.
  void queue_change(const analyses::store_change* change);
  /// Work for the thread.
  struct pending_work;
  /// Waits until there is work, or until a scan or a retry is due, and removes the work from the queues. `has_cache`: false:
  /// waits two seconds, after which the caller tries to open the cache.
  [[nodiscard]] pending_work wait_for_work(const std::stop_token& stop, bool has_cache);
  /// Notifies the server of changes in the store. `has_missed_changes`: anything may have changed.
  void notify_listener(const std::vector<analyses::store_change>& changes, bool has_missed_changes, analyses::cache& cache);
  /// Watches the contexts of new analyses. Adds resources with an unknown version to `unversioned_uris_`.
  void watch_contexts(const std::vector<analyses::store_change>& changes, analyses::cache& cache);
  /// Reads the version of a resource, and deletes analyses based on another version. `stored_version`: a version that an
  /// analysis is based on; if it is current, nothing else is checked. Null: all stored versions are checked. If the resource is
  /// gone, deletes analyses only for `check_reason::change`: at a scan, its source may not be ready yet.
  void check_resource(const std::string& uri, const std::string* stored_version, check_reason reason, analyses::cache& cache,
                      const std::stop_token& stop);
  /// Like `matches_first_version`, but if no version is stored, stores this one as the first.
  [[nodiscard]] bool accept_version(const std::string& uri, const std::string& version);
  /// Returns the stored versions of `uri` that match `current_version`, including versions for single callers. Contains an
  /// empty string if the unknown version counts as current.
  [[nodiscard]] result<std::vector<std::string>> find_current_versions(const analyses::cache& cache, const std::string& uri,
                                                                       const std::string& current_version);
  /// Whether changes of the store or of resources are queued.
  [[nodiscard]] bool has_pending_work() const;
  /// Continues the scan. Returns after a page of resources, or earlier if there is pending work.
  void scan(analyses::cache& cache, const std::stop_token& stop);
  /// Ends the watches of these resources, except those that a scan or an analysis has used since.
  void unwatch_resources(const std::vector<std::string>& uris);

  const std::shared_ptr<provider_state> state_;
  const std::shared_ptr<analysis_validator::counter> change_counter_ = std::make_shared<analysis_validator::counter>(0);
  const std::shared_ptr<const analysis_validator::counter> shared_change_counter_ = change_counter_;
  std::mutex thread_mutex_;
  std::jthread thread_;

  // Used by the thread only.
  std::string scan_after_uri_;  // the URI after which the scan continues
  std::vector<analyses::resource_version> scan_page_;
  std::size_t scan_page_index_ = 0;  // next element of `scan_page_`
  std::size_t scanned_count_ = 0;    // elements that this scan has checked
  bool is_scanning_ = false;
  bool is_full_scan_ = false;  // the scan began at the first URI
  std::chrono::steady_clock::time_point next_scan_at_{};
  std::set<std::string, std::less<>> unversioned_uris_;  // resources whose first version must be read
  std::string last_checked_uri_;                         // the changed resource that was checked last
  std::set<std::string, std::less<>> retry_uris_;        // changed resources whose version could not be read
  std::chrono::steady_clock::time_point retry_at_{};
  std::chrono::milliseconds retry_delay_{0};

  // Held during calls of `provider_host::watch` and `unwatch`, so that they stay in order. Lock before `mutex_`.
  std::mutex subscription_mutex_;
  mutable std::mutex mutex_;  // protects the members below
  std::condition_variable_any work_arrived_;
  std::shared_ptr<change_listener> listener_;
  std::set<std::string, std::less<>> subscriptions_;  // URIs of this source that clients watch
  std::vector<analyses::store_change> changes_;
  bool has_missed_changes_ = false;
  std::set<std::string, std::less<>> changed_uris_;  // watched resources that may have changed
  std::map<std::string, watch_state, std::less<>> watched_resources_;
  std::map<std::string, first_version, std::less<>> first_versions_;
  std::uint64_t scan_number_ = 1;  // of the last scan that began
  bool is_scan_requested_ = false;
};

/// Sets the versions in a question's context to the current ones that the caller sees, and makes the URIs canonical. Watches
/// each resource before it reads the version. Without a server, versions stay unchanged. If a resource differs by caller, the
/// version combines the caller's version and that of the whole resource.
///
/// `path`: the name of the context in errors. Errors: resource_not_found: not served to this caller; content_changed: a given
/// version is not current; invalid_argument: an invalid or repeated URI. Also insufficient_scope, and those of the sources and
/// of `provider_state::require_host`.
[[nodiscard]] result<void> resolve_versions(const provider_state& state, context_watcher& watcher,
                                            const request_context& request, analyses::model_question& question,
                                            std::string_view path);

/// Whether all resources still have the given versions. Without a server, returns true. Ignores resources of this source. An
/// unknown version is current if `context_watcher::matches_first_version`. A resource that no source serves is not current.
/// `changed_uris`: receives the resources with another version. Errors: why a version could not be read, and those of
/// `provider_state::require_host`.
[[nodiscard]] result<bool> are_versions_current(const provider_state& state, const context_watcher& watcher,
                                                const request_context& request,
                                                const std::vector<analyses::resource_version>& resources,
                                                std::vector<std::string>& changed_uris);

/// Whether a version that `resolve_versions` has set is current. `current_version`: from `provider_host::version_as_server`.
[[nodiscard]] bool matches_version(std::string_view stored_version, std::string_view current_version);

}  // namespace hondana::analyses_source

/// A set of configuration files with its newest snapshot and change notifications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/config_files/file_set.hpp"
#include "sources/config_files/snapshot.hpp"

namespace hondana::config_files {

/// A log that can be stopped. Threads: any.
class closable_log {
 public:
  explicit closable_log(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}
  void write(const std::string& line);
  /// Stops logging: when this returns, the log is no longer used.
  void close();

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> sink_;
};

/// Holds the newest snapshot of a set, and notifies changes. Threads: any.
class watched_set {
 public:
  /// Errors: as `file_set::open`.
  [[nodiscard]] static result<std::shared_ptr<watched_set>> open(const options& options);

  [[nodiscard]] file_set& files() noexcept { return *files_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns a snapshot of the current state, and notifies changes since the last one. Concurrent callers share one scan.
  /// Errors: as `file_set::scan`.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> refresh(const request_context& context);
  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const snapshot> latest() const;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// From now on, notifies changes, including changes before the first snapshot.
  void watch(const std::string& uri);
  void unwatch(const std::string& uri);
  void watch_list();
  /// Call before anything else.
  void set_folder_listener(file_set::folder_listener on_enter_folder) { on_enter_folder_ = std::move(on_enter_folder); }
  void disable_log() { log_->close(); }
  [[nodiscard]] hondana::provider_health health() const;

 private:
  watched_set(std::string name, std::shared_ptr<closable_log> log, std::unique_ptr<file_set> files)
      : name_(std::move(name)), log_(std::move(log)), files_(std::move(files)) {}
  /// URIs to notify.
  using uri_set = std::set<std::string>;
  [[nodiscard]] uri_set find_changes(const snapshot& previous, const snapshot& current, bool& is_list_changed) const;
  /// The possible changes between the first `watch` and the first snapshot.
  [[nodiscard]] uri_set find_missed_changes(const snapshot& current, std::int64_t watched_since, const uri_set& watched,
                                            bool& is_list_changed) const;
  void add_change(uri_set& uris, const std::string& path) const;
  void reload_values(const snapshot* previous, const snapshot& current);
  void log_unreadable_folders(const snapshot& snapshot);

  const std::string name_;
  const std::shared_ptr<closable_log> log_;
  const std::unique_ptr<file_set> files_;
  file_set::folder_listener on_enter_folder_;

  std::timed_mutex scan_mutex_;  // held during a scan
  std::chrono::steady_clock::time_point last_scan_start_;
  std::vector<std::string> logged_folders_;

  mutable std::mutex mutex_;
  std::shared_ptr<const snapshot> latest_;
  std::shared_ptr<change_listener> listener_;
  std::set<std::string> watched_uris_;
  std::optional<std::int64_t> watched_since_;  // by `wall_clock`; empty: nothing is watched
};

}  // namespace hondana::config_files

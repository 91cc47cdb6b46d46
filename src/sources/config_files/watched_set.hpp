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

#include <hondana/capabilities.hpp>
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

/// Holds the newest snapshot of a set, and notifies a listener of changes. Threads: any.
class watched_set {
 public:
  /// Errors: as `file_set::open`.
  [[nodiscard]] static result<std::shared_ptr<watched_set>> open(const options& options);

  [[nodiscard]] file_set& files() noexcept { return *files_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Makes a snapshot of the current state, and notifies the listener of all changes since the last one, whether or not their
  /// URIs are watched. Callers that wait for the same scan share its result. Errors: as `file_set::scan`.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> refresh(const request_context& context);
  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const snapshot> latest() const;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Has the first `refresh` also notify of changes since this call. If a folder has changed since, it notifies of `uri` in any
  /// case. No effect after the first `refresh`: later calls find all changes themselves.
  void watch(const std::string& uri);
  /// Undoes `watch` for this URI. Does not stop notifications of changes that `refresh` finds.
  void unwatch(const std::string& uri);
  /// As `watch`, for the list.
  void watch_list();
  /// Sets a function that scans call with each folder before it is read. Must be called before any other method.
  void set_folder_listener(file_set::folder_listener on_enter_folder) { on_enter_folder_ = std::move(on_enter_folder); }
  /// Stops logging: when this returns, the log is no longer used.
  void disable_log() { log_->close(); }
  [[nodiscard]] hondana::provider_health health() const;

 private:
  watched_set(std::string name, std::shared_ptr<closable_log> log, std::unique_ptr<file_set> files)
      : name_(std::move(name)), log_(std::move(log)), files_(std::move(files)) {}
  /// URIs to notify.
  using uri_set = std::set<std::string>;
  /// The URIs whose contents differ. Sets `is_list_changed` if files were added or removed.
  [[nodiscard]] uri_set find_changes(const snapshot& previous, const snapshot& current, bool& is_list_changed) const;
  /// The URIs whose contents may have changed between the first `watch` and the first snapshot, `current`.
  [[nodiscard]] uri_set find_missed_changes(const snapshot& current, std::int64_t watched_since, const uri_set& watched,
                                            bool& is_list_changed) const;
  /// Adds the URI of a file, and those of the views of layers that depend on it.
  void add_change(uri_set& uris, const std::string& path) const;
  /// Reads the values of changed files that are layers or cached, so that `value_cache` has them if the files become invalid
  /// later.
  void reload_values(const snapshot* previous, const snapshot& current);
  /// Logs each folder that cannot be read once, and once that all can be read again.
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
  std::set<std::string> watched_uris_;         // only until the first snapshot
  std::optional<std::int64_t> watched_since_;  // the first `watch` or `watch_list`, by `disk::wall_clock`; absent: none
};

}  // namespace hondana::config_files

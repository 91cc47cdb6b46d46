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
class quiet_log {
 public:
  explicit quiet_log(std::function<void(std::string_view)> to) : to_(std::move(to)) {}
  void say(const std::string& line);
  /// Stops logging: when this returns, the log is no longer used.
  void be_silent();

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> to_;
};

/// Holds the newest snapshot of a set, and notifies changes. Threads: any.
class watched_set {
 public:
  /// Errors: as `file_set::open`.
  [[nodiscard]] static result<std::shared_ptr<watched_set>> open(const options& all);

  [[nodiscard]] file_set& files() noexcept { return *files_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns a snapshot of the current state, and notifies changes since the last one. Concurrent callers share one scan.
  /// Errors: as `file_set::look`.
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;

  /// Sets the listener for changes; null: none.
  void watch(std::shared_ptr<change_listener> to);
  /// From now on, notifies changes, including changes before the first snapshot.
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  void attach_list();
  /// Call before anything else.
  void cover_with(file_set::entering_ground entering) { entering_ = std::move(entering); }
  void be_silent() { log_->be_silent(); }
  [[nodiscard]] hondana::health health() const;

 private:
  watched_set(std::string name, std::shared_ptr<quiet_log> log, std::unique_ptr<file_set> files)
      : name_(std::move(name)), log_(std::move(log)), files_(std::move(files)) {}
  /// URIs to notify.
  using changes = std::set<std::string>;
  [[nodiscard]] changes changes_between(const scene& before, const scene& now, bool& is_other_list) const;
  /// The possible changes between the first subscription and the first snapshot.
  [[nodiscard]] changes changes_missed(const scene& now, std::int64_t since, const changes& attached,
                                       bool& is_other_list) const;
  void add_change(changes& to, const std::string& path) const;
  void read_anew(const scene* before, const scene& now);
  void tell_of_folders(const scene& now);

  const std::string name_;
  const std::shared_ptr<quiet_log> log_;
  const std::unique_ptr<file_set> files_;
  file_set::entering_ground entering_;

  std::timed_mutex looking_;  // held during a scan
  std::chrono::steady_clock::time_point begun_;
  std::vector<std::string> told_unreachable_;

  mutable std::mutex mutex_;
  std::shared_ptr<const scene> latest_;
  std::shared_ptr<change_listener> listener_;
  std::set<std::string> attached_;
  std::optional<std::int64_t> told_since_;  // by `wall_clock`; empty: nothing is subscribed
};

}  // namespace hondana::config_files

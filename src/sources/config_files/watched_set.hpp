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

/// Writes lines as long as somebody reads them. Threads: any.
class quiet_log {
 public:
  explicit quiet_log(std::function<void(std::string_view)> to) : to_(std::move(to)) {}
  void say(const std::string& line);
  /// Nothing is written any more when this returns.
  void be_silent();

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> to_;
};

/// Threads: any.
class watched_set {
 public:
  /// Errors: as `file_set::open`.
  [[nodiscard]] static result<std::shared_ptr<watched_set>> open(const options& all);

  [[nodiscard]] file_set& files() noexcept { return *files_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// What there is now; made by one caller for all who wait. What has changed since the last time is told. Errors: as
  /// `file_set::look`.
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  /// The newest that was made; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;

  /// From now on tells of changes; null: nobody.
  void watch(std::shared_ptr<change_listener> to);
  /// Changes from now on are told, also those that come before the first look.
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
  /// URIs of which a change is told.
  using changes = std::set<std::string>;
  [[nodiscard]] changes changes_between(const scene& before, const scene& now, bool& is_other_list) const;
  /// What may have changed between the first who wanted to hear of it and the first look.
  [[nodiscard]] changes changes_missed(const scene& now, std::int64_t since, const changes& attached,
                                       bool& is_other_list) const;
  void add_change(changes& to, const std::string& path) const;
  void read_anew(const scene* before, const scene& now);
  void tell_of_folders(const scene& now);

  const std::string name_;
  const std::shared_ptr<quiet_log> log_;
  const std::unique_ptr<file_set> files_;
  file_set::entering_ground entering_;

  std::timed_mutex looking_;  // held while the folders are looked at
  std::chrono::steady_clock::time_point begun_;
  std::vector<std::string> told_unreachable_;

  mutable std::mutex mutex_;
  std::shared_ptr<const scene> latest_;
  std::shared_ptr<change_listener> listener_;
  std::set<std::string> attached_;
  std::optional<std::int64_t> told_since_;  // by `wall_clock`; absent: nobody hears of anything
};

}  // namespace hondana::config_files

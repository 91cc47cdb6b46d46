/// A set of configuration files with its newest snapshot and change notifications.
#include "sources/config_files/watched_set.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/config_files/config_uri.hpp"

namespace hondana::config_files {
namespace {

using clock = monotonic_clock;

constexpr std::size_t max_watched_uris = 10'000;

bool has_changed(const served_file& previous, const served_file& current) noexcept {
  return previous.is_racy || previous.state != current.state;
}

bool are_equal(const snapshot& a, const snapshot& b) {
  return a.files.size() == b.files.size() &&
         std::equal(a.files.begin(), a.files.end(), b.files.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && x.second.state == y.second.state && x.second.is_racy == y.second.is_racy &&
                  x.second.link_target == y.second.link_target;
         });
}

}  // namespace

void closable_log::write(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (sink_) sink_(line);
}

void closable_log::close() {
  const std::lock_guard lock(mutex_);
  sink_ = nullptr;
}

result<std::shared_ptr<watched_set>> watched_set::open(const options& options) {
  const auto log = std::make_shared<closable_log>(options.log);
  auto files = file_set::open(
      options, [log, name = options.name](const std::string& line) { log->write("config " + name + ": " + line); });
  if (!files) return tl::unexpected(std::move(files.error()));
  return std::shared_ptr<watched_set>(new watched_set(options.name, log, std::move(*files)));
}

std::shared_ptr<const snapshot> watched_set::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void watched_set::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void watched_set::watch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (!watched_since_) watched_since_ = disk::wall_clock();
  if (!latest_ && watched_uris_.size() < max_watched_uris) watched_uris_.insert(uri);
}

void watched_set::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  watched_uris_.erase(uri);
}

void watched_set::watch_list() {
  const std::lock_guard lock(mutex_);
  if (!watched_since_) watched_since_ = disk::wall_clock();
}

void watched_set::add_change(uri_set& uris, const std::string& path) const {
  uris.insert(uri_of_file(name_, path));
  const auto& layers = files_->layer_settings();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (files_->layer_file(i) != path) continue;
    uris.insert(uri_of_merged(name_));
    uris.insert(uri_of_layer(name_, layers[i].name));
    const auto add_pair = [&](std::string_view left, std::string_view right) {
      uris.insert(uri_of_diff(name_, right, left));
      uris.insert(uri_of_diff(name_, left, right));
    };
    for (const auto& other : layers) {
      if (other.name != layers[i].name) add_pair(other.name, layers[i].name);
      add_pair(merged_name, other.name);
    }
  }
}

watched_set::uri_set watched_set::find_changes(const snapshot& previous, const snapshot& current, bool& is_list_changed) const {
  uri_set uris;
  const auto add_list_change = [&](const std::string& path) {
    is_list_changed = true;
    add_change(uris, path);
    // The content of a folder is the list of its entries.
    for (auto parent = parent_folder(path); !parent.empty(); parent = parent_folder(parent))
      uris.insert(uri_of_file(name_, parent));
    uris.insert(uri_prefix(name_) + "/file");
  };
  for (const auto& [path, file] : current.files) {
    const auto earlier = previous.files.find(path);
    if (earlier == previous.files.end()) {
      add_list_change(path);
    } else if (has_changed(earlier->second, file)) {
      add_change(uris, path);
    }
  }
  for (const auto& [path, file] : previous.files) {
    if (!current.files.contains(path)) add_list_change(path);
  }
  return uris;
}

watched_set::uri_set watched_set::find_missed_changes(const snapshot& current, std::int64_t watched_since,
                                                      const uri_set& watched, bool& is_list_changed) const {
  uri_set uris;
  for (const auto& [path, file] : current.files) {
    if (is_racy(file.state, watched_since)) add_change(uris, path);
  }
  if (is_racy(disk::stamp{.changed = current.last_change}, watched_since)) {
    is_list_changed = true;
    uris.insert(watched.begin(), watched.end());
  }
  return uris;
}

void watched_set::reload_values(const snapshot* previous, const snapshot& current) {
  // Reads valid files now, so that their values are available if they become invalid later.
  std::set<std::string> layer_paths;
  for (std::size_t i = 0; i < files_->layer_settings().size(); ++i) {
    if (!files_->layer_file(i).empty()) layer_paths.insert(files_->layer_file(i));
  }
  for (const auto& [path, file] : current.files) {
    if (!layer_paths.contains(path) && !files_->cache().contains(path)) continue;
    const auto earlier = previous == nullptr ? current.files.end() : previous->files.find(path);
    const bool is_new = previous == nullptr || earlier == previous->files.end();
    // The log has the reason of an error, and a read reports it.
    if (is_new || has_changed(earlier->second, file)) static_cast<void>(files_->values(path));
  }
  if (previous == nullptr) return;
  for (const auto& [path, file] : previous->files) {
    if (!current.files.contains(path) && files_->cache().contains(path)) static_cast<void>(files_->values(path));
  }
}

void watched_set::log_unreadable_folders(const snapshot& snapshot) {
  for (const auto& folder : snapshot.unreadable_folders) {
    if (std::find(logged_folders_.begin(), logged_folders_.end(), folder) == logged_folders_.end()) {
      log_->write("config " + name_ + ": a folder cannot be read: " + folder);
    }
  }
  if (snapshot.unreadable_folders.empty() && !logged_folders_.empty())
    log_->write("config " + name_ + ": all folders can be read again");
  logged_folders_ = snapshot.unreadable_folders;
}

result<std::shared_ptr<const snapshot>> watched_set::refresh(const request_context& context) {
  const auto called_at = clock::now();
  std::unique_lock scan_lock(scan_mutex_, std::defer_lock);
  // At most a day, since the system clock cannot wait for arbitrarily long.
  if (!monotonic_clock::try_lock_until(scan_lock, std::min(context.deadline, called_at + std::chrono::hours(24)))) {
    return fail(errc::timed_out, "The configuration is still being read. Retry later.");
  }
  if (last_scan_start_ > called_at) {
    if (auto recent = latest()) return recent;  // another caller has refreshed since
  }
  const auto scan_start = clock::now();
  auto scanned = files_->scan(context, on_enter_folder_);
  if (!scanned) {
    if (scanned.error().code == errc::source_unavailable) {
      snapshot unreadable;
      unreadable.unreadable_folders.push_back(scanned.error().private_text);
      log_unreadable_folders(unreadable);
    }
    return tl::unexpected(std::move(scanned.error()));
  }
  log_unreadable_folders(*scanned);
  const auto previous = latest();
  scanned->entries = previous && are_equal(*previous, *scanned) ? previous->entries
                                                                : make_entries(name_, scanned->files, files_->layer_settings());
  auto current = std::make_shared<const snapshot>(std::move(*scanned));
  reload_values(previous.get(), *current);
  last_scan_start_ = scan_start;
  std::unique_lock lock(mutex_);
  latest_ = current;
  const auto listener = listener_;
  const auto watched_since = watched_since_;
  const auto watched = std::exchange(watched_uris_, {});
  lock.unlock();
  bool is_list_changed = false;
  uri_set uris;
  if (previous) {
    uris = find_changes(*previous, *current, is_list_changed);
  } else if (watched_since) {
    uris = find_missed_changes(*current, *watched_since, watched, is_list_changed);
  }
  for (const auto& uri : uris) {
    if (listener) listener->content_changed(uri, {});
  }
  if (is_list_changed && listener) listener->list_changed();
  return current;
}

hondana::provider_health watched_set::health() const {
  const auto snapshot = latest();
  hondana::provider_health status{true, snapshot ? std::to_string(snapshot->files.size()) + " files" : "not listed yet"};
  for (const auto& error : files_->cache().describe_errors()) {
    status.is_healthy = false;
    status.detail += "; " + error;
  }
  if (snapshot && !snapshot->unreadable_folders.empty()) {
    status.is_healthy = false;
    status.detail += "; folders that cannot be read: " + std::to_string(snapshot->unreadable_folders.size());
  }
  return status;
}

}  // namespace hondana::config_files

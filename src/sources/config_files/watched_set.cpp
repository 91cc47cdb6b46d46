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

constexpr std::size_t most_attached = 10'000;

bool differs(const seen_file& before, const seen_file& now) noexcept { return before.is_racy || before.state != now.state; }

bool are_same(const scene& a, const scene& b) {
  return a.files.size() == b.files.size() &&
         std::equal(a.files.begin(), a.files.end(), b.files.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && x.second.state == y.second.state && x.second.is_racy == y.second.is_racy &&
                  x.second.behind == y.second.behind;
         });
}

}  // namespace

void quiet_log::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (to_) to_(line);
}

void quiet_log::be_silent() {
  const std::lock_guard lock(mutex_);
  to_ = nullptr;
}

result<std::shared_ptr<watched_set>> watched_set::open(const options& all) {
  const auto log = std::make_shared<quiet_log>(all.log);
  auto files =
      file_set::open(all, [log, name = all.name](const std::string& line) { log->say("config " + name + ": " + line); });
  if (!files) return tl::unexpected(std::move(files.error()));
  return std::shared_ptr<watched_set>(new watched_set(all.name, log, std::move(*files)));
}

std::shared_ptr<const scene> watched_set::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void watched_set::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
}

void watched_set::attach(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (!told_since_) told_since_ = disk::wall_clock();
  if (!latest_ && attached_.size() < most_attached) attached_.insert(uri);
}

void watched_set::detach(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  attached_.erase(uri);
}

void watched_set::attach_list() {
  const std::lock_guard lock(mutex_);
  if (!told_since_) told_since_ = disk::wall_clock();
}

void watched_set::add_change(changes& to, const std::string& path) const {
  to.insert(uri_of_file(name_, path));
  const auto& layers = files_->layer_settings();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (files_->file_of_layer(i) != path) continue;
    to.insert(uri_of_merged(name_));
    to.insert(uri_of_layer(name_, layers[i].name));
    const auto add_pair = [&](std::string_view other, std::string_view one) {
      to.insert(uri_of_diff(name_, one, other));
      to.insert(uri_of_diff(name_, other, one));
    };
    for (const auto& other : layers) {
      if (other.name != layers[i].name) add_pair(other.name, layers[i].name);
      add_pair(merged_name, other.name);
    }
  }
}

watched_set::changes watched_set::changes_between(const scene& before, const scene& now, bool& is_other_list) const {
  changes all;
  const auto came_or_went = [&](const std::string& path) {
    is_other_list = true;
    add_change(all, path);
    // The content of a folder is the list of its entries.
    for (auto above = folder_of(path); !above.empty(); above = folder_of(above)) all.insert(uri_of_file(name_, above));
    all.insert(claim_of(name_) + "/file");
  };
  for (const auto& [path, file] : now.files) {
    const auto known = before.files.find(path);
    if (known == before.files.end()) {
      came_or_went(path);
    } else if (differs(known->second, file)) {
      add_change(all, path);
    }
  }
  for (const auto& [path, file] : before.files) {
    if (!now.files.contains(path)) came_or_went(path);
  }
  return all;
}

watched_set::changes watched_set::changes_missed(const scene& now, std::int64_t since, const changes& attached,
                                                 bool& is_other_list) const {
  changes all;
  for (const auto& [path, file] : now.files) {
    if (is_racy(file.state, since)) add_change(all, path);
  }
  if (is_racy(disk::stamp{.changed = now.changed}, since)) {
    is_other_list = true;
    all.insert(attached.begin(), attached.end());
  }
  return all;
}

void watched_set::read_anew(const scene* before, const scene& now) {
  // Reads valid files now, so that their values are available if they become invalid later.
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < files_->layer_settings().size(); ++i) {
    if (!files_->file_of_layer(i).empty()) wanted.insert(files_->file_of_layer(i));
  }
  for (const auto& [path, file] : now.files) {
    if (!wanted.contains(path) && !files_->known().knows(path)) continue;
    const auto known = before == nullptr ? now.files.end() : before->files.find(path);
    const bool is_new = before == nullptr || known == before->files.end();
    // The log has the reason of an error, and a read reports it.
    if (is_new || differs(known->second, file)) static_cast<void>(files_->values(path));
  }
  if (before == nullptr) return;
  for (const auto& [path, file] : before->files) {
    if (!now.files.contains(path) && files_->known().knows(path)) static_cast<void>(files_->values(path));
  }
}

void watched_set::tell_of_folders(const scene& now) {
  for (const auto& one : now.unreachable) {
    if (std::find(told_unreachable_.begin(), told_unreachable_.end(), one) == told_unreachable_.end()) {
      log_->say("config " + name_ + ": a folder cannot be read: " + one);
    }
  }
  if (now.unreachable.empty() && !told_unreachable_.empty()) log_->say("config " + name_ + ": all folders can be read again");
  told_unreachable_ = now.unreachable;
}

result<std::shared_ptr<const scene>> watched_set::refreshed(const call& by) {
  const auto arrived = clock::now();
  std::unique_lock looking(looking_, std::defer_lock);
  // At most a day, since the system clock cannot wait for arbitrarily long.
  if (!monotonic_clock::try_lock_until(looking, std::min(by.deadline, arrived + std::chrono::hours(24)))) {
    return fail(errc::timed_out, "The configuration is still being read. Retry later.");
  }
  if (begun_ > arrived) {
    if (auto made = latest()) return made;  // another caller has refreshed since
  }
  const auto begun = clock::now();
  auto found = files_->look(by, entering_);
  if (!found) {
    if (found.error().code == errc::source_unavailable) {
      scene none;
      none.unreachable.push_back(found.error().private_text);
      tell_of_folders(none);
    }
    return tl::unexpected(std::move(found.error()));
  }
  tell_of_folders(*found);
  const auto before = latest();
  found->entries =
      before && are_same(*before, *found) ? before->entries : entries_of(name_, found->files, files_->layer_settings());
  auto now = std::make_shared<const scene>(std::move(*found));
  read_anew(before.get(), *now);
  begun_ = begun;
  std::unique_lock lock(mutex_);
  latest_ = now;
  const auto to = listener_;
  const auto since = told_since_;
  const auto attached = std::exchange(attached_, {});
  lock.unlock();
  bool is_other_list = false;
  changes all;
  if (before) {
    all = changes_between(*before, *now, is_other_list);
  } else if (since) {
    all = changes_missed(*now, *since, attached, is_other_list);
  }
  for (const auto& uri : all) {
    if (to) to->content_changed(uri, {});
  }
  if (is_other_list && to) to->list_changed();
  return now;
}

hondana::health watched_set::health() const {
  const auto now = latest();
  hondana::health how{true, now ? std::to_string(now->files.size()) + " files" : "not listed yet"};
  for (const auto& one : files_->known().troubles()) {
    how.ok = false;
    how.detail += "; " + one;
  }
  if (now && !now->unreachable.empty()) {
    how.ok = false;
    how.detail += "; folders that cannot be read: " + std::to_string(now->unreachable.size());
  }
  return how;
}

}  // namespace hondana::config_files

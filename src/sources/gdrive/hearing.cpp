/// What reads have found out, between two polls.
#include <algorithm>
#include <utility>

#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::size_t most_heard = 1'000;

/// Whether what is said of a file is of an older time than what is known. Drive's versions are digits, and grow.
bool is_of_before(const std::string& said, const std::string& known) {
  if (said.empty() || known.empty()) return false;
  return said.size() != known.size() ? said.size() < known.size() : said < known;
}

}  // namespace

void follower::noted(const drive::file& now) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;  // the next poll tells of it
  heard_.push_back({now, now.id, {}});
  changed_.notify_all();
}

void follower::lost(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;
  heard_.push_back({{}, id, {}});
  changed_.notify_all();
}

void follower::noted_sheets(const std::string& id, std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;  // the next read tells of them
  heard_.push_back({{}, id, std::move(names)});
  changed_.notify_all();
}

bool follower::take_heard(const std::stop_token& stop) {
  std::vector<news> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(heard_);
  }
  for (auto& one : all) {
    const auto found = items_.find(one.id);
    if (one.sheets) {
      if (sheets_[one.id] == *one.sheets || found == items_.end()) continue;
      if (auto done = options_.where->put_sheets(one.id, *one.sheets); !done) say(done.error().public_text);
      sheets_[one.id] = std::move(*one.sheets);
      is_dirty_ = true;
      continue;
    }
    if (found != items_.end()) take_word(std::move(one), stop);
  }
  return !all.empty();
}

void follower::take_word(news one, const std::stop_token& stop) {
  const auto before = items_.at(one.id).what;
  if (one.now) {
    // A poll has told of a newer state since then, and no later one would.
    if (is_of_before(one.now->version, before->version)) return;
  } else {
    // A poll may have told since then that it is shared again.
    if (auto now = options_.from->file(one.id, errand_about(one.id, stop, drive::lane::polling))) one.now = std::move(*now);
  }
  const auto to = one.now ? home_of(*one.now) : before->home;
  const bool is_gone = !one.now || (one.now->is_trashed && !one.now->is_folder()) || is_left_out(*one.now) || !is_served(to);
  batch into;
  // A home that nothing is known of has no position to be written.
  const auto at = positions_.find(is_gone ? before->home : to);
  if (at != positions_.end()) into.generation = at->second.generation;
  if (at != positions_.end() && at->second.home == at->first) into.at = at->second;
  if (is_gone) {
    lose(before->home, one.id, into);
  } else {
    take_file(to, *one.now, into);
    // It may have come into a folder of which only the next poll tells.
    const bool has_moved = !into.put.empty() && into.put.back()->parent != before->parent;
    if (into.at && has_moved && !items_.contains(into.put.back()->parent)) into.at->is_behind = true;
  }
  if (auto done = apply(std::move(into)); !done) say(done.error().why.public_text);
}

}  // namespace hondana::gdrive

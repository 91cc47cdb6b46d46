/// One served repository: a pool of libgit2 handles, one for each call.
#include "sources/git/repository.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/git/folder_screening.hpp"
#include "sources/git/repository_handle.hpp"

namespace hondana::git {
namespace {

/// Handles that stay open, with their packs. Further concurrent calls open their own.
constexpr std::size_t most_idle = 8;
/// Limits how many handles a damaged repository costs, whose calls fail again and again.
constexpr std::chrono::seconds shortest_retirement{1};

bool is_fresh(const surveyed& what) { return !what.stamp.empty() && what.stamp == stamp_of(what.where); }

/// All open repositories.
struct repository_list {
  std::mutex mutex;
  std::vector<std::weak_ptr<repository>> all;
};

repository_list& open_repositories() {
  static auto& list = *new repository_list();  // abandoned calls may still use it when the process ends
  return list;
}

// The number of packs in repositories that have idle handles.
std::atomic<std::size_t> waiting_packs{0};
std::atomic<std::size_t> drops{0};

std::vector<std::shared_ptr<repository>> all_open() {
  std::vector<std::shared_ptr<repository>> all;
  auto& known = open_repositories();
  const std::lock_guard lock(known.mutex);
  for (const auto& one : known.all)
    if (auto there = one.lock()) all.push_back(std::move(there));
  return all;
}

}  // namespace

repository::repository(std::string slug, place at, std::vector<std::string> roots, disk::own_files own)
    : slug_(std::move(slug)),
      path_(at.work_tree.empty() ? at.git_folder : at.work_tree),
      roots_(std::move(roots)),
      own_(std::move(own)),
      screened_(std::make_shared<const surveyed>(surveyed{.where = std::move(at), .settings = {}, .stamp = {}})) {
  idle_.reserve(most_idle);
}

result<std::shared_ptr<repository>> repository::open(std::string slug, place at, std::vector<std::string> roots,
                                                     disk::own_files own) {
  std::shared_ptr<repository> made(new repository(std::move(slug), std::move(at), std::move(roots), std::move(own)));
  {
    auto& known = open_repositories();
    const std::lock_guard lock(known.mutex);
    std::erase_if(known.all, [](const auto& one) { return one.expired(); });
    known.all.push_back(made);
  }
  HONDANA_TRY(made->take());
  return made;
}

repository::~repository() { waiting_packs -= idle_packs_; }

repository::snapshot repository::current() const {
  const std::lock_guard lock(mutex_);
  return {screened_, generation_};
}

place repository::where() const { return current().what->where; }

result<void> repository::screen(const snapshot& known) {
  const std::lock_guard one_at_a_time(screening_);
  const auto before = current();
  if (before.generation != known.generation && is_fresh(*before.what)) return {};
  const auto is_this_one = [&at = before.what->where](const result<surveyed>& found) {
    return found && found->where.git_folder == at.git_folder && found->where.common_folder == at.common_folder &&
           found->where.work_tree == at.work_tree;
  };
  auto found = survey(path_, roots_);
  // A work tree that `core.worktree` names has no .git that leads back to the repository.
  if (!is_this_one(found))
    if (auto again = survey(before.what->where.git_folder, roots_); is_this_one(again)) found = std::move(again);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (!is_this_one(found))
    return fail(errc::source_unavailable,
                "the repository \"" + slug_ +
                    "\" was replaced by another one after hondana started. Reload the configuration to serve the new one.");
  auto screened = std::make_shared<const surveyed>(std::move(*found));
  std::vector<opened> outdated;  // closed after the lock is released
  outdated.reserve(most_idle);
  const std::lock_guard lock(mutex_);
  screened_ = std::move(screened);
  ++generation_;
  outdated.swap(idle_);
  count_idle_packs();
  return {};
}

std::optional<repository::opened> repository::take_idle() {
  std::vector<opened> torn_ones;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto one = std::move(idle_.back());
    idle_.pop_back();
    count_idle_packs();
    if (!one.maps->is_torn()) return one;
    torn_ones.push_back(std::move(one));
  }
  return std::nullopt;
}

result<repository::lease> repository::take() {
  if (const auto known = current(); !is_fresh(*known.what)) HONDANA_TRY(screen(known));
  if (auto idle = take_idle()) {
    auto guard = std::make_unique<torn_page_guard>(idle->maps);
    return lease(shared_from_this(), std::move(*idle), std::move(guard));
  }
  const auto what = current();
  auto maps = mapped_folders::of(what.what->where.object_folders);
  if (!maps) {
    drop_torn_handles();
    maps = mapped_folders::of(what.what->where.object_folders);
  }
  if (!maps) return tl::unexpected(std::move(maps.error()));
  // Opening already reads mapped files.
  auto guard = std::make_unique<torn_page_guard>(*maps);
  HONDANA_TRY(auto handle, open_surveyed(*what.what));
  return lease(shared_from_this(), opened{std::move(*maps), std::move(handle), what.generation}, std::move(guard));
}

void repository::count_idle_packs() noexcept {
  const auto now = idle_.empty() ? 0 : screened_->packs;
  waiting_packs += now - std::exchange(idle_packs_, now);
}

bool repository::keeps(opened& what, bool is_last_try) noexcept {
  const std::lock_guard lock(mutex_);
  if (what.generation != generation_ || idle_.size() >= most_idle) return true;
  if (idle_.empty() && !is_last_try && waiting_packs + screened_->packs > most_open_packs()) return false;
  idle_.push_back(std::move(what));
  count_idle_packs();
  return true;
}

void repository::give_back(opened what) noexcept {
  if (what.maps->is_torn() || keeps(what, false)) return;
  try {
    close_idle_handles();
    static_cast<void>(keeps(what, true));
  } catch (const std::bad_alloc&) {
    what.handle.reset();  // this one is closed instead
  }
}

void repository::retire_those_of(std::size_t generation) {
  const auto now = monotonic_clock::now();
  std::vector<opened> retired;  // closed after the lock is released
  retired.reserve(most_idle);
  const std::lock_guard lock(mutex_);
  if (generation != generation_ || (retired_ && now - *retired_ < shortest_retirement)) return;
  retired_ = now;
  ++generation_;
  retired.swap(idle_);
  count_idle_packs();
}

void repository::retire_sharers(const mapped_folders& maps, std::size_t generation) {
  for (const auto& one : all_open()) {
    std::vector<opened> retired;  // closed after the lock is released
    retired.reserve(most_idle);
    const std::lock_guard lock(one->mutex_);
    const bool shares =
        std::any_of(one->idle_.begin(), one->idle_.end(), [&maps](const opened& idle) { return idle.maps->shares_with(maps); });
    if (!shares && (one.get() != this || generation != generation_)) continue;
    ++one->generation_;
    retired.swap(one->idle_);
    one->count_idle_packs();
  }
}

void repository::drop_torn_handles() {
  for (const auto& one : all_open()) {
    std::vector<opened> torn_ones;
    const std::lock_guard lock(one->mutex_);
    const auto first =
        std::partition(one->idle_.begin(), one->idle_.end(), [](const opened& idle) { return !idle.maps->is_torn(); });
    std::move(first, one->idle_.end(), std::back_inserter(torn_ones));
    one->idle_.erase(first, one->idle_.end());
    one->count_idle_packs();
  }
}

void repository::drop_idle_handles() {
  close_idle_handles();
  ++drops;
}

std::size_t repository::times_dropped() noexcept { return drops; }

void repository::close_idle_handles() {
  for (const auto& one : all_open()) {
    std::vector<opened> idle;  // closed after the lock is released
    idle.reserve(most_idle);
    const std::lock_guard lock(one->mutex_);
    idle.swap(one->idle_);
    one->count_idle_packs();
  }
}

void repository::lease::retire() { from_->retire_those_of(what_.generation); }

bool repository::lease::retire_if_outdated() {
  if (!what_.maps->is_outdated()) return false;
  from_->retire_sharers(*what_.maps, what_.generation);
  return true;
}

repository::lease::~lease() {
  if (from_ && what_.handle && !is_spent_) from_->give_back(std::move(what_));
}

}  // namespace hondana::git

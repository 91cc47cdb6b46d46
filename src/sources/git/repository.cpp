/// One served repository: a pool of libgit2 handles, one for each call.
#include "sources/git/repository.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/git/repository_handle.hpp"
#include "sources/git/repository_screening.hpp"

namespace hondana::git {
namespace {

/// Handles that stay open, with their packs. Further concurrent calls open their own.
constexpr std::size_t max_idle_handles = 8;
/// Limits how many handles a damaged repository costs, whose calls fail again and again.
constexpr std::chrono::seconds min_retire_interval{1};

bool is_current(const screened_repository& screened) {
  return !screened.stamp.empty() && screened.stamp == stamp_of(screened.location);
}

/// All open repositories.
struct repository_list {
  std::mutex mutex;
  std::vector<std::weak_ptr<repository>> repositories;
};

repository_list& global_list() {
  static auto& registry = *new repository_list();  // abandoned calls may still use it when the process ends
  return registry;
}

// The number of packs in repositories that have idle handles.
std::atomic<std::size_t> idle_pack_count{0};
std::atomic<std::size_t> idle_drops{0};

std::vector<std::shared_ptr<repository>> open_repositories() {
  std::vector<std::shared_ptr<repository>> opened;
  auto& registry = global_list();
  const std::lock_guard lock(registry.mutex);
  for (const auto& entry : registry.repositories)
    if (auto existing = entry.lock()) opened.push_back(std::move(existing));
  return opened;
}

}  // namespace

repository::repository(std::string slug, repository_location location, std::vector<std::string> roots,
                       disk::own_files own_files)
    : slug_(std::move(slug)),
      path_(location.work_tree.empty() ? location.git_folder : location.work_tree),
      roots_(std::move(roots)),
      own_files_(std::move(own_files)),
      screened_(std::make_shared<const screened_repository>(
          screened_repository{.location = std::move(location), .settings = {}, .stamp = {}})) {
  idle_.reserve(max_idle_handles);
}

result<std::shared_ptr<repository>> repository::open(std::string slug, repository_location location,
                                                     std::vector<std::string> roots, disk::own_files own_files) {
  std::shared_ptr<repository> created(
      new repository(std::move(slug), std::move(location), std::move(roots), std::move(own_files)));
  {
    auto& registry = global_list();
    const std::lock_guard lock(registry.mutex);
    std::erase_if(registry.repositories, [](const auto& entry) { return entry.expired(); });
    registry.repositories.push_back(created);
  }
  HONDANA_TRY(created->acquire());
  return created;
}

repository::~repository() { idle_pack_count -= idle_packs_; }

repository::snapshot repository::current() const {
  const std::lock_guard lock(mutex_);
  return {screened_, generation_};
}

repository_location repository::location() const { return current().screened->location; }

result<void> repository::screen(const snapshot& seen) {
  const std::lock_guard screening_lock(screening_mutex_);
  const auto previous = current();
  if (previous.generation != seen.generation && is_current(*previous.screened)) return {};
  const auto is_same_repository = [&expected = previous.screened->location](const result<screened_repository>& candidate) {
    return candidate && candidate->location.git_folder == expected.git_folder &&
           candidate->location.common_folder == expected.common_folder && candidate->location.work_tree == expected.work_tree;
  };
  auto rescreened = screen_repository(path_, roots_);
  // A work tree that `core.worktree` names has no .git that leads back to the repository.
  if (!is_same_repository(rescreened))
    if (auto by_git_folder = screen_repository(previous.screened->location.git_folder, roots_);
        is_same_repository(by_git_folder))
      rescreened = std::move(by_git_folder);
  if (!rescreened) return tl::unexpected(std::move(rescreened.error()));
  if (!is_same_repository(rescreened))
    return fail(errc::source_unavailable,
                "the repository \"" + slug_ +
                    "\" was replaced by another one after hondana started. Reload the configuration to serve the new one.");
  auto screened = std::make_shared<const screened_repository>(std::move(*rescreened));
  std::vector<pooled_handle> outdated;  // closed after the lock is released
  outdated.reserve(max_idle_handles);
  const std::lock_guard lock(mutex_);
  screened_ = std::move(screened);
  ++generation_;
  outdated.swap(idle_);
  count_idle_packs();
  return {};
}

std::optional<repository::pooled_handle> repository::pop_idle() {
  std::vector<pooled_handle> truncated;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto handle = std::move(idle_.back());
    idle_.pop_back();
    count_idle_packs();
    if (!handle.folders->is_truncated()) return handle;
    truncated.push_back(std::move(handle));
  }
  return std::nullopt;
}

result<repository::lease> repository::acquire() {
  if (const auto seen = current(); !is_current(*seen.screened)) HONDANA_TRY(screen(seen));
  if (auto idle = pop_idle()) {
    auto guard = std::make_unique<truncation_guard>(idle->folders);
    return lease(shared_from_this(), std::move(*idle), std::move(guard));
  }
  const auto state = current();
  auto folders = mapped_folders::create(state.screened->location.object_folders);
  if (!folders) {
    drop_truncated_handles();
    folders = mapped_folders::create(state.screened->location.object_folders);
  }
  if (!folders) return tl::unexpected(std::move(folders.error()));
  // Opening already reads mapped files.
  auto guard = std::make_unique<truncation_guard>(*folders);
  HONDANA_TRY(auto handle, open_screened(*state.screened));
  return lease(shared_from_this(), pooled_handle{std::move(*folders), std::move(handle), state.generation}, std::move(guard));
}

void repository::count_idle_packs() noexcept {
  const auto count = idle_.empty() ? 0 : screened_->pack_count;
  idle_pack_count += count - std::exchange(idle_packs_, count);
}

bool repository::try_store(pooled_handle& pooled, bool is_last_try) noexcept {
  const std::lock_guard lock(mutex_);
  if (pooled.generation != generation_ || idle_.size() >= max_idle_handles) return true;
  if (idle_.empty() && !is_last_try && idle_pack_count + screened_->pack_count > max_open_packs()) return false;
  idle_.push_back(std::move(pooled));
  count_idle_packs();
  return true;
}

void repository::return_to_pool(pooled_handle pooled) noexcept {
  if (pooled.folders->is_truncated() || try_store(pooled, false)) return;
  try {
    close_idle_handles();
    static_cast<void>(try_store(pooled, true));
  } catch (const std::bad_alloc&) {
    pooled.handle.reset();  // this one is closed instead
  }
}

void repository::retire_generation(std::size_t generation) {
  const auto now = monotonic_clock::now();
  std::vector<pooled_handle> retired;  // closed after the lock is released
  retired.reserve(max_idle_handles);
  const std::lock_guard lock(mutex_);
  if (generation != generation_ || (retired_at_ && now - *retired_at_ < min_retire_interval)) return;
  retired_at_ = now;
  ++generation_;
  retired.swap(idle_);
  count_idle_packs();
}

void repository::retire_sharing(const mapped_folders& folders, std::size_t generation) {
  for (const auto& served : open_repositories()) {
    std::vector<pooled_handle> retired;  // closed after the lock is released
    retired.reserve(max_idle_handles);
    const std::lock_guard lock(served->mutex_);
    const bool shares = std::any_of(served->idle_.begin(), served->idle_.end(), [&folders](const pooled_handle& idle) {
      return idle.folders->shares_folder_with(folders);
    });
    if (!shares && (served.get() != this || generation != generation_)) continue;
    ++served->generation_;
    retired.swap(served->idle_);
    served->count_idle_packs();
  }
}

void repository::drop_truncated_handles() {
  for (const auto& served : open_repositories()) {
    std::vector<pooled_handle> truncated;
    const std::lock_guard lock(served->mutex_);
    const auto first = std::partition(served->idle_.begin(), served->idle_.end(),
                                      [](const pooled_handle& idle) { return !idle.folders->is_truncated(); });
    std::move(first, served->idle_.end(), std::back_inserter(truncated));
    served->idle_.erase(first, served->idle_.end());
    served->count_idle_packs();
  }
}

void repository::drop_idle_handles() {
  close_idle_handles();
  ++idle_drops;
}

std::size_t repository::idle_drop_count() noexcept { return idle_drops; }

void repository::close_idle_handles() {
  for (const auto& served : open_repositories()) {
    std::vector<pooled_handle> idle;  // closed after the lock is released
    idle.reserve(max_idle_handles);
    const std::lock_guard lock(served->mutex_);
    idle.swap(served->idle_);
    served->count_idle_packs();
  }
}

void repository::lease::retire() { owner_->retire_generation(pooled_.generation); }

bool repository::lease::retire_if_outdated() {
  if (!pooled_.folders->is_outdated()) return false;
  owner_->retire_sharing(*pooled_.folders, pooled_.generation);
  return true;
}

repository::lease::~lease() {
  if (owner_ && pooled_.handle && !is_discarded_) owner_->return_to_pool(std::move(pooled_));
}

}  // namespace hondana::git

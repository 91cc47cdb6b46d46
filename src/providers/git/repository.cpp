/// A pool of handles, and when they are no longer to be trusted.
#include "providers/git/repository.hpp"

#include <utility>

#include "providers/git/opening.hpp"

namespace hondana::git {
namespace {

/// Each keeps its packs open; more calls than that at once open their own.
constexpr std::size_t most_idle = 8;

}  // namespace

repository::repository(std::string slug, place at, std::vector<std::string> roots, disk::own_files own)
    : slug_(std::move(slug)),
      path_(at.work_tree.empty() ? at.git_folder : at.work_tree),
      roots_(std::move(roots)),
      own_(std::move(own)) {
  screened_.where = std::move(at);
  idle_.reserve(most_idle);
}

result<std::shared_ptr<repository>> repository::open(std::string slug, place at, std::vector<std::string> roots,
                                                     disk::own_files own) {
  std::shared_ptr<repository> made(new repository(std::move(slug), std::move(at), std::move(roots), std::move(own)));
  if (auto first = made->take(); !first) return tl::unexpected(std::move(first.error()));
  return made;
}

result<void> repository::screen() {
  const auto is_this_one = [&before = screened_.where](const result<surveyed>& found) {
    return found && found->where.git_folder == before.git_folder && found->where.common_folder == before.common_folder &&
           found->where.work_tree == before.work_tree;
  };
  auto found = survey(path_, roots_);
  // A work tree that `core.worktree` names has no .git of its own that would lead back.
  if (!is_this_one(found))
    if (auto again = survey(screened_.where.git_folder, roots_); is_this_one(again)) found = std::move(again);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (!is_this_one(found))
    return fail(errc::source_unavailable, "another repository has taken the place of \"" + slug_ +
                                              "\" since hondana started. Reload its configuration to serve that one.");
  screened_ = std::move(*found);
  ++generation_;
  idle_.clear();
  return {};
}

result<repository::lease> repository::take() {
  repository_pointer handle;
  surveyed what;
  std::size_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    if (screened_.stamp.empty() || screened_.stamp != stamp_of(screened_.where))
      if (auto fits = screen(); !fits) return tl::unexpected(std::move(fits.error()));
    generation = generation_;
    if (idle_.empty()) {
      what = screened_;
    } else {
      handle = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!handle) {
    auto opened = open_surveyed(what);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    handle = std::move(*opened);
  }
  return lease(shared_from_this(), std::move(handle), generation);
}

place repository::where() const {
  const std::lock_guard lock(mutex_);
  return screened_.where;
}

void repository::give_back(repository_pointer handle, std::size_t generation) noexcept {
  const std::lock_guard lock(mutex_);
  if (generation != generation_ || idle_.size() >= most_idle) return;
  idle_.push_back(std::move(handle));
}

repository::lease::~lease() {
  if (from_ && handle_) from_->give_back(std::move(handle_), generation_);
}

}  // namespace hondana::git

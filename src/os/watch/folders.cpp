/// Watches to paths, and back.
#include "os/watch/folders.hpp"

#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

namespace hondana::watch {

int folders::add(std::size_t tree, const std::string& path, int descriptor) {
  const std::lock_guard lock(mutex_);
  if (by_path_.size() >= most_ && !by_path_.contains({tree, path})) return ENOSPC;
  const auto watch = queue_.add(descriptor);
  if (!watch) return watch.error();
  if (const auto known = by_watch_.find(*watch); known != by_watch_.end()) {
    if (known->second.tree == tree && known->second.path == path) return 0;
    lose();
    by_path_.erase({known->second.tree, known->second.path});
    by_watch_.erase(known);
  }
  const auto [where, is_new] = by_path_.try_emplace({tree, path}, *watch);
  if (!is_new && where->second != *watch) {
    // Another folder has come where a watched one was.
    lose();
    by_watch_.erase(where->second);
    queue_.remove(where->second);
    where->second = *watch;
  }
  by_watch_.insert_or_assign(*watch, place{tree, path});
  return 0;
}

void folders::forget(std::size_t tree, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto itself = by_path_.find({tree, path}); itself != by_path_.end()) drop(itself, std::next(itself));
  // What lies below is contiguous: '0' comes right after '/'.
  drop(by_path_.lower_bound({tree, path + '/'}), by_path_.lower_bound({tree, path + '0'}));
}

void folders::forget(std::size_t tree) {
  const std::lock_guard lock(mutex_);
  drop(by_path_.lower_bound({tree, {}}), by_path_.lower_bound({tree + 1, {}}));
}

/// Under the lock.
void folders::drop(std::map<std::pair<std::size_t, std::string>, int>::iterator begin,
                   std::map<std::pair<std::size_t, std::string>, int>::iterator end) {
  if (begin != end) lose();
  for (auto one = begin; one != end; ++one) {
    by_watch_.erase(one->second);
    queue_.remove(one->second);
  }
  by_path_.erase(begin, end);
}

bool folders::read(const std::function<void(happening)>& take, const std::function<void()>& lost) {
  std::vector<happening> happened;
  bool is_lost = false;
  const bool any = queue_.read([&](const event& one) {
    if ((one.what & IN_Q_OVERFLOW) != 0) {
      is_lost = true;
      return;
    }
    happening what;
    if (translate(one, what)) happened.push_back(std::move(what));
  });
  for (auto& one : happened) take(std::move(one));
  if (is_lost) lost();
  return any;
}

/// False when nobody is to know.
bool folders::translate(const event& from, happening& into) {
  using kind = happening::kind;
  const std::lock_guard lock(mutex_);
  const auto found = by_watch_.find(from.watch);
  if (found == by_watch_.end()) return false;
  into.tree = found->second.tree;
  into.path = found->second.path;
  if ((from.what & IN_IGNORED) != 0) {
    // The kernel has let go of it; its number will not come again.
    lose();
    by_path_.erase({into.tree, into.path});
    by_watch_.erase(found);
    return false;
  }
  if (from.name.empty()) {
    const bool ends = (from.what & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0;
    into.is_folder = true;
    // Of what is not the top, the folder above tells.
    if (ends) {
      into.what = kind::tree_gone;
      return into.path.empty();
    }
    into.what = kind::modified;
    return true;
  }
  if (!into.path.empty()) into.path += '/';
  into.path += from.name;
  into.is_folder = (from.what & IN_ISDIR) != 0;
  if ((from.what & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    into.what = kind::gone;
  } else if ((from.what & IN_MOVED_TO) != 0) {
    into.what = kind::moved_in;
  } else if ((from.what & IN_CREATE) != 0) {
    into.what = kind::appeared;
  } else if ((from.what & IN_CLOSE_WRITE) != 0) {
    into.what = kind::closed;
  } else {
    into.what = kind::modified;
  }
  return true;
}

bool folders::reaches(std::size_t tree, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    if (!by_path_.contains({tree, std::string(path)})) return false;
    if (path.empty()) return true;
    const auto slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

std::size_t folders::size() const {
  const std::lock_guard lock(mutex_);
  return by_path_.size();
}

}  // namespace hondana::watch

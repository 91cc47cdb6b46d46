/// Which folders of a repository are watched.
#include "providers/git/notices.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "disk/handle.hpp"
#include "disk/stamp.hpp"

namespace hondana::git {
namespace {

// References of more folders are not all heard of; they are looked at every two seconds then.
constexpr std::size_t most_folders = 10'000;
constexpr int deepest_walk = 32;

using visitor = std::function<void(const std::string& path, int descriptor)>;

struct closes_folder {
  void operator()(DIR* of) const noexcept { ::closedir(of); }
};

/// A folder and those below it, without following links.
class folder_walk {
 public:
  explicit folder_walk(const visitor& visit) : visit_(visit) {}

  void go(int above, const std::string& name, const std::string& path, int depth) {
    const disk::handle folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() < 0 || depth > deepest_walk || ++folders_ > most_folders) return;
    visit_(path, folder.get());
    const int listed = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, closes_folder> open(listed < 0 ? nullptr : ::fdopendir(listed));
    if (!open) {
      if (listed >= 0) ::close(listed);
      return;
    }
    while (const auto* entry = ::readdir(open.get())) {
      const std::string_view one = entry->d_name;
      if (one == "." || one == ".." || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
      go(folder.get(), entry->d_name, path + '/' + entry->d_name, depth + 1);
    }
  }

 private:
  const visitor& visit_;
  std::size_t folders_ = 0;
};

/// The trees of a lookout: each repository's own git folder, and the common one behind it where that is another.
struct watched_tree {
  std::size_t repository;
  std::string path;
  bool has_references;
};

std::vector<watched_tree> trees_of(const std::vector<place>& of) {
  std::vector<watched_tree> out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    out.push_back({i, of[i].common_folder, true});
    if (of[i].git_folder != of[i].common_folder) out.push_back({i, of[i].git_folder, false});
  }
  return out;
}

void visit_folders(const watched_tree& one, const visitor& visit) {
  const disk::handle top(::open(one.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (top.get() < 0) return;  // the look says so
  visit("", top.get());
  if (!one.has_references) return;
  folder_walk(visit).go(top.get(), "refs", "refs", 0);
  folder_walk(visit).go(top.get(), "worktrees", "worktrees", deepest_walk - 1);
  // What is dropped from the middle of the stash changes nothing but its log.
  folder_walk(visit).go(top.get(), "logs/refs", "logs/refs", deepest_walk);
}

}  // namespace

std::int64_t latest_change_in(const place& at) {
  std::int64_t latest = 0;
  for (const auto& one : trees_of({at}))
    visit_folders(one, [&](const std::string&, int descriptor) {
      struct stat facts{};
      if (::fstat(descriptor, &facts) == 0) latest = std::max(latest, disk::stamp_of(facts).changed);
    });
  return latest;
}

notices::notices(const std::vector<place>& of, look with_each, std::function<void(std::string_view)> log) {
  auto trees = trees_of(of);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i].repository == first_trees_.size()) first_trees_.push_back(i);
    paths.push_back(trees[i].path);
  }
  watch::lookout_options with;
  with.what = "the references";
  with.quiet = std::chrono::milliseconds(20);
  with.latest = std::chrono::milliseconds(100);
  with.is_whole = [](const watch::happening& what) {
    return what.what == watch::happening::kind::moved_in && !what.path.ends_with(".lock");
  };
  with.log = std::move(log);
  // The lookout's own thread looks, and only while there is one.
  const auto cover = std::make_shared<std::function<void(std::size_t, const std::string&, int)>>();
  lookout_ = std::make_unique<watch::lookout>(
      std::move(paths),
      [trees = std::move(trees), look_at_one = std::move(with_each), cover](const call& by,
                                                                            const watch::lookout::trees& which) {
        bool has_looked = true;
        std::size_t last = SIZE_MAX;
        // What is made from here on is heard of, and what was made before is found by the look behind.
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if (!which.empty() && !which.contains(i)) continue;
          visit_folders(trees[i], [&](const std::string& path, int descriptor) { (*cover)(i, path, descriptor); });
        }
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if ((!which.empty() && !which.contains(i)) || std::exchange(last, trees[i].repository) == trees[i].repository)
            continue;
          has_looked = look_at_one(by, trees[i].repository) && has_looked;
        }
        return has_looked;
      },
      std::move(with));
  *cover = lookout_->coverer();
}

}  // namespace hondana::git

/// Which folders of a repository are watched.
#include "sources/git/notices.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "os/disk/folder_stream.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::git {
namespace {

// References of more folders are looked at every two seconds instead.
constexpr std::size_t most_folders = 10'000;
constexpr int deepest_walk = 65;  // as deep as those that are screened

using visitor = std::function<void(const std::string& path, int descriptor)>;

/// A folder and those below it, without following links.
class folder_walk {
 public:
  folder_walk(const visitor& visit, int levels) : visit_(visit), levels_(levels) {}

  /// Whether there were more, or deeper ones, than are visited.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  void go(int above, const std::string& name, const std::string& path, int depth) {
    disk::handle folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.is_open()) return;
    if (depth > levels_ || folders_ == most_folders) {
      is_cut_ = true;
      return;
    }
    ++folders_;
    visit_(path, folder.get());
    const auto list = disk::stream_of(std::move(folder));
    if (!list) return;
    while (const auto* entry = ::readdir(list.get())) {
      const std::string_view one = entry->d_name;
      if (folders_ == most_folders && is_cut_) return;
      if (one == "." || one == ".." || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
      go(::dirfd(list.get()), entry->d_name, path + '/' + entry->d_name, depth + 1);
    }
  }

 private:
  const visitor& visit_;
  const int levels_;
  std::size_t folders_ = 0;
  bool is_cut_ = false;
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

/// False: there are folders of references that were not visited.
bool visit_folders(const watched_tree& one, const visitor& visit) {
  const disk::handle top(::open(one.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (top.get() < 0) return true;  // the look says so
  visit("", top.get());
  if (!one.has_references) return true;
  folder_walk references(visit, deepest_walk);
  references.go(top.get(), "refs", "refs", 0);
  folder_walk(visit, 1).go(top.get(), "worktrees", "worktrees", 0);
  // What is dropped from the middle of the stash changes nothing but its log.
  const disk::handle logs(::openat(top.get(), "logs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const disk::handle of_references(
      logs.get() < 0 ? -1 : ::openat(logs.get(), "refs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (of_references.get() >= 0) visit("logs/refs", of_references.get());
  return !references.is_cut();
}

}  // namespace

std::int64_t latest_change_in(const place& at) {
  std::int64_t latest = 0;
  for (const auto& one : trees_of({at})) {
    const bool are_all = visit_folders(one, [&](const std::string&, int descriptor) {
      struct stat facts{};
      if (::fstat(descriptor, &facts) == 0) latest = std::max(latest, disk::stamp_of(facts).changed);
    });
    // What is not visited may have changed just now.
    if (!are_all) latest = std::max(latest, disk::wall_clock());
  }
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
  struct way_back {
    std::function<void(std::size_t, const std::string&, int)> cover;
    std::function<void(std::size_t, const std::string&)> give_up;
  };
  const auto back = std::make_shared<way_back>();
  lookout_ = std::make_unique<watch::lookout>(
      std::move(paths),
      [trees = std::move(trees), look_at_one = std::move(with_each), back](const call& by, const watch::lookout::trees& which) {
        bool has_looked = true;
        std::size_t last = SIZE_MAX;
        // What is made from here on is heard of, and what was made before is found by the look behind.
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if (!which.empty() && !which.contains(i)) continue;
          const auto cover = [&](const std::string& path, int descriptor) { back->cover(i, path, descriptor); };
          if (!visit_folders(trees[i], cover))
            back->give_up(i, "its references are in more than " + std::to_string(most_folders) +
                                 " folders, or nested deeper than " + std::to_string(deepest_walk));
        }
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if ((!which.empty() && !which.contains(i)) || std::exchange(last, trees[i].repository) == trees[i].repository)
            continue;
          has_looked = look_at_one(by, trees[i].repository) && has_looked;
        }
        return has_looked;
      },
      std::move(with));
  back->cover = lookout_->coverer();
  back->give_up = lookout_->giver_up();
}

}  // namespace hondana::git

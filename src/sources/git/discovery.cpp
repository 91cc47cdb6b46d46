/// Looking for repositories below a folder.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "os/disk/folder_kinds.hpp"
#include "os/disk/folder_stream.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {
namespace {

bool has_git_entry(int folder) noexcept {
  struct stat facts{};
  return ::fstatat(folder, ".git", &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

class discovery {
 public:
  discovery(std::vector<std::string> roots, std::size_t most, const std::function<bool()>& is_wanted)
      : roots_(std::move(roots)), most_(most), is_wanted_(is_wanted) {}

  /// False: it is over.
  bool enter(int above, const std::string& name, const std::string& path, std::size_t deeper) {
    if (found_.size() >= most_ || (is_wanted_ && !is_wanted_())) return false;
    disk::handle folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // What the kernel makes up has no end of folders, and no repositories.
    if (!folder.is_open() || disk::on_kernel_file_system(folder.get())) return true;
    const bool has_git = has_git_entry(folder.get());
    if (has_git || disk::is_bare_repository(folder.get())) {
      found_.push_back({path, locate(path, roots_)});
      if (!has_git) return true;
    }
    if (deeper == 0) return true;
    for (const auto& one : folders_in(folder.get()))
      if (!enter(folder.get(), one, (path == "/" ? path : path + '/') + one, deeper - 1)) return false;
    return true;
  }

  [[nodiscard]] std::vector<found_place> take() { return std::move(found_); }

 private:
  static std::vector<std::string> folders_in(int folder) {
    std::vector<std::string> names;
    const auto list = disk::stream_of(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (!list) return names;
    while (const dirent* const one = ::readdir(list.get())) {
      if (one->d_name[0] == '.') continue;
      struct stat facts{};
      const bool is_folder =
          one->d_type == DT_DIR || (one->d_type == DT_UNKNOWN &&
                                    ::fstatat(folder, one->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode));
      if (is_folder) names.emplace_back(one->d_name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::vector<std::string> roots_;
  const std::size_t most_;
  const std::function<bool()>& is_wanted_;
  std::vector<found_place> found_;
};

}  // namespace

bool looks_like_repository(const std::string& path) noexcept {
  const disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder.is_open() && (has_git_entry(folder.get()) || disk::is_bare_repository(folder.get()));
}

std::vector<found_place> discover(const std::string& root, std::vector<std::string> roots, std::size_t depth, std::size_t most,
                                  const std::function<bool()>& is_wanted) {
  discovery walk(std::move(roots), most, is_wanted);
  // The root itself may be named by a link.
  walk.enter(AT_FDCWD, root + "/.", root, depth);
  return walk.take();
}

}  // namespace hondana::git

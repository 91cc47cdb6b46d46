/// The folder of a root, which may be deleted or replaced while it is served.
#include "sources/files/root_dir.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/disk/descriptor_limit.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::files {
namespace {

/// Whether the folder can be opened. A mode alone does not show that, for instance in a sandbox.
bool can_be_opened(int folder) { return disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)).is_open(); }

}  // namespace

bool is_servable(int folder) noexcept {
  if (::faccessat(folder, ".", R_OK | X_OK, AT_EACCESS) != 0) return false;
  errno = 0;
  return !disk::is_on_kernel_file_system(folder);
}

root_dir::root_dir(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable)
    : path_(std::move(path)),
      root_paths_(std::move(root_paths)),
      portable_(portable),
      current_(std::make_shared<const disk::confined_dir>(std::move(folder), root_paths_, portable_)) {}

std::shared_ptr<const disk::confined_dir> root_dir::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

root_dir::dir_change root_dir::record(dir_change change) {
  return last_change_.exchange(change) == change ? dir_change::none : change;
}

root_dir::dir_change root_dir::recheck() {
  if (!is_removed() && disk::is_in_place(current()->descriptor(), path_)) return dir_change::none;
  const std::lock_guard recheck_lock(recheck_mutex_);
  if (disk::is_in_place(current()->descriptor(), path_)) return record(dir_change::restored);
  auto folder = disk::open_folder_without_links(path_);
  if (!folder.is_open() && disk::is_exhaustion_error(errno)) return dir_change::none;
  if (!folder.is_open() || !is_servable(folder.get())) return record(dir_change::removed);
  if (!can_be_opened(folder.get())) return disk::is_exhaustion_error(errno) ? dir_change::none : record(dir_change::blocked);
  auto reopened = std::make_shared<const disk::confined_dir>(std::move(folder), root_paths_, portable_);
  {
    const std::lock_guard lock(mutex_);
    current_.swap(reopened);
  }
  last_change_ = dir_change::restored;
  return dir_change::restored;
}

}  // namespace hondana::files

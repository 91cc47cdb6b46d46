/// Following a path to whatever folder it names.
#include "sources/files/top.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "os/disk/folder_kinds.hpp"
#include "os/disk/handle.hpp"
#include "os/disk/in_place.hpp"
#include "os/disk/shortage.hpp"

namespace hondana::files {
namespace {

/// Name by name, so that a link put in the way leads nowhere.
disk::handle open_without_links(std::string_view path) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  disk::handle at(::open("/", flags));
  while (at.is_open() && path.size() > 1) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    at = disk::handle(::openat(at.get(), std::string(path.substr(0, end)).c_str(), flags));
    path.remove_prefix(end);
  }
  return at;
}

/// Modes do not say it all.
bool can_be_opened(int folder) { return disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)).is_open(); }

}  // namespace

bool is_servable(int folder) noexcept {
  if (::faccessat(folder, ".", R_OK | X_OK, AT_EACCESS) != 0) return false;
  errno = 0;
  return !disk::on_kernel_file_system(folder);
}

top::top(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable)
    : path_(std::move(path)),
      spellings_(std::move(spellings)),
      portable_(portable),
      now_(std::make_shared<const beneath>(std::move(folder), spellings_, portable_)) {}

std::shared_ptr<const beneath> top::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

top::news top::found(news what) { return last_.exchange(what) == what ? news::none : what; }

top::news top::look_again() {
  if (!is_gone() && disk::is_in_place(now()->descriptor(), path_)) return news::none;
  const std::lock_guard looking(looking_);
  if (disk::is_in_place(now()->descriptor(), path_)) return found(news::back);
  auto folder = open_without_links(path_);
  if (!folder.is_open() && disk::is_shortage(errno)) return news::none;
  if (!folder.is_open() || !is_servable(folder.get())) return found(news::gone);
  if (!can_be_opened(folder.get())) return disk::is_shortage(errno) ? news::none : found(news::barred);
  auto other = std::make_shared<const beneath>(std::move(folder), spellings_, portable_);
  {
    const std::lock_guard lock(mutex_);
    now_.swap(other);
  }
  last_ = news::back;
  return news::back;
}

}  // namespace hondana::files

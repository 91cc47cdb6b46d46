/// Comparing inodes.
#include "os/disk/in_place.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace hondana::disk {

bool is_in_place(int folder, const std::string& path) noexcept {
  struct stat mine{};
  struct stat there{};
  if (::fstat(folder, &mine) != 0) return true;
  if (mine.st_nlink == 0) return false;
  if (::stat(path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

}  // namespace hondana::disk

/// Opens paths below a folder without leaving it, and detects properties of open folders.
#include "os/disk/opened_folder.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace hondana::disk {
namespace {

constexpr int on_the_way = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

handle open_name_by_name(int folder, const std::string& path, int flags) {
  handle at(::openat(folder, ".", on_the_way));
  for (std::size_t begin = 0; at.is_open();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    at = handle(::openat(at.get(), path.substr(begin, end - begin).c_str(), is_last ? flags | O_NOFOLLOW : on_the_way));
    if (is_last) break;
    begin = end + 1;
  }
  return at;
}

}  // namespace

int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = resolve;
  int descriptor = -1;
  do {
    descriptor = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  } while (descriptor < 0 && (errno == EINTR || errno == EAGAIN));
  return descriptor;
}

handle open_without_links(int folder, const std::string& path, int flags) {
  const int descriptor = open_resolved(folder, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return open_name_by_name(folder, path, flags);
  return handle(descriptor);
}

bool is_in_place(int folder, const std::string& path) noexcept {
  struct stat mine{};
  struct stat there{};
  if (::fstat(folder, &mine) != 0) return true;
  if (mine.st_nlink == 0) return false;
  if (::stat(path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

bool on_kernel_file_system(int descriptor) noexcept {
  // Names are from linux/magic.h; the numbers are only defined in the sources of their file systems.
  constexpr std::array<std::uint64_t, 17> kinds{
      PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,        TRACEFS_MAGIC,
      SECURITYFS_MAGIC, SELINUX_MAGIC,      SMACK_MAGIC,          PSTOREFS_MAGIC,
      EFIVARFS_MAGIC,   BPF_FS_MAGIC,       CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
      NSFS_MAGIC,       DEVPTS_SUPER_MAGIC, BINDERFS_SUPER_MAGIC, 0x62656570 /* configfs */,
      0x65735543 /* fusectl */};
  struct statfs about{};
  if (::fstatfs(descriptor, &about) != 0) return false;
  return std::find(kinds.begin(), kinds.end(), static_cast<std::uint64_t>(about.f_type)) != kinds.end();
}

bool is_bare_repository(int folder) noexcept {
  struct stat facts{};
  if (::fstatat(folder, "HEAD", &facts, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(facts.st_mode)) return false;
  const auto has_folder = [&](const char* name) {
    return ::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && (S_ISDIR(facts.st_mode) || S_ISLNK(facts.st_mode));
  };
  return has_folder("objects") && has_folder("refs");
}

bool is_on_network(int descriptor) noexcept {
  // Names are from linux/magic.h.
  constexpr std::array<std::uint64_t, 10> kinds{
      NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC, 0xFE534D42 /* smb2 */, 0xFF534D42 /* cifs */,
      CODA_SUPER_MAGIC,      AFS_SUPER_MAGIC, AFS_FS_MAGIC,          V9FS_MAGIC,
      0x65735546 /* fuse */, 0x00C36400 /* ceph */};
  struct statfs about{};
  if (::fstatfs(descriptor, &about) != 0) return false;
  // Some file systems sign-extend f_type.
  return std::find(kinds.begin(), kinds.end(), static_cast<std::uint64_t>(about.f_type) & 0xFFFFFFFF) != kinds.end();
}

}  // namespace hondana::disk

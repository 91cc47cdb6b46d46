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

constexpr int traversal_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

handle open_by_segments(int folder, const std::string& path, int flags) {
  handle current(::openat(folder, ".", traversal_flags));
  for (std::size_t begin = 0; current.is_open();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    current = handle(
        ::openat(current.get(), path.substr(begin, end - begin).c_str(), is_last ? flags | O_NOFOLLOW : traversal_flags));
    if (is_last) break;
    begin = end + 1;
  }
  return current;
}

}  // namespace

int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept {
  open_how options{};
  options.flags = static_cast<std::uint64_t>(flags);
  options.resolve = resolve;
  int descriptor = -1;
  do {
    descriptor = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &options, sizeof options));
  } while (descriptor < 0 && (errno == EINTR || errno == EAGAIN));
  return descriptor;
}

handle open_without_links(int folder, const std::string& path, int flags) {
  const int descriptor = open_resolved(folder, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_segments(folder, path, flags);
  return handle(descriptor);
}

bool is_in_place(int folder, const std::string& path) noexcept {
  struct stat opened{};
  struct stat current{};
  if (::fstat(folder, &opened) != 0) return true;
  if (opened.st_nlink == 0) return false;
  if (::stat(path.c_str(), &current) != 0) return errno != ENOENT && errno != ENOTDIR;
  return opened.st_dev == current.st_dev && opened.st_ino == current.st_ino;
}

bool is_on_kernel_file_system(int descriptor) noexcept {
  // Names are from linux/magic.h; the numbers are only defined in the sources of their file systems.
  constexpr std::array<std::uint64_t, 17> magic_numbers{
      PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,        TRACEFS_MAGIC,
      SECURITYFS_MAGIC, SELINUX_MAGIC,      SMACK_MAGIC,          PSTOREFS_MAGIC,
      EFIVARFS_MAGIC,   BPF_FS_MAGIC,       CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
      NSFS_MAGIC,       DEVPTS_SUPER_MAGIC, BINDERFS_SUPER_MAGIC, 0x62656570 /* configfs */,
      0x65735543 /* fusectl */};
  struct statfs file_system{};
  if (::fstatfs(descriptor, &file_system) != 0) return false;
  return std::find(magic_numbers.begin(), magic_numbers.end(), static_cast<std::uint64_t>(file_system.f_type)) !=
         magic_numbers.end();
}

bool is_bare_repository(int folder) noexcept {
  struct stat attributes{};
  if (::fstatat(folder, "HEAD", &attributes, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(attributes.st_mode)) return false;
  const auto has_folder = [&](const char* name) {
    return ::fstatat(folder, name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 &&
           (S_ISDIR(attributes.st_mode) || S_ISLNK(attributes.st_mode));
  };
  return has_folder("objects") && has_folder("refs");
}

bool is_on_network(int descriptor) noexcept {
  // Names are from linux/magic.h.
  constexpr std::array<std::uint64_t, 10> magic_numbers{
      NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC, 0xFE534D42 /* smb2 */, 0xFF534D42 /* cifs */,
      CODA_SUPER_MAGIC,      AFS_SUPER_MAGIC, AFS_FS_MAGIC,          V9FS_MAGIC,
      0x65735546 /* fuse */, 0x00C36400 /* ceph */};
  struct statfs file_system{};
  if (::fstatfs(descriptor, &file_system) != 0) return false;
  // Some file systems sign-extend f_type.
  return std::find(magic_numbers.begin(), magic_numbers.end(), static_cast<std::uint64_t>(file_system.f_type) & 0xFFFFFFFF) !=
         magic_numbers.end();
}

}  // namespace hondana::disk

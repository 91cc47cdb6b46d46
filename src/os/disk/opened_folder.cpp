/// Properties of open folders: whether they are still in place, and what they are on.
#include "os/disk/opened_folder.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace hondana::disk {

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

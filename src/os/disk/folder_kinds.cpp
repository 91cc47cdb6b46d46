/// By the file system, and by what is in it.
#include "os/disk/folder_kinds.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace hondana::disk {

bool on_kernel_file_system(int descriptor) noexcept {
  // From linux/magic.h, where it names them; the others are in the sources of their file systems only.
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

}  // namespace hondana::disk

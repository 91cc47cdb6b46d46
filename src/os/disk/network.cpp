/// Kinds of file systems.
#include "os/disk/network.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace hondana::disk {

bool is_on_network(int descriptor) noexcept {
  // From linux/magic.h, where it names them.
  constexpr std::array<std::uint64_t, 10> kinds{
      NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC, 0xFE534D42 /* smb2 */, 0xFF534D42 /* cifs */,
      CODA_SUPER_MAGIC,      AFS_SUPER_MAGIC, AFS_FS_MAGIC,          V9FS_MAGIC,
      0x65735546 /* fuse */, 0x00C36400 /* ceph */};
  struct statfs about{};
  if (::fstatfs(descriptor, &about) != 0) return false;
  // Of some, f_type has its sign extended.
  return std::find(kinds.begin(), kinds.end(), static_cast<std::uint64_t>(about.f_type) & 0xFFFFFFFF) != kinds.end();
}

}  // namespace hondana::disk

/// Opens paths beneath a folder without leaving it, and tells what kind of folder was opened.
#pragma once

#include <cstdint>
#include <string>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// `openat2` with these `RESOLVE_…` flags, again where it was disturbed: its descriptor, or -1 and errno. ENOSYS comes from
/// kernels before Linux 5.6; containers may answer EPERM for system calls that they do not know.
[[nodiscard]] int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept;

/// Opens what a path without `..` leads to beneath the folder, never through a link: by the kernel, or name by name where it
/// does not know how. A link at the end is opened itself with O_PATH and O_NOFOLLOW. Not open: errno says why; of links it is
/// ELOOP or ENOTDIR.
[[nodiscard]] handle open_without_links(int folder, const std::string& path, int flags);

/// False when an open folder has been deleted, or another stands at `path` or nothing does. When that cannot be told, as by
/// rights taken away since, it is in place.
[[nodiscard]] bool is_in_place(int folder, const std::string& path) noexcept;

/// Whether a folder holds what a git repository without a work tree holds: HEAD, objects/ and refs/.
[[nodiscard]] bool is_bare_repository(int folder) noexcept;

/// Whether the descriptor lies on procfs, sysfs or another file system of the kernel's own making.
[[nodiscard]] bool on_kernel_file_system(int descriptor) noexcept;

/// Whether an open file or folder is on a network file system (or one in user space), whose changes by others the kernel does
/// not hear of. False when that cannot be found out.
[[nodiscard]] bool is_on_network(int descriptor) noexcept;

}  // namespace hondana::disk

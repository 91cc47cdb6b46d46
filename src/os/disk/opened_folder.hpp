/// Opens paths below a folder without leaving it, and detects properties of open folders.
#pragma once

#include <cstdint>
#include <string>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// Calls `openat2` with these `RESOLVE_…` flags and retries after interruptions. Returns the descriptor, or -1 and sets errno.
/// ENOSYS: the kernel is older than Linux 5.6. Containers may return EPERM for system calls that they do not know.
[[nodiscard]] int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept;

/// Opens `path`, which must not contain `..`, below the folder without following symbolic links.
/// Uses openat2, or opens one path segment after the other on kernels without it. With O_PATH, a link in the last segment is
/// opened itself. If the result is not open, errno has the reason; for links it is ELOOP or ENOTDIR.
[[nodiscard]] handle open_without_links(int folder, const std::string& path, int flags);

/// Returns false when an open folder has been deleted, or `path` now names another folder or nothing.
/// Returns true when this cannot be determined, such as after access rights were removed.
[[nodiscard]] bool is_in_place(int folder, const std::string& path) noexcept;

/// Whether a folder contains the parts of a bare git repository: HEAD, objects/ and refs/.
[[nodiscard]] bool is_bare_repository(int folder) noexcept;

/// Whether the descriptor is on procfs, sysfs or another pseudo file system of the kernel.
[[nodiscard]] bool is_on_kernel_file_system(int descriptor) noexcept;

/// Whether an open file or folder is on a network or user-space (FUSE) file system. The kernel does not report changes that
/// others make there. False when this cannot be determined.
[[nodiscard]] bool is_on_network(int descriptor) noexcept;

}  // namespace hondana::disk

/// Opens paths below an open folder without leaving it, and detects properties of open folders.
#pragma once

#include <cstdint>
#include <string>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// Calls openat2(2) and retries after interruptions. `resolve`: its `RESOLVE_…` flags.
/// Returns the descriptor, which the caller must close, or -1 and sets errno. ENOSYS: the kernel is older than Linux 5.6.
/// Containers may return EPERM instead.
[[nodiscard]] int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept;

/// Opens `path`, which must be relative to `folder` and not contain `..`, without following symbolic links.
/// With O_PATH, a link in the last segment is opened itself. On failure, the result is not open and errno has the reason;
/// for links it is ELOOP or ENOTDIR. Works with and without openat2.
[[nodiscard]] handle open_without_links(int folder, const std::string& path, int flags);

/// Returns false if an open folder has been deleted, or `path` now names another folder or nothing.
/// Returns true if this cannot be determined, such as after access rights were removed.
[[nodiscard]] bool is_in_place(int folder, const std::string& path) noexcept;

/// Whether a folder contains the parts of a bare git repository: HEAD, objects/ and refs/.
[[nodiscard]] bool is_bare_repository(int folder) noexcept;

/// Whether an open file or folder is on procfs, sysfs or another pseudo file system of the kernel. False if this cannot be
/// determined.
[[nodiscard]] bool is_on_kernel_file_system(int descriptor) noexcept;

/// Whether an open file or folder is on a network or user-space (FUSE) file system, where the kernel does not report changes
/// by others. False if this cannot be determined.
[[nodiscard]] bool is_on_network(int descriptor) noexcept;

}  // namespace hondana::disk

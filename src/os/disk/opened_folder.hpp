/// Properties of open folders: whether they are still in place, and what they are on.
#pragma once

#include <string>

namespace hondana::disk {

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

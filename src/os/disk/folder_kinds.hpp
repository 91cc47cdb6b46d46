/// What kind of folder it is that was opened.
#pragma once

namespace hondana::disk {

/// Whether a folder holds what a git repository without a work tree holds: HEAD, objects/ and refs/.
[[nodiscard]] bool is_bare_repository(int folder) noexcept;

/// Whether the descriptor lies on procfs, sysfs or another file system of the kernel's own making.
[[nodiscard]] bool on_kernel_file_system(int descriptor) noexcept;

}  // namespace hondana::disk

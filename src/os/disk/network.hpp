/// Whether the kernel hears of all changes.
#pragma once

namespace hondana::disk {

/// Whether an open file or folder is on a network file system (or one in user space), whose changes by others the kernel does
/// not hear of. False when that cannot be found out.
[[nodiscard]] bool is_on_network(int descriptor) noexcept;

}  // namespace hondana::disk

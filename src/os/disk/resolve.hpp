/// Following a path beneath a folder that was opened before, by the kernel.
#pragma once

#include <cstdint>
#include <string>

#include "os/disk/handle.hpp"

namespace hondana::disk {

/// `openat2` with these `RESOLVE_…` flags, again where it was disturbed: its descriptor, or -1 and errno. ENOSYS comes from
/// kernels before Linux 5.6; containers may answer EPERM for system calls that they do not know.
[[nodiscard]] int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept;

/// Opens what a path without `..` leads to beneath the folder, never through a link: by the kernel, or name by name where it
/// does not know how. A link at the end is opened itself with O_PATH and O_NOFOLLOW. Not open: errno says why; of links it is
/// ELOOP or ENOTDIR.
[[nodiscard]] handle open_without_links(int folder, const std::string& path, int flags);

}  // namespace hondana::disk

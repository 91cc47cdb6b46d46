/// Whether what was opened is still what its path names.
#pragma once

#include <string>

namespace hondana::disk {

/// False when an open folder has been deleted, or another stands at `path` or nothing does. When that cannot be told, as by
/// rights taken away since, it is in place.
[[nodiscard]] bool is_in_place(int folder, const std::string& path) noexcept;

}  // namespace hondana::disk

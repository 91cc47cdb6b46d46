/// Following links beneath a folder.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace hondana::config_files {

/// What a path leads to, as a path without links below the folder. The error is an errno: EXDEV for a link that is absolute or
/// leads out, be it for a moment; ELOOP for too many of them. What a path without links is opened by afterwards must not follow
/// any, since they may be exchanged meanwhile.
[[nodiscard]] tl::expected<std::string, int> without_links(int folder, const std::string& below);

}  // namespace hondana::config_files

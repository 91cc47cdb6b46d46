/// Whose repository it is.
#pragma once

#include <string>

namespace hondana::git {

/// Whether a file or folder, which may be a link itself, is this user's own; for root under sudo, the user's who called it, as
/// git judges. False for what is not there.
[[nodiscard]] bool is_ours(const std::string& path) noexcept;

}  // namespace hondana::git

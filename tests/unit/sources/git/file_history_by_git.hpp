/// Two histories of a file in one form: `COMMIT PATH`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

[[nodiscard]] std::vector<std::string> followed_by_git(const std::string& folder, const std::string& path);
/// Of HEAD, too, all pages. A failure is a line of its own.
[[nodiscard]] std::vector<std::string> followed_by_us(git_repository* in, const std::string& path, std::size_t limit);

}  // namespace hondana::git

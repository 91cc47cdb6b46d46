/// Two blames in one form: `COMMIT LINE-THEN LINE COUNT PATH`, and ` boundary` where history ends.
#pragma once

#include <string>
#include <vector>

#include "sources/git/blame.hpp"

namespace hondana::git {

[[nodiscard]] std::vector<std::string> blamed_by_git(const std::string& folder, std::vector<std::string> arguments);
/// A failure, and lines that are left open, are lines of their own.
[[nodiscard]] std::vector<std::string> blamed_by_us(git_repository* in, const blame_request& request);

}  // namespace hondana::git

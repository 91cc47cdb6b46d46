/// Opening with libgit2 what has been screened, and nothing else.
#pragma once

#include <hondana/error.hpp>

#include "sources/git/library.hpp"
#include "sources/git/surveyed.hpp"

namespace hondana::git {

/// A handle that looks for nothing: it has the folders that were surveyed, their objects without alternates of its own finding,
/// and the settings that were kept, in memory. Errors: source_unavailable.
[[nodiscard]] result<repository_pointer> open_surveyed(const surveyed& what);

}  // namespace hondana::git

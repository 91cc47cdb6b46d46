/// Opens a screened repository with libgit2: its configuration in memory, its object folders, and a safe reader of loose
/// objects.
#pragma once

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// A handle that looks for nothing: it has the folders that were surveyed, their objects without alternates of its own finding,
/// and the settings that were kept, in memory. Errors: source_unavailable.
[[nodiscard]] result<repository_pointer> open_surveyed(const surveyed& what);

}  // namespace hondana::git

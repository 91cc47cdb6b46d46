/// Opens a screened repository with libgit2: its configuration in memory, its object folders, and a safe reader of loose
/// objects.
#pragma once

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Opens a handle that searches for nothing itself. It has the screened folders, their objects without further alternates, and
/// the settings that libgit2 may see, in memory. Errors: source_unavailable.
[[nodiscard]] result<repository_pointer> open_screened(const screened_repository& screened);

}  // namespace hondana::git

/// Opens a screened repository with libgit2: its configuration in memory, its object folders, and a safe reader of loose
/// objects.
#pragma once

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Opens a libgit2 handle that uses only the screened folders and settings: it reads no configuration files and no further
/// alternates. Errors: source_unavailable.
[[nodiscard]] result<repository_pointer> open_screened(const screened_repository& screened);

}  // namespace hondana::git

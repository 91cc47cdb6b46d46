/// Where the server's own files are in the trees of a repository.
#pragma once

#include <string>
#include <vector>

#include "os/disk/own_files.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {

/// `keep_back`: absolute, links resolved. What lies in one work tree of a repository has the same path in the trees that
/// another shows: for `of`, those of its own work tree, of those among `all` with the same objects, and of the main one count.
[[nodiscard]] disk::own_files own_files_in(const place& of, const std::vector<place>& all,
                                           const std::vector<std::string>& keep_back);

}  // namespace hondana::git

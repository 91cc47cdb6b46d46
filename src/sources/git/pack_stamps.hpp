/// Whether packs and their indexes are still the files that they were.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "os/disk/stamp.hpp"

namespace hondana::git {

/// By path below a folder of objects.
using pack_stamps = std::map<std::string, disk::stamp>;

/// Of what lies in `pack` there, and of the commit graph; of more than 1000, of some. Nothing: it cannot be listed now. Cost:
/// an inode for each.
[[nodiscard]] std::optional<pack_stamps> stamps_of_packs(const std::string& objects);

/// Whether something has come since `before`, or was changed or put in the place of another. What has gone is no news: whoever
/// has it mapped keeps it.
[[nodiscard]] bool have_changed(const pack_stamps& before, const pack_stamps& now);

}  // namespace hondana::git

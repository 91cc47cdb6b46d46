/// How many descriptors this process has.
#pragma once

#include <dirent.h>

#include <cstddef>

namespace hondana_test {

/// Entries of a folder, the one that it takes to count them and the two of every folder included.
inline std::size_t entries_of(const char* folder) {
  auto* opened = ::opendir(folder);
  std::size_t count = 0;
  while (::readdir(opened) != nullptr) ++count;
  ::closedir(opened);
  return count;
}

inline std::size_t open_descriptors() { return entries_of("/proc/self/fd"); }

}  // namespace hondana_test

/// Going through everything below a root, in the order of the URIs.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "sources/files/folder.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Hears what a walk comes across. Paths are as in `root`.
class walk_listener {
 public:
  walk_listener() = default;
  walk_listener(const walk_listener&) = delete;
  walk_listener& operator=(const walk_listener&) = delete;
  virtual ~walk_listener() = default;

  /// Something served; false ends the walk. A folder comes directly before what is in it, the root itself first.
  virtual bool served(const root& of, std::string_view path, const struct stat& facts) = 0;
  /// All that is in a folder has been gone through; the folder as it is then.
  virtual void leaving(const struct stat& facts) { (void)facts; }
  /// Something left out; what is in it is not gone into.
  virtual void left_out(const root& of, std::string_view path, const examined& why) = 0;
  /// A folder that cannot be listed, or a bound that was met; the walk goes on.
  virtual void trouble(const root& of, std::string_view path, const std::string& what) = 0;
  /// A disk failed, so that something may be missing that will be there again.
  virtual void missed() {}
};

struct walk_bounds {
  std::size_t max_depth = 256;        ///< Folders below the root; each on the way holds a descriptor while there are enough.
  std::size_t max_names = 5'000'000;  ///< Taken from one folder.
};

/// Walks one root. Links are not followed. False when the listener ended it. Throws std::system_error when there are no
/// descriptors or no memory even for one folder at a time: what was walked is then not all.
bool walk(const root& of, const walk_bounds& bounds, walk_listener& listener);
/// Walks what a path names and what is below it; nothing when there is nothing, or when it is not served. Throws as `walk`, and
/// when a disk fails on the way to it.
bool walk_below(const root& of, const std::string& path, const walk_bounds& bounds, walk_listener& listener);

}  // namespace hondana::files

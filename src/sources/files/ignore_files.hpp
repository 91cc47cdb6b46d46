/// Loads and keeps the compiled ignore files of a root.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ignore/pattern_list.hpp"
#include "base/ignore/stack.hpp"
#include "sources/files/options.hpp"
#include "sources/files/work_tree.hpp"

namespace hondana::files {

/// A bounded cache of compiled ignore files, each kept until its file changes.
///
/// Like git, it follows no links: an ignore file that is one does not count. One that cannot be read or used whole, and one
/// that is no regular file, leaves out all that is in its folder, and the log says so. Threads: any, at once. Stacks throw
/// std::system_error when descriptors or memory are short.
class ignore_files {
 public:
  /// `root` is the root's path; the work tree around it is looked at here, once, unless nobody `obey`s.
  ignore_files(const std::string& root, bool obey, log_line log);

  /// The stack of the root itself. `folder` is a handle on it; O_PATH is enough here and below.
  [[nodiscard]] ignore::stack at_root(int folder);
  /// The stack of the folder `name` right below the folder of `above`.
  [[nodiscard]] ignore::stack below(const ignore::stack& above, int folder, std::string_view name);

 private:
  [[nodiscard]] ignore::folder_rules rules_in(int folder, const std::string& prefix);
  [[nodiscard]] ignore::list_pointer load(int folder, const char* name, std::string source);
  [[nodiscard]] ignore::list_pointer unusable(std::string source, std::string why);
  /// Tells the log what is wrong with a list, each thing once.
  void report(const ignore::pattern_list& list);

  struct kept {
    std::string key;
    ignore::list_pointer list;
    std::size_t cost;
  };

  log_line log_;
  surroundings around_;
  std::mutex mutex_;
  std::list<kept> by_use_;  // latest first
  std::unordered_map<std::string, std::list<kept>::iterator> by_key_;
  std::size_t cost_ = 0;
  std::set<std::string, std::less<>> said_;
};

}  // namespace hondana::files

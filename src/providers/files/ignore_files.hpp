/// Loads and keeps the compiled ignore files of a root.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ignore/pattern_list.hpp"
#include "ignore/stack.hpp"
#include "providers/files/options.hpp"

namespace hondana::files {

/// A bounded cache of compiled ignore files, each kept until its file changes.
///
/// Like git, it follows no links: an ignore file that is one, or that is no regular file, does not count. What cannot be read
/// is said in the log and does not count either. Threads: any, at once.
class ignore_files {
 public:
  explicit ignore_files(log_line log);

  /// The stack of the root itself. `folder` is a handle on it; O_PATH is enough here and below.
  [[nodiscard]] ignore::stack at_root(int folder);
  /// The stack of the folder `name` right below the folder of `above`.
  [[nodiscard]] ignore::stack below(const ignore::stack& above, int folder, std::string_view name);

 private:
  [[nodiscard]] ignore::folder_rules rules_in(int folder, const std::string& prefix);
  [[nodiscard]] ignore::list_pointer load(int folder, const char* name, std::string source);
  [[nodiscard]] ignore::list_pointer compile(int file, std::string source);

  struct kept {
    std::string key;
    ignore::list_pointer list;
    std::size_t cost;
  };

  log_line log_;
  std::mutex mutex_;
  std::list<kept> by_use_;  // latest first
  std::unordered_map<std::string, std::list<kept>::iterator> by_key_;
  std::size_t cost_ = 0;
};

}  // namespace hondana::files

/// Options of the files provider: roots, exclusions, priorities and limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/resource.hpp>

namespace hondana::files {

/// Sets the annotations of the files that match a pattern.
struct priority_rule {
  std::string pattern;              ///< In gitignore syntax, relative to the root.
  std::optional<double> priority;   ///< 0.0 to 1.0; absent: the built-in one applies.
  std::vector<chat_role> audience;  ///< Empty: not stated.
};

/// One folder to serve.
struct root_options {
  std::string path;                  ///< As the user wrote it; may be relative, and a symbolic link.
  bool show_hidden = false;          ///< Serve names that begin with a dot. Secrets and version control data stay denied.
  bool obey_ignore_files = true;     ///< Obey `.gitignore`, `.hondanaignore` and `.git/info/exclude`.
  bool redact = true;                ///< Mask secrets in contents.
  std::vector<std::string> allow;    ///< gitignore patterns; a match is served even if other rules deny it.
  std::vector<std::string> exclude;  ///< gitignore patterns of files that are never served, unless allowed.
  /// Absolute paths, with links resolved, of the server's own files. They are never served under any name, nor are their locks,
  /// older versions and copies. `allow` does not change that.
  std::vector<std::string> own_files;
  std::vector<priority_rule> priorities;  ///< The last matching rule decides, before the built-in ones.
};

/// Receives one line for people. Threads: any.
using log_callback = std::function<void(std::string_view)>;

/// Options of the whole provider.
struct options {
  std::vector<root_options> roots;
  std::uint64_t folder_budget_bytes = 64 * 1024;  ///< Bytes of files sent along with a folder; 0 sends the listing only.
  /// A list older than this starts a new walk in the background.
  std::chrono::milliseconds refresh_interval{2000};
  bool watches = true;                          ///< Whether the kernel reports changes. Otherwise requests find them.
  std::size_t max_watched_folders = 1'000'000;  ///< A root with more is polled instead.
  std::size_t max_entries = 5'000'000;          ///< Further entries are not listed, and the log says so.
  std::size_t max_depth = 256;                  ///< Levels of nested folders that are walked.
  bool portable = false;                        ///< Resolve paths without `openat2`, as on kernels before 5.6.
  log_callback log;                             ///< Progress and failures; may be empty.
};

}  // namespace hondana::files

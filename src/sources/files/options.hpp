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

/// Sets the annotations of the files that match a pattern, and of everything in the folders that do.
struct priority_rule {
  std::string pattern;              ///< In gitignore syntax, relative to the root.
  std::optional<double> priority;   ///< 0.0 to 1.0; absent: the built-in one applies.
  std::vector<chat_role> audience;  ///< Empty: not stated.
};

/// One folder to serve.
struct root_options {
  std::string path;               ///< As the user wrote it; may be relative, and a symbolic link.
  bool show_hidden = false;       ///< Serve names that begin with a dot, unless they are secrets or version control data.
  bool obey_ignore_files = true;  ///< Obey `.gitignore`, `.hondanaignore` and `.git/info/exclude`.
  bool redact = true;             ///< Mask secrets in contents.
  /// gitignore patterns. A match is served even if it is hidden, a secret, version control data, excluded or ignored. The
  /// folders above it must be served, too.
  std::vector<std::string> allow;
  std::vector<std::string> exclude;  ///< gitignore patterns of files and folders that are not served, unless `allow` matches.
  /// Absolute paths, with links resolved, of the server's own files. They are never served under any name, nor are their locks,
  /// older versions and copies, even if `allow` matches.
  std::vector<std::string> own_files;
  std::vector<priority_rule> priorities;  ///< The last matching rule decides; without one, the built-in rules.
};

/// Receives one line for people. Threads: any.
using log_callback = std::function<void(std::string_view)>;

/// Options of the whole provider.
struct options {
  std::vector<root_options> roots;
  std::uint64_t folder_budget_bytes = 64 * 1024;  ///< Bytes of files sent along with a folder; 0 sends the listing only.
  /// Age at which a listing expires if changes are not watched, and interval of polling.
  std::chrono::milliseconds refresh_interval{2000};
  bool watches = true;                          ///< Whether to watch the folders with inotify. If not, only walks find changes.
  std::size_t max_watched_folders = 1'000'000;  ///< In all roots together. A root that needs more is polled instead.
  std::size_t max_entries = 5'000'000;          ///< Further entries are not listed, and the log says so.
  std::size_t max_depth = 256;                  ///< Nested folders that are walked, including the root.
  bool portable = false;                        ///< Resolve paths without `openat2`, as on kernels before 5.6.
  log_callback log;                             ///< Progress and failures; may be empty.
};

}  // namespace hondana::files

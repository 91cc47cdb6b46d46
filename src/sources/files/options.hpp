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

/// Gives the files a pattern matches their annotations.
struct priority_rule {
  std::string pattern;             ///< In gitignore syntax, relative to the root.
  std::optional<double> priority;  ///< 0.0 to 1.0; absent: the built-in one stays.
  std::vector<role> audience;      ///< Empty: not stated.
};

/// One folder to serve.
struct root_options {
  std::string path;                  ///< As the user wrote it; may be relative, and a symbolic link.
  bool show_hidden = false;          ///< Serve names that begin with a dot (secrets and version control data stay denied).
  bool obey_ignore_files = true;     ///< `.gitignore`, `.hondanaignore` and `.git/info/exclude`.
  bool redact = true;                ///< Mask secrets in what is read.
  std::vector<std::string> allow;    ///< gitignore patterns; what one matches is served whatever else would deny it.
  std::vector<std::string> exclude;  ///< gitignore patterns of what is never served, unless allowed.
  /// Absolute paths of what the server itself keeps, links resolved: never served under any name, nor the locks, older files
  /// and copies beside it, whatever `allow` says.
  std::vector<std::string> kept_back;
  std::vector<priority_rule> priorities;  ///< The last rule that matches decides; then the built-in ones.
};

/// Takes one line for people. Threads: any.
using log_line = std::function<void(std::string_view)>;

struct options {
  std::vector<root_options> roots;
  std::uint64_t folder_budget = 64 * 1024;  ///< Bytes of files sent along with a folder; 0 sends the listing only.
  /// A list older than this starts a new walk behind it.
  std::chrono::milliseconds refresh_after{2000};
  bool watches = true;  ///< Whether the kernel is asked to tell of changes; otherwise they show when somebody asks.
  std::size_t max_watched = 1'000'000;  ///< Folders; a root with more is looked at instead.
  std::size_t max_entries = 5'000'000;  ///< What lies beyond is not listed, and the log says so.
  std::size_t max_depth = 256;          ///< Folders within folders that are walked.
  bool portable = false;                ///< Resolve paths without `openat2`, as on kernels before 5.6.
  log_line log;                         ///< Progress and trouble; may be empty.
};

}  // namespace hondana::files

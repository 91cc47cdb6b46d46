/// Decides which files of a root are served: hidden names, secrets, exclusions and ignore files.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/gitignore.hpp"
#include "os/disk/private_file.hpp"
#include "sources/files/options.hpp"

namespace hondana::files {

/// Why a path is left out.
enum class denial_reason : std::uint8_t {
  none,             ///< It is served.
  own_file,         ///< A file of the server itself, such as its configuration or a token file.
  version_control,  ///< Data of a version control system, such as `.git`, or a bare git repository.
  secret,           ///< The name suggests a secret.
  hidden,           ///< The name begins with a dot.
  excluded,         ///< It matches `root_options::exclude`.
  ignored           ///< It matches a pattern of an ignore file, or an ignore file cannot be applied.
};

/// The decision about one path. Its views are valid as long as that path, the rules and the stack of ignore files.
struct serving_decision {
  denial_reason reason = denial_reason::none;
  std::string_view pattern;  ///< The pattern that matched, as written; for `version_control`, the name. May be empty.
  std::string_view note;     ///< For `secret`: the kind of secret.
  std::string_view source;   ///< For `ignored`: the ignore file, relative to the root.
  std::size_t line = 0;      ///< For `ignored`: the line of the pattern, from 1; 0: no pattern matched.
  std::string_view error;    ///< For `ignored`: why the ignore file cannot be applied, so that the path is left out.
  std::uint64_t steps = 0;   ///< The number of steps that matching ignore files took.

  [[nodiscard]] bool is_served() const noexcept { return reason == denial_reason::none; }
};

/// The decision in words: "ignored by src/.gitignore:3 `*.o`", "secret: `.env*` (…)", "hidden", "served".
[[nodiscard]] std::string to_text(const serving_decision& decision);

/// The rules of one root. Immutable. Threads: any.
///
/// They are applied in the order of `denial_reason`; the first that denies a path decides. A match of `root_options::allow`
/// overrides all of them except `own_file`.
class serving_rules {
 public:
  /// `root`: the absolute path of the folder, without links. Errors: invalid_argument for a pattern that cannot match, naming
  /// it and its option.
  [[nodiscard]] static result<serving_rules> make(const root_options& options, std::string_view root);

  /// Decides about `path` (relative to the root, not empty). The caller must have decided about each folder above it before.
  ///
  /// `is_folder`: false for a link, also to a folder. `ignored_by`: the stack of the folder that contains `path`. `max_steps`:
  /// limit of steps for matching ignore files. Beyond it, the path counts as ignored.
  [[nodiscard]] serving_decision decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by,
                                        std::uint64_t max_steps = ignore::max_match_steps) const;

  /// As `decide`, but without ignore files. For a requested path that leads through links, whose real path `decide` judges.
  /// `is_folder`: true also for a link to a folder.
  [[nodiscard]] serving_decision decide_name(std::string_view path, bool is_folder) const;

  /// Whether a pattern of `root_options::allow` matches this path. Folders above it are not considered.
  [[nodiscard]] bool allows(std::string_view path, bool is_folder) const noexcept;

  /// Whether a file is a hard link to one of the server's own files. `decide` finds these files only by their names.
  [[nodiscard]] bool is_own_file(const struct stat& attributes) const noexcept { return own_files_.is_hard_link(attributes); }

  [[nodiscard]] bool obeys_ignore_files() const noexcept { return obeys_ignore_files_; }

 private:
  /// Decides by everything except own files, ignore files and `allow`.
  [[nodiscard]] serving_decision check_name(std::string_view path, bool is_folder) const;

  disk::own_files own_files_;
  ignore::pattern_list allow_;
  ignore::pattern_list exclude_;
  bool show_hidden_ = false;
  bool obeys_ignore_files_ = true;
};

/// Compiles gitignore patterns. `option`: their name in errors. Errors: invalid_argument for a pattern that is empty, contains
/// a line break or NUL, or cannot match, and for too many patterns.
[[nodiscard]] result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns,
                                                            const std::string& option);

/// The ignore files outside a root that git applies to it.
struct outer_ignore_files {
  /// For a root below the top of a work tree: its `info/exclude`, and the `.gitignore` files from the top to the parent of the
  /// root. The last has precedence.
  std::vector<ignore::outer_rules> rules;
  /// For a root that is the top of a work tree, but whose `.git` is not a folder: the tree's `info/exclude`. Null: any other
  /// root, or the file is missing.
  ignore::list_pointer exclude;
};

/// Reads the ignore files of the work tree that contains a root. Empty if there is no work tree. `root`: an absolute path free
/// of links.
///
/// Like git, it looks for the nearest folder whose `.git` is a git directory, or a file that names one. Patterns that match the
/// root itself or a folder above it have no effect, because the configuration names the root. An ignore file that is a link is
/// skipped; one that cannot be read excludes everything.
[[nodiscard]] outer_ignore_files find_outer_ignore_files(const std::string& root);

/// Reads and compiles an ignore file. Never null: after an error, the list is incomplete and has the reason. `file`: its
/// descriptor. `source`: its name in messages.
[[nodiscard]] ignore::list_pointer compile_ignore_file(int file, std::string source);

/// Makes stacks of the ignore files of a root, and caches the compiled files. A cached file is used until its stamp changes.
///
/// Like git, it skips an ignore file that is a link. A file excludes everything in its folder if it cannot be read or compiled
/// completely, or is not a regular file; the log says so. Threads: any, concurrently. `root_stack` and `child_stack` throw
/// std::system_error when descriptors or memory run out.
class ignore_file_cache {
 public:
  /// `root`: the root's absolute path. `obeys`: whether to read the outer ignore files, which happens only here. `log`: may be
  /// empty.
  ignore_file_cache(const std::string& root, bool obeys, log_callback log);

  /// The stack of the root: its ignore files, its `.git/info/exclude`, and the outer ignore files. `folder`: a handle of the
  /// root; O_PATH suffices.
  [[nodiscard]] ignore::stack root_stack(int folder);
  /// The stack of the folder `name` directly below the folder of `parent`. `folder`: a handle of the child; O_PATH suffices. In
  /// the top folder of a nested repository, its `info/exclude` applies, if its git directory is below the root. If the stack
  /// needs over 32 MiB, it excludes everything in the child.
  [[nodiscard]] ignore::stack child_stack(const ignore::stack& parent, int folder, std::string_view name);

 private:
  /// `prefix`: the path of the folder below the root, with a trailing slash; empty: the root.
  [[nodiscard]] ignore::folder_rules load_rules(int folder, const std::string& prefix);
  /// The `info/exclude` of the repository whose top is this folder. Null: it is not the top of a repository, or has none.
  [[nodiscard]] ignore::list_pointer load_exclude(int folder, const std::string& prefix);
  /// Returns null if the file does not exist, is a link, or is in a folder without search permission.
  [[nodiscard]] ignore::list_pointer load(int folder, const char* name, std::string source);
  /// Makes a list that excludes everything, and logs `reason`.
  [[nodiscard]] ignore::list_pointer make_unusable(std::string source, std::string reason);
  /// Logs the problems of a list, each once.
  void log_warnings(const ignore::pattern_list& list);

  struct cached_list {
    std::string key;  // the stamp of the file, and its name
    ignore::list_pointer list;
    std::size_t cost;  // approximate memory use in bytes
  };

  const std::string root_;
  log_callback log_;
  outer_ignore_files outer_files_;
  std::mutex mutex_;
  std::list<cached_list> by_use_;  // most recently used first
  std::unordered_map<std::string, std::list<cached_list>::iterator> by_key_;
  std::size_t cost_ = 0;
  std::set<std::string, std::less<>> logged_warnings_;
};

}  // namespace hondana::files

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
enum class denial_reason : std::uint8_t { none, own_file, version_control, secret, hidden, excluded, ignored };

/// The decision about one path. Its views are valid as long as the rules and the stack that it was made from.
struct serving_decision {
  denial_reason reason = denial_reason::none;
  std::string_view pattern;  ///< The pattern that matched, as written.
  std::string_view note;     ///< For a secret: what it is.
  std::string_view source;   ///< The ignore file, relative to the root.
  std::size_t line = 0;      ///< Its line, from 1.
  std::string_view error;    ///< Why the ignore file cannot be applied, so that everything in its reach is left out.
  std::uint64_t steps = 0;   ///< The number of steps that matching ignore files took.

  [[nodiscard]] bool is_served() const noexcept { return reason == denial_reason::none; }
};

/// The decision in words: "ignored by src/.gitignore:3 `*.o`", "secret: `.env*` (…)", "hidden".
[[nodiscard]] std::string to_text(const serving_decision& decision);

/// The rules of one root. Immutable. Threads: any.
class serving_rules {
 public:
  /// `root`: the absolute path of the folder, without links. Errors: invalid_argument, naming the option and the pattern that
  /// cannot match.
  [[nodiscard]] static result<serving_rules> make(const root_options& options, std::string_view root);

  /// Decides about `path` (relative to the root, not empty) alone. The caller has entered its folders, so each of them is
  /// served. `ignored_by`: the ignore files down to the path's folder. `max_steps` limits the work of matching them. A link is
  /// not a folder.
  [[nodiscard]] serving_decision decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by,
                                        std::uint64_t max_steps = ignore::max_match_steps) const;

  /// Decides by names alone, without ignore files, about a path that leads through links to another place. Here a link to a
  /// folder is a folder.
  [[nodiscard]] serving_decision decide_name(std::string_view path, bool is_folder) const;

  /// Whether the configuration explicitly allows this path.
  [[nodiscard]] bool allows(std::string_view path, bool is_folder) const noexcept;

  /// Whether a file is one of the server's own, even under another name.
  [[nodiscard]] bool is_own_file(const struct stat& attributes) const noexcept { return own_files_.is_hard_link(attributes); }

  [[nodiscard]] bool obeys_ignore_files() const noexcept { return obeys_ignore_files_; }

 private:
  [[nodiscard]] serving_decision check_name(std::string_view path, bool is_folder) const;

  disk::own_files own_files_;
  ignore::pattern_list allow_;
  ignore::pattern_list exclude_;
  bool show_hidden_ = false;
  bool obeys_ignore_files_ = true;
};

/// Joins patterns into the text of an ignore file and compiles it. Errors: invalid_argument, naming `option`, for a pattern
/// that is empty, contains a line break, or cannot match.
[[nodiscard]] result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns,
                                                            const std::string& option);

/// Ignore files outside a root that git applies to it. Read once, when the root is opened.
struct outer_ignore_files {
  /// The `info/exclude` of the work tree and its `.gitignore` files above the root; the weakest first.
  std::vector<ignore::outer_rules> rules;
  /// `info/exclude` of a root that is the top of a work tree with its git directory elsewhere; null otherwise.
  ignore::list_pointer exclude;
};

/// Finds the work tree that contains a root, which is an absolute path free of links.
///
/// Like git, it takes a folder for the top if its `.git` is a git directory, or a file that names one. A root that is itself
/// ignored is served nevertheless, because the configuration names it. A `.gitignore` that is a link is skipped; one that
/// cannot be read excludes everything.
[[nodiscard]] outer_ignore_files find_outer_ignore_files(const std::string& root);

/// Compiles an ignore file. On an error the list is incomplete and says why.
[[nodiscard]] ignore::list_pointer compile_ignore_file(int file, std::string source);

/// A bounded cache of compiled ignore files. Each is valid until its file changes.
///
/// Like git, it does not follow links: an ignore file that is a link is skipped. A file excludes everything in its folder if it
/// cannot be read or compiled completely, or is not a regular file; the log says so. Threads: any, concurrently. `root_stack`
/// and `child_stack` throw std::system_error when descriptors or memory run out.
class ignore_file_cache {
 public:
  /// `root`: the root's path. The work tree around it is read here, once, if `obeys`.
  ignore_file_cache(const std::string& root, bool obeys, log_callback log);

  /// The stack of the root itself. `folder`: a handle of it; O_PATH suffices here and in `child_stack`.
  [[nodiscard]] ignore::stack root_stack(int folder);
  /// The stack of the folder `name` directly below the folder of `parent`.
  [[nodiscard]] ignore::stack child_stack(const ignore::stack& parent, int folder, std::string_view name);

 private:
  [[nodiscard]] ignore::folder_rules load_rules(int folder, const std::string& prefix);
  [[nodiscard]] ignore::list_pointer load(int folder, const char* name, std::string source);
  [[nodiscard]] ignore::list_pointer make_unusable(std::string source, std::string reason);
  /// Logs the problems of a list, each once.
  void log_warnings(const ignore::pattern_list& list);

  struct cached_list {
    std::string key;
    ignore::list_pointer list;
    std::size_t cost;
  };

  log_callback log_;
  outer_ignore_files outer_files_;
  std::mutex mutex_;
  std::list<cached_list> by_use_;  // most recently used first
  std::unordered_map<std::string, std::list<cached_list>::iterator> by_key_;
  std::size_t cost_ = 0;
  std::set<std::string, std::less<>> logged_warnings_;
};

}  // namespace hondana::files

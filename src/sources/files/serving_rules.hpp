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

// What of a root is served: hidden names, version control data, secrets, exclusions, ignore files, and what is allowed after
// all.

namespace hondana::files {

/// Why a path is left out.
enum class denial : std::uint8_t { none, kept_back, version_control, secret, hidden, excluded, ignored };

/// The decision about one path. Its views live as long as the rules and the stack it was made from.
struct ruling {
  denial why = denial::none;
  std::string_view pattern;  ///< What matched, as written.
  std::string_view note;     ///< What a secret is.
  std::string_view source;   ///< The ignore file, relative to the root.
  std::size_t line = 0;      ///< Its line, from 1.
  std::string_view fault;    ///< Why the ignore file cannot be obeyed, and so leaves out everything.
  std::uint64_t steps = 0;   ///< What matching ignore files took.

  [[nodiscard]] bool is_served() const noexcept { return why == denial::none; }
};

/// The decision in words: "ignored by src/.gitignore:3 `*.o`", "secret: `.env*` (…)", "hidden".
[[nodiscard]] std::string to_text(const ruling& decision);

/// The rules of one root. Threads: immutable, any number may ask at once.
class rules {
 public:
  /// `root`: the absolute path of the folder, without links. Errors: invalid_argument naming the option and the pattern that
  /// cannot match.
  [[nodiscard]] static result<rules> make(const root_options& from, std::string_view root);

  /// Decides about `path` (relative to the root, not empty) alone: whoever asks has entered its folders, so each of them was
  /// served. `ignored_by` holds the ignore files down to the path's folder; it gets `most_steps`. A link is no folder.
  [[nodiscard]] ruling decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by,
                              std::uint64_t most_steps = ignore::most_steps) const;

  /// Decides by names alone, without ignore files, about a path that leads over links to something elsewhere: a link that
  /// leads to a folder is a folder here.
  [[nodiscard]] ruling decide_name(std::string_view path, bool is_folder) const;

  /// Whether the configuration brings this very path back.
  [[nodiscard]] bool allows(std::string_view path, bool is_folder) const noexcept;

  /// Whether it is a file that is kept back, whatever it is called here.
  [[nodiscard]] bool is_kept_back(const struct stat& facts) const noexcept { return own_.is_one(facts); }

  [[nodiscard]] bool obey_ignore_files() const noexcept { return obey_ignore_files_; }

 private:
  [[nodiscard]] ruling deny_name(std::string_view path, bool is_folder) const;

  disk::own_files own_;
  ignore::pattern_list allow_;
  ignore::pattern_list exclude_;
  bool show_hidden_ = false;
  bool obey_ignore_files_ = true;
};

/// Joins patterns to the text of an ignore file and compiles it. Errors: invalid_argument naming `option` for a pattern that
/// is empty, spans lines, or can match nothing.
[[nodiscard]] result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns,
                                                            const std::string& option);

/// What git obeys for a folder besides the ignore files in it. Read once, when the root is opened.
struct surroundings {
  /// The `.gitignore` files of the work tree above the root, and before them its `info/exclude`; the weakest first.
  std::vector<ignore::outer_rules> outer;
  /// `info/exclude` of a root that is itself the top of a work tree whose git directory is elsewhere; null otherwise.
  ignore::list_pointer exclude;
};

/// Looks from a root, an absolute path free of links, up to the top of the work tree that holds it, if one does.
///
/// As git does, it takes a folder for the top when it has a `.git` that is a git directory or a file that names one. A root
/// that is ignored itself is not looked at differently: who serves it wants it served. A `.gitignore` that is a link does not
/// count; one that cannot be read leaves out all.
[[nodiscard]] surroundings surroundings_of(const std::string& root);

/// Compiles an ignore file. Errors are a list that is not complete and says why.
[[nodiscard]] ignore::list_pointer compile_ignore_file(int file, std::string source);

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

/// Ignore files: compiled patterns, and the stack of files that apply to a folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore/glob.hpp"

namespace hondana::ignore {

/// Maps texts to the last pattern of an ignore file that consists of this text, without wildcards.
///
/// Sorted, not hashed, because the texts come from the served folder: no choice of texts can make a search slow.
/// Lifetime: stores views of the added texts. Threads: immutable after `build`.
class literal_table {
 public:
  /// Adds a pattern. `ordinal`: the number of the pattern in its file, from 1. `folders_only`: it matches only folders.
  void add(std::string_view text, std::uint32_t ordinal, bool folders_only);

  /// Sorts the table. Must be called after the last `add` and before `find` and `find_suffix`.
  void build();

  /// Approximate memory use in bytes, without the object itself.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return entries_.capacity() * sizeof(entry) + groups_.capacity() * sizeof(group);
  }

  /// The highest ordinal of a pattern that equals `text`; 0 if there is none.
  [[nodiscard]] std::uint32_t find(std::string_view text, bool is_directory) const noexcept;

  /// The highest ordinal of a pattern that is a suffix of `text`; 0 if there is none.
  [[nodiscard]] std::uint32_t find_suffix(std::string_view text, bool is_directory) const noexcept;

 private:
  struct entry {
    std::string_view text;
    std::uint32_t last_for_any;      // the highest ordinal of patterns for files and folders; 0: none
    std::uint32_t last_for_folders;  // the highest ordinal of patterns for folders only; 0: none
  };
  /// The entries whose texts have the same length.
  struct group {
    std::size_t length;
    std::size_t first;
    std::size_t last;
  };

  [[nodiscard]] std::uint32_t find_in(const group& candidates, std::string_view text, bool is_directory) const noexcept;

  std::vector<entry> entries_;
  std::vector<group> groups_;
};

/// The default limit of steps (`match_result::steps`) for the decision about one path. 20 000 ordinary wildcard patterns need
/// fewer.
inline constexpr std::uint64_t max_match_steps = 1'000'000;

/// What an ignore file says about a path.
enum class decision {
  none,      ///< No pattern matches.
  ignored,   ///< The last pattern that matches ignores the path.
  included,  ///< The last pattern that matches begins with `!`.
};

/// The decision of one ignore file about a path.
struct match_result {
  decision outcome = decision::none;
  std::size_t line = 0;      ///< The line of the deciding pattern, from 1; 0 if no pattern matches.
  std::string_view pattern;  ///< The deciding pattern as written, without unquoted trailing spaces. Valid as long as the list.
  std::uint64_t steps = 0;   ///< The number of wildcard patterns tried, plus the number of bytes examined for them.
  bool exceeded_limit = false;  ///< Matching needed too many steps and was given up. `outcome` is then `ignored`.
};

/// The patterns of one ignore file: `.gitignore`, `.hondanaignore` or `info/exclude`.
///
/// Matching compares bytes and is case-sensitive, also if git's core.ignoreCase is set. Names need not be UTF-8.
/// Threads: immutable, any number may match at once. Source: gitignore(5), and otherwise the behavior of git 2.39.
class pattern_list {
 public:
  /// A complete list without patterns.
  pattern_list() = default;
  pattern_list(pattern_list&&) noexcept = default;
  pattern_list& operator=(pattern_list&&) noexcept = default;
  pattern_list(const pattern_list&) = delete;
  pattern_list& operator=(const pattern_list&) = delete;
  ~pattern_list() = default;

  /// Compiles the text of an ignore file. Never fails: as in git, a malformed pattern matches nothing.
  ///
  /// A leading UTF-8 byte order mark is skipped. Lines end in LF or CRLF. A NUL byte ends the pattern of its line.
  /// Limits: the first 1 MiB of the text (whole lines), lines of up to 4096 bytes, 50 000 patterns, and 8 MiB of compiled
  /// patterns.
  /// `source`: the name of the file in warnings and verdicts, preferably a path relative to the root.
  [[nodiscard]] static pattern_list parse(std::string_view text, std::string source = {});

  /// Makes a list for a file that exists but cannot be read: without patterns and not complete.
  /// `reason`: why, as a message for people.
  [[nodiscard]] static pattern_list unusable(std::string source, std::string reason);

  /// Decides about `path`, which is relative to the folder of the file, without `/` at either end and without `.` segments.
  /// `is_directory`: whether the path is a folder and not a link to one.
  /// Parent folders of the path are not considered: `build/` does not match `build/x`. Gives up after `max_steps` steps.
  [[nodiscard]] match_result match(std::string_view path, bool is_directory,
                                   std::uint64_t max_steps = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  [[nodiscard]] const std::string& source() const noexcept { return source_; }

  /// Messages about patterns that a limit excluded or that are malformed, with source and line.
  /// The first 100, then one with the number of the others.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// False if a limit excluded patterns, or the file could not be read. Then `match` includes too much, and callers must fail
  /// closed, as `stack` does.
  [[nodiscard]] bool is_complete() const noexcept { return error_.empty(); }

  /// Why the list is not complete, as a message for people; empty if it is complete.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  /// Approximate memory use in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// The number of patterns in use.
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }

 private:
  struct rule {
    std::string_view text;
    std::uint32_t line;
    bool is_negated;
  };
  struct wildcard_rule {
    glob pattern;
    std::uint32_t ordinal;
    bool folders_only;
    bool name_only;  ///< The pattern is compared with the last segment of the path only.
  };

  void add(std::string_view rule_text, std::size_t line);
  void add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only);
  void mark_incomplete(std::string message);
  void warn(std::string message);

  std::string source_;
  std::vector<char> text_;  // all views below refer to it; a vector, because moving it does not move its bytes
  std::vector<rule> rules_;
  literal_table names_;
  literal_table paths_;
  literal_table suffixes_;  // patterns of the form `*literal`, by their literal
  std::vector<wildcard_rule> wildcards_;
  std::vector<std::string> warnings_;
  std::size_t omitted_warnings_ = 0;
  std::string error_;
  std::size_t wildcard_bytes_ = 0;
};

/// A compiled ignore file, shared by all folders below its own; null if the file does not exist.
using list_pointer = std::shared_ptr<const pattern_list>;

/// The ignore files of one folder. Callers must not follow symbolic links to them, as git does not.
struct folder_rules {
  list_pointer git;      ///< `.gitignore`.
  list_pointer hondana;  ///< `.hondanaignore`: same syntax, takes precedence over the `.gitignore` of the same folder.
};

/// The decision about a path, and the file and line that caused it. The views are valid as long as the stack.
struct verdict {
  decision outcome = decision::none;
  std::string_view source;        ///< The name of the deciding file, as given to `pattern_list::parse`. Empty: no file decided.
  std::size_t line = 0;           ///< The line of the deciding pattern, from 1; 0 if no pattern decided.
  std::string_view pattern;       ///< The deciding pattern as written.
  std::size_t matched_bytes = 0;  ///< Length of the path decided about: shorter than `path` if it is a parent folder of it.
  std::string_view error;         ///< Why `source` cannot be applied, and ignores the path for that reason. Usually empty.
  std::uint64_t steps = 0;        ///< The number of steps that the decision about `matched_bytes` of the path took.

  [[nodiscard]] bool is_ignored() const noexcept { return outcome == decision::ignored; }
};

/// An ignore file of a folder above the root.
struct outer_rules {
  std::string root_path;  ///< The path of the root relative to that folder; not empty.
  list_pointer list;
};

/// An immutable chain of ignore files, from a root folder down to one of its subfolders. Copying and extending it is cheap.
///
/// Precedence, highest first:
/// - `.hondanaignore` of the deepest folder, then its `.gitignore`.
/// - The same files of each parent folder up to the root.
/// - `.git/info/exclude` of the root. That of a nested repository comes after the files of its folder.
/// - The files of folders above the root, if the caller passes them.
///
/// The first file with a matching pattern decides, by its last such pattern.
/// Not used are git's core.excludesFile, because it depends on the user.
///
/// Fails closed: an incomplete file ignores everything below its folder, unless a file of a deeper folder decides. A decision
/// that would take too many steps is `ignored`.
///
/// Does no I/O. Threads: any number may use and extend one stack at once.
class stack {
 public:
  /// A root folder without ignore files.
  stack() = default;
  /// A root folder. `info_exclude`: `.git/info/exclude`, or null.
  /// `outer`: the ignore files of the folders above the root, lowest precedence first.
  explicit stack(folder_rules rules, list_pointer info_exclude = {}, const std::vector<outer_rules>& outer = {});

  /// Returns the stack for a direct subfolder. `rules`: the subfolder's own files. `info_exclude`: `.git/info/exclude` if the
  /// subfolder is the top of a nested repository, or null.
  /// Callers must not enter an ignored folder, because `decide` could include its contents again.
  [[nodiscard]] stack child(std::string_view folder_name, folder_rules rules = {}, list_pointer info_exclude = {}) const;

  /// The path of the deepest folder relative to the root; empty for the root itself.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  /// Decides about `path` alone. The caller must have checked that its parent folders are not ignored.
  ///
  /// `path` is relative to the root, without `/` at either end and without `.` segments. Files of folders that do not contain
  /// it are not considered. `is_directory`: whether the path is a folder and not a link to one.
  /// `max_steps`: the step limit for all files together.
  [[nodiscard]] verdict decide(std::string_view path, bool is_directory, std::uint64_t max_steps = max_match_steps) const;

  /// Decides about each parent folder of `path` from the root down, then about `path` itself. The first ignored one decides.
  /// The stack must contain the folders of the path, at least down to the first ignored one.
  [[nodiscard]] verdict decide_full(std::string_view path, bool is_directory) const;

  /// Approximate memory use of its lists in bytes. A list that occurs twice counts twice.
  [[nodiscard]] std::size_t bytes() const noexcept { return innermost_ ? innermost_->bytes : 0; }

 private:
  /// The files of one folder. Folders without files have no level.
  struct level {
    std::shared_ptr<const level> parent;
    std::string folder;
    std::string root_path;              ///< For a folder above the root: the path of the root relative to it.
    std::array<list_pointer, 3> lists;  ///< Highest precedence first; null if missing.
    std::size_t bytes;                  ///< Of this level and all levels above.
  };
  void push(std::string folder, std::string root_path, std::array<list_pointer, 3> lists);

  std::string folder_;
  std::shared_ptr<const level> innermost_;
};

}  // namespace hondana::ignore

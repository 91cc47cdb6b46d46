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

/// Maps literal texts to the last pattern of a file that has each text.
///
/// Sorted, not hashed, because the texts come from the served folder: no choice of texts can make a search slow.
/// Lifetime: holds views of the added texts. Threads: immutable after `build`.
class literal_table {
 public:
  /// Adds a pattern. `ordinal` counts patterns from 1 in file order and must not decrease between calls.
  void add(std::string_view text, std::uint32_t ordinal, bool folders_only);

  /// Sorts the table. Searches are valid only after this call.
  void build();

  /// Approximate memory use in bytes, without the object itself.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return entries_.capacity() * sizeof(entry) + groups_.capacity() * sizeof(group);
  }

  /// The highest ordinal whose text equals `text`; 0 when there is none. Patterns for folders only match folders.
  [[nodiscard]] std::uint32_t find(std::string_view text, bool is_directory) const noexcept;

  /// The highest ordinal whose text is a suffix of `text`; 0 when there is none.
  [[nodiscard]] std::uint32_t find_suffix(std::string_view text, bool is_directory) const noexcept;

 private:
  struct entry {
    std::string_view text;
    std::uint32_t last_for_any;
    std::uint32_t last_for_folders;
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

/// The most steps that one decision about one path may take. 20 000 ordinary wildcard patterns need fewer.
inline constexpr std::uint64_t max_match_steps = 1'000'000;

/// What an ignore file says about a path.
enum class decision {
  none,      ///< No pattern matches.
  ignored,   ///< The last pattern that matches ignores the path.
  included,  ///< The last pattern that matches begins with `!`.
};

/// The decision of one ignore file.
struct match_result {
  decision outcome = decision::none;
  std::size_t line = 0;         ///< The deciding line, from 1; 0 when no pattern matches.
  std::string_view pattern;     ///< As written, without line end and unquoted trailing spaces. Lives as long as the list.
  std::uint64_t steps = 0;      ///< The number of bytes that wildcard matching examined, plus the number of patterns tried.
  bool exceeded_limit = false;  ///< The step limit was exceeded: the result is unknown, and the outcome is `ignored`.
};

/// The patterns of one `.gitignore`, `.hondanaignore` or `info/exclude`.
///
/// Matching is by bytes and case-sensitive (core.ignoreCase is not read); names need not be UTF-8.
/// Threads: immutable, any number may match at once. Source: gitignore(5); where it is silent, the behavior of git 2.39.
class pattern_list {
 public:
  /// A file without patterns.
  pattern_list() = default;
  pattern_list(pattern_list&&) noexcept = default;
  pattern_list& operator=(pattern_list&&) noexcept = default;
  pattern_list(const pattern_list&) = delete;
  pattern_list& operator=(const pattern_list&) = delete;
  ~pattern_list() = default;

  /// Compiles the text of an ignore file. Never fails: as in git, a malformed pattern matches nothing.
  ///
  /// A leading UTF-8 byte order mark is skipped. Lines end in LF or CRLF. A NUL byte ends the pattern of its line.
  /// Caps: the first 1 MiB of the text (whole lines), lines of up to 4096 bytes, 50 000 patterns, and 8 MiB of compiled
  /// patterns.
  /// `source`: the name of the file in answers and warnings, preferably a path relative to the root.
  [[nodiscard]] static pattern_list parse(std::string_view text, std::string source = {});

  /// Represents a file that exists but cannot be read: it has no patterns and is not complete. `reason`: a reason for people.
  [[nodiscard]] static pattern_list unusable(std::string source, std::string reason);

  /// Decides about `path`, which is relative to the folder of the file, without `/` at either end and without `.` segments.
  /// A symbolic link is not a directory. Ancestors are not considered: `build/` does not match `build/x`.
  /// Gives up after `max_steps` steps.
  [[nodiscard]] match_result match(std::string_view path, bool is_directory,
                                   std::uint64_t max_steps = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  [[nodiscard]] const std::string& source() const noexcept { return source_; }

  /// Patterns skipped because of a cap and patterns that can never match, with source and line. The first 100, then a count.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// False when a cap excluded patterns or the file could not be read. More is then included than the author of the file
  /// intended.
  [[nodiscard]] bool is_complete() const noexcept { return error_.empty(); }

  /// Why the list is not complete, as a message for people; empty when it is complete.
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
    bool name_only;  ///< Matched against the last segment of the path only.
  };

  void add(std::string_view rule_text, std::size_t line);
  void add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only);
  void mark_incomplete(std::string message);
  void warn(std::string message);

  std::string source_;
  std::vector<char> text_;  // the text that all views below refer to; a vector, because moving one does not move its bytes
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

/// A compiled file, shared by all folders below its own; null if the file does not exist.
using list_pointer = std::shared_ptr<const pattern_list>;

/// The ignore files of one folder. git does not follow a `.gitignore` that is a symbolic link; callers should not either.
struct folder_rules {
  list_pointer git;      ///< `.gitignore`.
  list_pointer hondana;  ///< `.hondanaignore`: same syntax, takes precedence over the `.gitignore` of the same folder.
};

/// The decision about a path, and the file and line that caused it.
struct verdict {
  decision outcome = decision::none;
  std::string_view source;        ///< The name of the deciding file, as given to `pattern_list::parse`.
  std::size_t line = 0;           ///< From 1; 0 when no pattern matches.
  std::string_view pattern;       ///< As written. Both views live as long as the stack.
  std::size_t matched_bytes = 0;  ///< Length of the matched part of the path. Shorter than the path: an ancestor matched.
  std::string_view error;         ///< Why the source cannot be applied and therefore ignores everything. Empty otherwise.
  std::uint64_t steps = 0;        ///< The number of steps the decision took.

  [[nodiscard]] bool is_ignored() const noexcept { return outcome == decision::ignored; }
};

/// The ignore file of a folder above the root.
struct outer_rules {
  std::string root_path;  ///< The path of the root relative to that folder; not empty.
  list_pointer list;
};

/// An immutable chain of ignore files, from a root down to one folder. Copying and extending it is cheap.
///
/// Precedence, highest first:
/// - `.hondanaignore` of the deepest folder, then its `.gitignore`.
/// - The same files of each parent folder up to the root.
/// - `.git/info/exclude` of the root.
/// - The files of folders above the root, if the caller passes them.
///
/// The first file with a matching pattern decides, by its last such pattern.
/// The user's core.excludesFile is not read, because the served content must not depend on the user who runs the server.
/// `info/exclude` of nested repositories is not read either.
///
/// Fails closed: an incomplete file ignores everything below its folder, regardless of other files. A decision that would take
/// too many steps is `ignored`.
///
/// Does no I/O. Threads: any number may use and extend one stack at once.
class stack {
 public:
  /// A root without ignore files.
  stack() = default;
  /// The root folder. `info_exclude`: `.git/info/exclude`, or null.
  /// `outer`: the ignore files of the folders above the root, lowest precedence first.
  explicit stack(folder_rules rules, list_pointer info_exclude = {}, const std::vector<outer_rules>& outer = {});

  /// The stack for a direct subfolder; `rules` are the subfolder's own files.
  /// Callers must not descend into an ignored folder: its contents cannot be included again.
  [[nodiscard]] stack child(std::string_view folder_name, folder_rules rules = {}) const;

  /// The path of the folder relative to the root; empty for the root itself.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  /// Decides about `path` alone, for a walk that has already entered all of its ancestors.
  ///
  /// `path` is relative to the root, without `/` at either end and without `.` segments. Files of folders that do not contain
  /// it are not considered. A symbolic link is not a directory, even if its target is one.
  /// `max_steps`: the step limit for all lists together.
  [[nodiscard]] verdict decide(std::string_view path, bool is_directory, std::uint64_t max_steps = max_match_steps) const;

  /// Decides about each ancestor of `path` from the top, then about `path` itself. For a direct read by path.
  /// The stack must contain the folders on the path, at least down to the first ignored one.
  [[nodiscard]] verdict decide_full(std::string_view path, bool is_directory) const;

  /// Approximate memory use of its lists in bytes. A list that occurs twice counts twice.
  [[nodiscard]] std::size_t bytes() const noexcept { return innermost_ ? innermost_->bytes : 0; }

 private:
  /// The files of one folder that has any.
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

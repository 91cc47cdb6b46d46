/// Ignore files: their patterns, compiled, and the stack of files in force at a folder of a walk.
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
/// Sorted, not hashed: the texts come from the served folder, and no choice of them makes a search slow.
/// Lifetime: keeps views of the texts added. Threads: immutable once sealed.
class literal_table {
 public:
  /// Adds a pattern; `ordinal` counts patterns from 1 in file order and must not go down from call to call.
  void add(std::string_view text, std::uint32_t ordinal, bool folders_only);

  /// Sorts the table; searches are valid from here on.
  void seal();

  /// About how much memory it holds besides itself, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return entries_.capacity() * sizeof(entry) + groups_.capacity() * sizeof(group);
  }

  /// The highest ordinal whose text equals `text`, 0 when there is none. Patterns for folders only count for folders.
  [[nodiscard]] std::uint32_t find(std::string_view text, bool is_directory) const noexcept;

  /// The highest ordinal whose text `text` ends with, 0 when there is none.
  [[nodiscard]] std::uint32_t find_ending(std::string_view text, bool is_directory) const noexcept;

 private:
  struct entry {
    std::string_view text;
    std::uint32_t last_for_all;
    std::uint32_t last_for_folders;
  };
  /// The entries of one length.
  struct group {
    std::size_t length;
    std::size_t first;
    std::size_t last;
  };

  [[nodiscard]] std::uint32_t find_in(const group& among, std::string_view text, bool is_directory) const noexcept;

  std::vector<entry> entries_;
  std::vector<group> groups_;
};

/// How many steps one decision about one path may take; 20 000 ordinary wildcard patterns take fewer.
inline constexpr std::uint64_t most_steps = 1'000'000;

/// What an ignore file says about a path.
enum class decision {
  none,      ///< No pattern matches.
  ignored,   ///< The last pattern that matches ignores it.
  included,  ///< The last pattern that matches begins with `!`.
};

/// The answer of one file.
struct found {
  decision outcome = decision::none;
  std::size_t line = 0;      ///< The deciding line, from 1; 0 when no pattern matches.
  std::string_view pattern;  ///< As written, without line end and unquoted trailing spaces. Lives as long as the list.
  std::uint64_t steps = 0;   ///< Bytes that wildcard matching looked at and patterns it tried.
  bool gave_up = false;      ///< More steps than allowed: nothing is known, and the outcome is `ignored`.
};

/// The patterns of one `.gitignore`, `.hondanaignore` or `info/exclude`.
///
/// Threads: immutable, any number may match at once. Source: gitignore(5); where that is silent, what git 2.39 does. Case
/// matters (core.ignoreCase is not read), and so does every byte: names need not be UTF-8.
class pattern_list {
 public:
  /// A file without patterns.
  pattern_list() = default;
  pattern_list(pattern_list&&) noexcept = default;
  pattern_list& operator=(pattern_list&&) noexcept = default;
  pattern_list(const pattern_list&) = delete;
  pattern_list& operator=(const pattern_list&) = delete;
  ~pattern_list() = default;

  /// Compiles the text of an ignore file. Never fails: like git, a malformed pattern matches nothing.
  ///
  /// A leading UTF-8 byte order mark is skipped, lines end in LF or CRLF, and a NUL byte ends its line's pattern.
  /// Of the text, 1 MiB is used (whole lines), of its lines those of up to 4096 bytes, of its patterns 50 000, and of those as
  /// many as compile to 8 MiB.
  /// `source` names the file in answers and warnings, best as a path relative to the root.
  [[nodiscard]] static pattern_list parse(std::string_view text, std::string source = {});

  /// Stands for a file that is there but cannot be read: it has no patterns and is not complete. `why` is for people.
  [[nodiscard]] static pattern_list unusable(std::string source, std::string why);

  /// What the file says about a path relative to the file's own folder: no `/` at either end, no `.` segments. A symbolic
  /// link is not a directory. Ancestors are not looked at: `build/` says nothing about `build/x`.
  /// After `most` steps it gives up.
  [[nodiscard]] found match(std::string_view path, bool is_directory,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  [[nodiscard]] const std::string& source() const noexcept { return source_; }

  /// What was left out for a cap and what can never match, with source and line; the first 100, then a count.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// False when a cap left patterns out, or all of them could not be read: more is included than the file's author meant.
  [[nodiscard]] bool complete() const noexcept { return fault_.empty(); }

  /// Why the list is not complete, in words for people; empty when it is.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// About how much memory the list holds, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// How many patterns are in use.
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }

 private:
  struct rule {
    std::string_view written;
    std::uint32_t line;
    bool negated;
  };
  struct wildcard_rule {
    glob pattern;
    std::uint32_t ordinal;
    bool folders_only;
    bool name_only;  ///< Matched against the last segment of the path.
  };

  void add(std::string_view written, std::size_t line);
  void add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only);
  void cut(std::string what);
  void warn(std::string what);

  std::string source_;
  std::vector<char> text_;  // what all views below look into; a vector, since moving it moves no bytes
  std::vector<rule> rules_;
  literal_table names_;
  literal_table paths_;
  literal_table endings_;  // `*literal`, by its literal
  std::vector<wildcard_rule> wildcards_;
  std::vector<std::string> warnings_;
  std::size_t unsaid_warnings_ = 0;
  std::string fault_;
  std::size_t wildcard_bytes_ = 0;
};

/// A compiled file, shared by all folders below its own; null where there is no such file.
using list_pointer = std::shared_ptr<const pattern_list>;

/// The ignore files of one folder. git does not follow a `.gitignore` that is a symbolic link; callers should not either.
struct folder_rules {
  list_pointer git;      ///< `.gitignore`.
  list_pointer hondana;  ///< `.hondanaignore`: the same syntax, stronger than `.gitignore` of the same folder.
};

/// Whether a path is left out, and which line of which file says so.
struct verdict {
  decision outcome = decision::none;
  std::string_view source;        ///< The deciding file's name, as given to `pattern_list::parse`.
  std::size_t line = 0;           ///< From 1; 0 when no pattern matches.
  std::string_view pattern;       ///< As written. Both views live as long as the stack.
  std::size_t decided_bytes = 0;  ///< The pattern matched this much of the path: less than all of it names a folder above.
  std::string_view fault;         ///< Set where the source cannot be obeyed, and so leaves everything out: why.
  std::uint64_t steps = 0;        ///< What the decision took.

  [[nodiscard]] bool ignored() const noexcept { return outcome == decision::ignored; }
};

/// The ignore file of a folder above the root.
struct outer_rules {
  std::string inner;  ///< The root's path as seen from that folder; not empty.
  list_pointer list;
};

/// An immutable chain of ignore files, from a root down to one folder; copying it and descending are cheap.
///
/// Precedence, strongest first: the deepest folder's `.hondanaignore`, its `.gitignore`, the same of each folder above, then
/// `.git/info/exclude` of the root. The first file with a matching pattern decides, by the last such pattern in it. The user's
/// core.excludesFile is not read: what is served must not depend on who serves it. Files above the root come after those of
/// the root, where the caller gives them; `info/exclude` of repositories nested in the root has no say.
///
/// Fails closed: a file that is not complete ignores all there is below its folder, whatever other files say, and a decision
/// that would take too many steps is `ignored`.
///
/// Does no I/O. Threads: any number may use and extend one stack at once.
class stack {
 public:
  /// A root without ignore files.
  stack() = default;
  /// The root folder. `info_exclude` is `.git/info/exclude`, or null.
  /// `outer`, weakest first, are the ignore files of the folders above the root.
  explicit stack(folder_rules rules, list_pointer info_exclude = {}, const std::vector<outer_rules>& outer = {});

  /// The stack for a folder right below this one; `rules` are that folder's own files. Callers must not descend into an
  /// ignored folder: nothing in it can be included again.
  [[nodiscard]] stack child(std::string_view folder_name, folder_rules rules = {}) const;

  /// The folder's path relative to the root; empty for the root itself.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  /// The verdict on `path` alone, for a walk that has already entered all its ancestors.
  ///
  /// `path` is relative to the root, with no `/` at either end and no `.` segments; files of folders that do not hold it
  /// have no say. A symbolic link is not a directory, whatever it points to.
  /// Of `most` steps, all lists together.
  [[nodiscard]] verdict decide(std::string_view path, bool is_directory, std::uint64_t most = most_steps) const;

  /// The verdict on `path` with each ancestor decided first, topmost first, for a direct read by path. The stack must have
  /// been extended by the folders on the way, at least down to the first ignored one.
  [[nodiscard]] verdict decide_full(std::string_view path, bool is_directory) const;

  /// About how much memory its lists hold, in bytes; a list in two places counts twice.
  [[nodiscard]] std::size_t bytes() const noexcept { return deepest_ ? deepest_->bytes : 0; }

 private:
  /// The files of one folder that has any.
  struct level {
    std::shared_ptr<const level> above;
    std::string folder;
    std::string inner;                  ///< Of a folder above the root: the root's path as seen from it.
    std::array<list_pointer, 3> lists;  ///< Strongest first; null where missing.
    std::size_t bytes;                  ///< Of this level and all above.
  };
  void push(std::string folder, std::string inner, std::array<list_pointer, 3> lists);

  std::string folder_;
  std::shared_ptr<const level> deepest_;
};

}  // namespace hondana::ignore

/// The ignore files in force at one folder of a walk, and the verdict they give together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore/pattern_list.hpp"

namespace hondana::ignore {

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

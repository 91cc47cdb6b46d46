/// Logs of commits, page by page and filtered, and the history of one file across renames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"
#include "sources/git/references.hpp"

namespace hondana::git {

/// The content of a commit, in UTF-8.
struct commit_metadata {
  git_oid id{};
  git_oid tree{};
  std::vector<git_oid> parents;
  signature author, committer;
  std::string summary;   ///< The subject, as git's format %s: its lines joined by spaces.
  std::string body;      ///< The text after the subject, as git's format %b.
  std::string encoding;  ///< The original encoding of the message. Empty: UTF-8.
  /// Bytes of the original message that are left out, because of `max_subject_bytes` and `max_body_bytes`.
  std::uint64_t omitted_bytes = 0;
};
inline constexpr std::size_t max_subject_bytes = std::size_t{4} << 10;
inline constexpr std::size_t max_body_bytes = std::size_t{64} << 10;

// Both functions read a commit. Broken names and dates become as git shows them, and an invalid date becomes 0. People are
// those of the mailmap. `parents` are the recorded ones, even at the end of a shallow clone, or those of a graft. Errors:
// invalid_argument for an id of another object; source_unavailable for an object that is missing or malformed.
[[nodiscard]] result<commit_metadata> read_commit_metadata(git_commit* commit);
[[nodiscard]] result<commit_metadata> read_commit_metadata(git_repository* repo, const git_oid& id);

/// Selects commits of a log. All conditions that are set must be met.
struct log_filter {
  std::string path;  ///< The commit changed this file or folder, as in `git log --full-history -- path`. Not a pattern.
  std::string
      author;  ///< Regular expression (RE2, ignoring case) that matches in "Name <email>" of the author, after the mailmap.
  std::string grep;  ///< Regular expression (RE2, ignoring case) that matches in a line of the message.
  // Limits of the committer's time, inclusive, in seconds since 1970.
  std::optional<std::int64_t> since;
  std::optional<std::int64_t> until;
  bool operator==(const log_filter&) const = default;
};

struct log_request {
  git_oid start{};  ///< The commit at which the log begins.
  log_filter filter{};
  std::size_t limit = 50;  ///< Commits on the page, from 1 to 10 000. Other values are clamped.
  /// `log_page::next` of the previous page. Empty: the first page.
  std::string cursor{};
  /// Maximum number of commits to examine for one page, not counting those that a resumed walk repeats.
  std::size_t budget = 20'000;
  std::function<bool()> is_stopped{};  ///< Called periodically; true cancels. May be empty.
  /// Masks secrets in a text, without changing its length. The filter searches the masked text. Empty: nothing is masked.
  std::function<void(std::string& text)> mask{};
  /// Whether the caller may know that the file had the name `path` at `commit`. If not, `file_history` does not follow the
  /// rename. Empty: always true.
  std::function<bool(const git_oid& commit, const std::string& path)> is_visible{};
};

struct log_page {
  std::vector<commit_metadata> commits;
  /// The cursor of the next page. nullopt: this is the last page. Other pages may be short or empty, if the budget was spent.
  std::optional<std::string> next;
};

/// Reads a page of a log, newest first, in the order of `git log --full-history`, with mailmap, grafts and replaced commits.
/// Ignores notes.
///
/// All pages together are exactly the log. A page of an unfiltered log costs O(page + waiting commits), except in two cases.
/// Then the walk is repeated from the start (O(position)):
/// 1. More than 128 commits wait (`walk_state::frontier`).
/// 2. It is unknown whether a parent was returned before, because the cursor contains only the 32 oldest returned commits.
///    Causes are wrong clocks, and very many commits of one second on parallel branches.
///
/// If the history is damaged, the page ends before the damage, and the next page returns the error.
///
/// Errors: invalid_argument for a cursor that is invalid, of another log, or from before a shallow clone was deepened; also,
/// naming the argument, for a regular expression that RE2 rejects; source_unavailable, naming the commit whose parent is
/// missing or broken; cancelled.
[[nodiscard]] result<log_page> read_log(git_repository* repo, const log_request& request);

/// A commit that changed a file.
struct file_step {
  commit_metadata commit;
  std::string path;         ///< The file's path at that commit, or before it if the commit deleted the file.
  bool is_deleted = false;  ///< The commit deleted the file. `file_history` leaves it false; its caller sets it.
  /// The commit added the file, and its content was not fetched into a partial clone, so earlier names are unknown.
  bool lacks_content = false;
};
struct file_history_page {
  std::vector<file_step> steps;
  std::optional<std::string> next;  ///< As `log_page::next`.
};
/// Reads a page of the history of one file, as `git log --follow --full-history` finds it across renames and copies. Leaves out
/// merges. After the commit in which the file got its name, follows only the older name, on all branches. In trees of more than
/// 20 000 files, finds no copies. Ignores `start` and the filter's path in `request`. Follows renames also in commits that the
/// filter leaves out. Errors: as `read_log`; invalid_argument also for a cursor that names a hidden file, and for a `path` that
/// is empty or longer than 4096 bytes.
[[nodiscard]] result<file_history_page> file_history(git_repository* repo, const git_oid& start, const std::string& path,
                                                     const log_request& request);

}  // namespace hondana::git

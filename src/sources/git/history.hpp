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
  std::string summary;   ///< The subject, as git's %s: its lines joined by spaces.
  std::string body;      ///< The text after the subject, as %b.
  std::string encoding;  ///< The original encoding of the message; empty: UTF-8.
  /// How many bytes of the original message are left out, because it exceeds `max_subject_bytes` or `max_body_bytes`.
  std::uint64_t omitted_bytes = 0;
};
inline constexpr std::size_t max_subject_bytes = std::size_t{4} << 10;
inline constexpr std::size_t max_body_bytes = std::size_t{64} << 10;

/// Broken names and dates are shown as git shows them. An invalid date becomes zero. Parents are the recorded ones, even where
/// a shallow clone ends.
/// Errors: invalid_argument for an id that is not a commit's; source_unavailable for an object that is missing or malformed.
[[nodiscard]] result<commit_metadata> read_commit_metadata(git_commit* commit);
[[nodiscard]] result<commit_metadata> read_commit_metadata(git_repository* repo, const git_oid& id);

/// Selects commits of a log. All conditions that are set must be met.
struct log_filter {
  std::string path;                   ///< File or folder, literally; as `git log --full-history -- path`.
  std::string author;                 ///< RE2, ignoring case, in "Name <email>".
  std::string grep;                   ///< RE2, ignoring case, in a line of the message.
  std::optional<std::int64_t> since;  ///< Committer's time in seconds, inclusive.
  std::optional<std::int64_t> until;
  bool operator==(const log_filter&) const = default;
};

struct log_request {
  git_oid start{};  ///< The newest commit.
  log_filter filter{};
  std::size_t limit = 50;  ///< From 1 to 10 000; other values are clamped.
  /// `log_page::next` of the page before; empty: from the start.
  std::string cursor{};
  /// How many commits may be examined for one page, without those that are walked again.
  std::size_t budget = 20'000;
  std::function<bool()> is_stopped{};
  /// Masks secrets in a text without changing its length. The filter searches the masked text. Empty: nothing is masked.
  std::function<void(std::string& text)> mask{};
  /// Whether the caller may know that a file had a name at a commit. If not, the file counts as new. Empty: always.
  std::function<bool(const git_oid& commit, const std::string& path)> is_visible{};
};

struct log_page {
  std::vector<commit_metadata> commits;
  /// The cursor of the next page; absent at the end. A page may be short or empty while this is set: the budget was spent.
  std::optional<std::string> next;
};

/// Newest first, in the order of `git log --full-history`: by committer's time among the commits whose children were returned.
/// Mailmaps, notes, grafts and replacements are ignored.
///
/// The pages together are always exactly the whole log. A page of an unfiltered log costs O(page + frontier), wherever it is,
/// except in two cases. Then the log is walked again from the start (O(position), until cancelled).
/// 1. The frontier, which is the set of waiting commits, is wider than 128.
/// 2. A parent comes up that may have been returned before. The cursor has the 32 oldest returned commits. So this needs a
///    parent that is not older than all others. Reasons are wrong clocks, or very many commits of one second on parallel
///    branches. Where one commit waits alone, and no end of history was returned, nothing returned before can come up again.
///
/// If the history is damaged, a page ends before the damage, and the next one reports it. Errors: invalid_argument for a cursor
/// that is invalid, of another log, or from before a shallow clone was deepened. Also for patterns that RE2 rejects, naming the
/// argument. source_unavailable, naming the commit whose parent is missing or broken. cancelled.
[[nodiscard]] result<log_page> read_log(git_repository* repo, const log_request& request);

/// A commit that changed a file.
struct file_step {
  commit_metadata commit;
  std::string path;         ///< The file's path at that commit, or before it if the commit deleted it.
  bool is_deleted = false;  ///< The commit deleted the file. Set by the view.
};
struct file_history_page {
  std::vector<file_step> steps;
  std::optional<std::string> next;
};
/// The history of one file, as `git log --follow --full-history` finds it across renames and copies. Merges are left out. After
/// the commit in which the file got its name, all further steps are about the older name, on all branches. In trees of more
/// than 20 000 files only renames are found. Of the request, `start` and the filter's path are ignored. The filter leaves out
/// commits, but renames in them are followed. A cursor never names a file that is hidden, and one that does is rejected.
/// Errors: as `read_log`.
[[nodiscard]] result<file_history_page> file_history(git_repository* repo, const git_oid& start, const std::string& path,
                                                     const log_request& request);

}  // namespace hondana::git

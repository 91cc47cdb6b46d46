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

/// What a commit says, in UTF-8.
struct commit_facts {
  git_oid id{};
  git_oid tree{};
  std::vector<git_oid> parents;
  signature author, committer;
  std::string summary;   ///< The subject, as git's %s: its lines joined by spaces.
  std::string body;      ///< What stands behind it, as %b.
  std::string encoding;  ///< What the message was in; empty: UTF-8.
  /// Of the message as it was written, how much is left out: it is longer than `largest_subject` or `largest_body`.
  std::uint64_t cut_bytes = 0;
};
inline constexpr std::size_t largest_subject = std::size_t{4} << 10;
inline constexpr std::size_t largest_body = std::size_t{64} << 10;

/// What is broken in names and dates is shown as git shows it, a date that is none as 0. Parents are those that are recorded,
/// also where a shallow clone ends. Errors: invalid_argument for an id that is no commit's;
/// source_unavailable for what is missing or malformed.
[[nodiscard]] result<commit_facts> facts_of(git_commit* commit);
[[nodiscard]] result<commit_facts> facts_of(git_repository* in, const git_oid& id);

/// Which commits of a log are wanted; all that is set must fit.
struct log_filter {
  std::string path;                   ///< File or folder, literally; as `git log --full-history -- path`.
  std::string author;                 ///< RE2, without regard to case, in "Name <email>".
  std::string grep;                   ///< RE2, without regard to case, in a line of the message.
  std::optional<std::int64_t> since;  ///< Committer's time in seconds, inclusive.
  std::optional<std::int64_t> until;
  bool operator==(const log_filter&) const = default;
};

struct log_request {
  git_oid from{};  ///< The newest commit.
  log_filter filter{};
  std::size_t limit = 50;  ///< From 1 to 10 000; what is beyond is taken for these.
  /// As `log_page::next` said; empty: from the start.
  std::string cursor{};
  /// How many commits may be looked at for one page, those walked again not counted.
  std::size_t budget = 20'000;
  std::function<bool()> is_stopped{};
  /// Writes over what must not be seen in a text, whose length stays: the filter finds only what is left. Empty: all is seen.
  std::function<void(std::string& text)> mask{};
  /// Whether it may be known that a file had a name at a commit; where not, the file is taken for new. Empty: always.
  std::function<bool(const git_oid& commit, const std::string& path)> shows{};
};

struct log_page {
  std::vector<commit_facts> commits;
  /// Where it goes on; absent at the end. A page may be short, or even empty, while this is set: the budget was spent.
  std::optional<std::string> next;
};

/// Newest first, in the order of `git log --full-history` (by committer's time among those whose children have come). Mailmaps,
/// notes, grafts and replacements have no say.
///
/// Pages put together are always exactly the whole log. A page of an unfiltered log costs O(page + frontier), wherever it is,
/// but in two cases it is walked again from the start (O(place), until cancelled): the frontier, the commits that wait, is
/// wider than 128; or a parent comes up that may have been told before. Of those told, the cursor holds the 32 oldest, so that
/// this takes a parent that is not older than all the others: wrong clocks, or very many commits of one second on branches side
/// by side. Where one commit waits alone, and no end of history has been told, all before it are behind it for good.
///
/// Where the history is damaged, a page ends before the damage, and the next says what it is. Errors: invalid_argument for a
/// cursor that is none of ours, of another log, or from before a shallow clone was deepened, and for patterns that RE2 does not
/// take, naming the argument; source_unavailable, naming the commit whose parent is missing or broken; cancelled.
[[nodiscard]] result<log_page> log(git_repository* in, const log_request& request);

/// A commit that changed a file.
struct file_step {
  commit_facts commit;
  std::string path;         ///< The file's at that commit, or before it,
  bool is_deleted = false;  ///< which deleted it. Filled in by who shows it.
};
struct file_history_page {
  std::vector<file_step> steps;
  std::optional<std::string> next;
};
/// The history of one file, as `git log --follow --full-history` finds it across renames and copies: merges are left out, and
/// once a commit is told in which the file got its name, all that come later are about the older name, on whatever branch they
/// are. In trees of more than 20 000 files only renames are found. Of the request, `from` and the filter's path are not looked
/// at; the filter leaves commits out, but renames in them are followed. Cursors name no file that is not shown, and one that
/// does is refused. Errors: as `log`.
[[nodiscard]] result<file_history_page> file_history(git_repository* in, const git_oid& from, const std::string& path,
                                                     const log_request& request);

}  // namespace hondana::git

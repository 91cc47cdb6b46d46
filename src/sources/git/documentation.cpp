/// The documentation of git:// URIs.
#include "sources/git/git_provider.hpp"

namespace hondana::git {

scheme_documentation describe() {
  return {
      "git",
      "Git repositories: history, files at any revision, and what differs.",
      {{"repository", "A repository as a whole: branch, state, remotes, latest commits."},
       {"branches", "Local and remote branches."},
       {"changes", "What the work tree has that no commit has."},
       {"log", "Commits, newest first, page by page; next is the URI of the next page."},
       {"stashes", "What has been stashed."},
       {"tags", "Tags."},
       {"tree", "A folder at a revision; its children are trees and blobs."},
       {"worktrees", "The main work tree and those linked to it."},
       {"commit", "A commit with its patch against its first parent."},
       {"blob",
        "A file at a revision: text when it is some, converted to UTF-8 (dev.hondana/encoding says from what), else a blob."},
       {"link", "A symbolic link at a revision; reading it gives where it leads."},
       {"submodule", "Another repository's commit; reading it gives id and URL."},
       {"diff", "What differs between two revisions."},
       {"blame", "Which commit wrote each line of a file."},
       {"history", "Commits that changed a file, across renames."}},
      {{"git://REPO/overview", "The repository REPO: its folder's name made of a-z, 0-9 and -."},
       {"git://REPO/branches", "Branches; all but blobs take format=json, and Markdown is usual."},
       {"git://REPO/tags", "Tags."},
       {"git://REPO/log?ref=REV&path=PATH&author=PATTERN&grep=PATTERN&since=DATE&until=DATE&limit=N",
        "Commits reachable from REV (HEAD unless given) for which everything given holds. A day means its first second in "
        "since, its last in until."},
       {"git://REPO/commit/REV",
        "A commit. REV is an id or four of its digits, a branch (feature%2Fx), a tag or HEAD, followed by any of ~N and ^N. A "
        "patch is shown where git://REPO/blob/ID/PATH may be read."},
       {"git://REPO/tree/REV/PATH",
        "A folder at a revision; without a path the top one. Files whose names are those of files that "
        "hold credentials are left out, and the server's own."},
       {"git://REPO/blob/REV/PATH?lines=10-40", "A file at a revision; lines=10- goes to the end, lines=10 is one line."},
       {"git://REPO/diff/FROM..TO?path=PATH", "What differs from FROM to TO, or in one file or folder of it."},
       {"git://REPO/blame/REV/PATH?lines=10-40", "Who wrote which line."},
       {"git://REPO/history/REV/PATH?limit=N", "The commits that changed a file."},
       {"git://REPO/stashes", "Stashes."},
       {"git://REPO/worktrees", "Work trees."},
       {"git://REPO/changes?path=PATH", "What is staged, changed and untracked in the work tree."}},
  };
}

}  // namespace hondana::git

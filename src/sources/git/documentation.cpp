/// The documentation of git:// URIs.
#include "sources/git/git_provider.hpp"

namespace hondana::git {

scheme_documentation describe() {
  return {
      "git",
      "Git repositories: history, files at any revision, and differences.",
      {{"repository", "A repository as a whole: branch, state, remotes, latest commits."},
       {"branches", "Local and remote branches."},
       {"changes", "Uncommitted changes in the work tree."},
       {"log", "Commits, newest first, page by page; next is the URI of the next page."},
       {"stashes", "Stashed changes."},
       {"tags", "Tags."},
       {"tree", "A folder at a revision; its children are trees and blobs."},
       {"worktrees", "The main work tree and those linked to it."},
       {"commit", "A commit with its patch against its first parent."},
       {"blob",
        "A file at a revision. Text is converted to UTF-8 (dev.hondana/encoding names the original encoding); other contents "
        "are blobs."},
       {"link", "A symbolic link at a revision; reading it returns its target."},
       {"submodule", "A commit of another repository; reading it returns its id and URL."},
       {"diff", "Differences between two revisions."},
       {"blame", "Which commit wrote each line of a file."},
       {"history", "Commits that changed a file, across renames."}},
      {{"git://REPO/overview", "The repository REPO: the name of its folder, converted to a-z, 0-9 and -."},
       {"git://REPO/branches", "Branches. All URIs except blob accept format=json; the default is Markdown."},
       {"git://REPO/tags", "Tags."},
       {"git://REPO/log?ref=REV&path=PATH&author=PATTERN&grep=PATTERN&since=DATE&until=DATE&limit=N",
        "Commits reachable from REV (default HEAD) that match all filters. A date without a time is its first second in since, "
        "and its last in until."},
       {"git://REPO/commit/REV",
        "A commit. REV is an id or at least its first four digits, a branch (feature%2Fx), a tag or HEAD, optionally followed "
        "by ~N and ^N. The patch contains only files that the caller may read as git://REPO/blob/ID/PATH."},
       {"git://REPO/tree/REV/PATH",
        "A folder at a revision; without a path, the top folder. Files with names of credential files and the server's own "
        "files are left out."},
       {"git://REPO/blob/REV/PATH?lines=10-40", "A file at a revision; lines=10- goes to the end, lines=10 is one line."},
       {"git://REPO/diff/FROM..TO?path=PATH", "Differences from FROM to TO, or only those in one file or folder."},
       {"git://REPO/blame/REV/PATH?lines=10-40", "Which commit wrote which line."},
       {"git://REPO/history/REV/PATH?limit=N", "The commits that changed a file."},
       {"git://REPO/stashes", "Stashes."},
       {"git://REPO/worktrees", "Work trees."},
       {"git://REPO/changes?path=PATH", "Staged, unstaged and untracked changes in the work tree."}},
  };
}

}  // namespace hondana::git

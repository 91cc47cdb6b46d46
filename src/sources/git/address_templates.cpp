/// The templates, as they are offered.
#include <string>
#include <vector>

#include "sources/git/address.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view markdown = "text/markdown";

resource_template template_of(std::string uri, std::string name, std::string title, std::string description,
                              std::string_view type = markdown) {
  resource_template one;
  one.uriTemplate = std::move(uri);
  one.name = std::move(name);
  one.title = std::move(title);
  one.description = std::move(description);
  one.mimeType = type;
  return one;
}

}  // namespace

std::vector<resource_template> address_templates() {
  return {
      template_of("git://{repo}/overview{?format}", "git-overview", "Overview of a repository",
                  "Branch, state of the work tree, remotes and the latest commits. format=json for programs."),
      template_of("git://{repo}/branches{?format,cursor}", "git-branches", "Branches",
                  "Local and remote branches with their commits, and how far each is ahead of or behind its upstream."),
      template_of("git://{repo}/tags{?format,cursor}", "git-tags", "Tags", "Tags, their targets and their messages."),
      template_of("git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}", "git-log", "Log",
                  "Commits reachable from ref (default HEAD), newest first. path: a file or folder; author and grep: "
                  "case-insensitive RE2 expressions, like git log -i -E; since and until: dates; limit: 1 to 1000."),
      template_of("git://{repo}/commit/{rev}{?format}", "git-commit", "Commit",
                  "Message, author, committer, changed files and patch against the first parent. rev: a branch (feature%2Fx), "
                  "a tag, HEAD, an id or the beginning of one, optionally with ~N or ^N."),
      template_of("git://{repo}/tree/{rev}{?cursor,format}", "git-tree", "Top folder at a revision",
                  "The contents of the top folder at a revision."),
      template_of("git://{repo}/tree/{rev}/{+path}{?cursor,format}", "git-folder", "Folder at a revision",
                  "The contents of a folder at a revision."),
      template_of("git://{repo}/blob/{rev}/{+path}{?lines}", "git-blob", "File at a revision",
                  "A file at a revision; lines=10-40 for a part of it.", ""),
      template_of("git://{repo}/diff/{from}..{to}{?path,format}", "git-diff", "Difference between two revisions",
                  "Changed files and patch from one revision to another; path: only that file or folder."),
      template_of("git://{repo}/blame/{rev}/{+path}{?lines,format}", "git-blame", "Blame",
                  "Which commit wrote each line of a file."),
      template_of("git://{repo}/history/{rev}/{+path}{?limit,cursor,format}", "git-history", "History of a file",
                  "Commits that changed a file, newest first, across renames."),
      template_of("git://{repo}/stashes{?format}", "git-stashes", "Stashes", "Stashed changes."),
      template_of("git://{repo}/worktrees{?format}", "git-worktrees", "Work trees",
                  "Work trees linked to the repository, and what each has checked out."),
      template_of("git://{repo}/changes{?path,format}", "git-changes", "Uncommitted changes",
                  "Staged, unstaged and untracked changes in the work tree, with patches; path: only that file or folder."),
  };
}

}  // namespace hondana::git

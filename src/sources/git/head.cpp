/// Where HEAD is, and what is under way.
#include <string>
#include <string_view>
#include <utility>

#include "sources/git/named_reference.hpp"
#include "sources/git/references.hpp"

namespace hondana::git {
namespace {

std::string operation_in(git_repository* in) {
  switch (git_repository_state(in)) {
    case GIT_REPOSITORY_STATE_MERGE:
      return "merge";
    case GIT_REPOSITORY_STATE_REVERT:
    case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
      return "revert";
    case GIT_REPOSITORY_STATE_CHERRYPICK:
    case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
      return "cherry-pick";
    case GIT_REPOSITORY_STATE_BISECT:
      return "bisect";
    case GIT_REPOSITORY_STATE_REBASE:
    case GIT_REPOSITORY_STATE_REBASE_INTERACTIVE:
    case GIT_REPOSITORY_STATE_REBASE_MERGE:
      return "rebase";
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE:
      return "am";
    default:
      return {};
  }
}

}  // namespace

result<head_state> head_of(git_repository* in) {
  constexpr std::string_view heads = "refs/heads/";
  auto found = follow_reference(in, "HEAD");
  git_error_clear();
  if (!found || (found->name == "HEAD" && !found->id))
    return fail(errc::source_unavailable,
                !found && found.error() == lost::circular
                    ? "HEAD is part of a cycle of references. Run `git symbolic-ref HEAD refs/heads/NAME` to fix it."
                    : "HEAD or the reference that it points to cannot be read. Run `git fsck` for details, or choose another "
                      "branch with `git symbolic-ref HEAD refs/heads/NAME`.");
  head_state state;
  state.commit = found->id;
  if (found->name != "HEAD")
    state.branch = found->name.starts_with(heads) ? found->name.substr(heads.size()) : std::move(found->name);
  state.operation = operation_in(in);
  return state;
}

}  // namespace hondana::git

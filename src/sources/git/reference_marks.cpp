/// References are gone through once; those that cannot be read count as little as they are listed.
#include "sources/git/reference_marks.hpp"

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/digest.hpp"
#include "os/disk/stamp.hpp"
#include "sources/git/reference_files.hpp"
#include "sources/git/references.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

void feed_text(bytes::digester& to, std::string_view text) {
  to.feed(std::to_string(text.size()) + ':');
  to.feed(text);
}

std::string mark_of_file(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return "none";
  const auto state = disk::stamp_of(facts);
  return std::to_string(state.device) + ' ' + std::to_string(state.inode) + ' ' + std::to_string(state.size) + ' ' +
         std::to_string(state.modified) + ' ' + std::to_string(state.changed);
}

struct gone_through {
  bytes::digester branches, tags;

  bytes::digester* digest_for(std::string_view name) {
    if (name.starts_with("refs/heads/") || name.starts_with("refs/remotes/")) return &branches;
    return name.starts_with("refs/tags/") ? &tags : nullptr;
  }
  void add(const git_reference* one) {
    const std::string_view name = git_reference_name(one);
    auto* const targets = digest_for(name);
    if (targets == nullptr) return;
    feed_text(*targets, name);
    const auto* const id = git_reference_target(one);
    feed_text(*targets, id != nullptr ? text_of(*id) : std::string(git_reference_symbolic_target(one)));
  }
};

result<void> go_through(git_repository* in, gone_through& all, const std::function<bool()>& is_stopped) {
  constexpr std::string_view said = "the references cannot be listed; run `git fsck` for details";
  HONDANA_TRY(check_references(in, "refs"));
  git_reference_iterator* raw = nullptr;
  if (const int code = git_reference_iterator_new(&raw, in); code < 0) return failed(std::string(said));
  const reference_iterator_pointer walk(raw);
  stopping wanted(is_stopped);
  for (;;) {
    if (auto step = wanted.step(); !step) return step;
    git_reference* found = nullptr;
    const int code = git_reference_next(&found, raw);
    const reference_pointer one(found);
    if (code == GIT_ITEROVER) break;
    if (code < 0) return failed(std::string(said));
    all.add(found);
  }
  git_error_clear();
  return {};
}

}  // namespace

result<reference_marks> marks_of(git_repository* in, const place& at, const std::function<bool()>& is_stopped) {
  gone_through all;
  HONDANA_TRY(go_through(in, all, is_stopped));
  reference_marks marks;
  // A HEAD that is broken is a state as well.
  const auto head = head_of(in);
  marks.has_commits = head && head->commit;
  marks.head = head ? head->branch + '\n' + (head->commit ? text_of(*head->commit) : "") + '\n' + head->operation
                    : head.error().public_text;
  marks.branches = bytes::to_hex(all.branches.value());
  marks.tags = bytes::to_hex(all.tags.value());
  marks.index = mark_of_file(at.git_folder + "/index");
  marks.config = mark_of_file(at.common_folder + "/config") + mark_of_file(at.git_folder + "/config.worktree");
  return marks;
}

}  // namespace hondana::git

/// One file through the whole history, under the name that it had then.
#include <optional>
#include <string>
#include <utility>

#include "sources/git/commit_store.hpp"
#include "sources/git/comparison_limits.hpp"
#include "sources/git/history.hpp"
#include "sources/git/log_filter.hpp"
#include "sources/git/log_pages.hpp"
#include "sources/git/path_trail.hpp"
#include "sources/git/renamed_from.hpp"
#include "sources/git/walk.hpp"
#include "sources/git/walk_cursor.hpp"

namespace hondana::git {
namespace {

/// What the path is called changes as the walk goes on, for all that come later, whatever branch they are of.
class follower {
 public:
  follower(git_repository* in, const commit_store& store, const log_request& request, std::string path)
      : in_(in), store_(store), request_(request), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the commit changed the file. Merges are taken to change nothing of their own.
  result<bool> follow(const commit_node& commit) {
    if (commit.parents.size() > 1) return false;
    const path_steps steps(path_);
    const auto here = steps.trail(store_, commit.tree, &last_);
    if (!here) return tl::unexpected(here.error());
    if (commit.parents.empty()) return here->entry.is_there();
    HONDANA_TRY(const auto parent, store_.read(commit.parents.front()));
    HONDANA_TRY(const auto there, steps.trail(store_, parent.tree, &*here));
    last_ = there;
    if (here->entry == there.entry) return false;
    const bool has_come =
        here->entry.is_there() && !here->entry.is_folder() && (!there.entry.is_there() || there.entry.is_folder());
    if (has_come) {
      HONDANA_TRY(auto before, name_before(commit, parent));
      if (before) next_path_ = std::move(*before);
    }
    return true;
  }

  /// To be called when a commit has been shown: older ones have the older name.
  void go_on() {
    if (next_path_.empty()) return;
    path_ = std::exchange(next_path_, {});
    last_ = {};
  }

 private:
  result<std::optional<std::string>> name_before(const commit_node& commit, const commit_node& parent) const {
    rename_question question{parent.tree, commit.tree, path_};
    question.takes_copies = true;
    question.largest_file = largest_compared_file;
    question.is_stopped = request_.is_stopped;
    HONDANA_TRY(auto before, renamed_from(in_, question));
    if (!before || (request_.shows && !request_.shows(parent.id, before->path))) return std::nullopt;
    return std::move(before->path);
  }

  git_repository* const in_;
  const commit_store& store_;
  const log_request& request_;
  std::string path_, next_path_;
  path_trail last_;  // of the parent looked at last, which is likely to come next
};

result<file_history_page> page_of(walk& through, commit_filter& filter, follower& file, const commit_store& store,
                                  const log_request& request) {
  file_history_page page;
  const auto limit = limit_of(request), budget = budget_of(request);
  for (std::size_t looked_at = 0; page.steps.size() < limit && looked_at < budget; ++looked_at) {
    auto node = through.next();
    if (!node) {
      if (node.error().code == errc::source_unavailable && !page.steps.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_changed, file.follow(**node));
    if (!is_changed) continue;
    HONDANA_TRY(const auto is_wanted, filter.takes(**node));
    if (is_wanted) {
      HONDANA_TRY(auto facts, facts_of(store, (*node)->id));
      page.steps.push_back({std::move(facts), file.path()});
    }
    file.go_on();
  }
  return page;
}

}  // namespace

result<file_history_page> file_history(git_repository* in, const git_oid& from, const std::string& path,
                                       const log_request& request) {
  if (path.empty() || path.size() > longest_path)
    return fail(errc::invalid_argument, "the argument `path` must name a file and have at most 4096 bytes");
  HONDANA_TRY(const auto store, commit_store::open(in));
  auto asked = request;
  asked.from = from;
  asked.filter.path.clear();
  HONDANA_TRY(auto filter, commit_filter::make(store, asked.filter, asked.mask));
  const auto digest = digest_of(store, asked, "file " + path);
  walk through(store, from, {asked.filter.since, asked.is_stopped});
  HONDANA_TRY(const auto name, begin_walk(through, asked.cursor, digest));
  if (!name.empty() && asked.shows && !asked.shows(from, name))
    return fail(errc::invalid_argument, std::string(foreign_cursor));
  follower file(in, store, asked, name.empty() ? path : name);
  auto page = page_of(through, filter, file, store, asked);
  if (page && !through.is_over())
    page->next = cursor_of(through.state(), digest, file.path() == path ? std::string() : file.path());
  return page;
}

}  // namespace hondana::git

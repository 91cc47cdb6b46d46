/// Pages of branches with their upstreams, and how far each is ahead and behind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/references.hpp"

namespace hondana::git {

/// The upstreams of branches. Read from the configuration here, because libgit2's `git_branch_upstream_name` leaks 20 KiB for
/// every setting that it examines. With PCRE2, its regular expressions (as of 1.5) do not free failed matches. Immutable.
class upstreams {
 public:
  /// Errors: source_unavailable.
  [[nodiscard]] static result<upstreams> read(git_repository* repo);

  /// The full name of the upstream of a branch, whose name is given without `refs/heads/`. Empty: none. It need not exist.
  [[nodiscard]] std::string find(std::string_view branch) const;

 private:
  upstreams() = default;
  [[nodiscard]] const std::vector<std::string>& values(const std::string& name) const;

  std::unordered_map<std::string, std::vector<std::string>> settings_;
};

/// How many commits only `left`, and only `right`, can reach, as `git rev-list --left-right --count`. Reads at most `budget`
/// commits, and subtracts those it read. Nothing if the budget does not suffice. Errors: those of reading commits.
[[nodiscard]] result<std::optional<std::pair<std::size_t, std::size_t>>> count_divergence(const commit_store& store,
                                                                                          const git_oid& left,
                                                                                          const git_oid& right,
                                                                                          std::size_t& budget);

namespace {

using refspec_pointer = std::unique_ptr<git_refspec, libgit2_deleter<git_refspec_free>>;

/// The local name of a remote's reference according to a refspec; empty if the refspec does not match it.
std::string tracking_name(const std::string& refspec, const std::string& remote_name) {
  git_refspec* raw = nullptr;
  const int code = git_refspec_parse(&raw, refspec.c_str(), 1);
  const refspec_pointer parsed(raw);
  if (code < 0 || git_refspec_src_matches(raw, remote_name.c_str()) == 0) return {};
  git_buf name{};
  const bool is_mapped = git_refspec_transform(&name, raw, remote_name.c_str()) == 0 && name.ptr != nullptr;
  auto local_name = is_mapped ? std::string(name.ptr) : std::string();
  git_buf_dispose(&name);
  return local_name;
}

}  // namespace

result<upstreams> upstreams::read(git_repository* repo) {
  constexpr std::string_view message = "the repository's branches cannot be read from its configuration";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, repo); code < 0) return libgit2_failure(std::string(message));
  const config_pointer config(raw);
  git_config_iterator* raw_iterator = nullptr;
  if (const int code = git_config_iterator_new(&raw_iterator, raw); code < 0) return libgit2_failure(std::string(message));
  const std::unique_ptr<git_config_iterator, libgit2_deleter<git_config_iterator_free>> iterator(raw_iterator);
  upstreams created;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_iterator) == 0)
    if (entry->value != nullptr) created.settings_[entry->name].emplace_back(entry->value);
  git_error_clear();
  return created;
}

const std::vector<std::string>& upstreams::values(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto match = settings_.find(name);
  return match == settings_.end() ? none : match->second;
}

std::string upstreams::find(std::string_view branch) const {
  const auto section = "branch." + std::string(branch);
  const auto &remote = values(section + ".remote"), &merge = values(section + ".merge");
  if (remote.empty() || merge.empty()) return {};
  // Of several remotes the last one counts. Of several merge settings, git calls the first one the upstream.
  if (remote.back() == ".") return merge.front();
  for (const auto& refspec : values("remote." + remote.back() + ".fetch")) {
    auto local_name = tracking_name(refspec, merge.front());
    git_error_clear();
    if (!local_name.empty()) return local_name;
  }
  return {};
}

namespace {

constexpr unsigned left_side = 1, right_side = 2, both_sides = 3;

struct walked_commit {
  unsigned sides = 0;
  bool is_read = false, is_queued = false;
  commit_node node{};
};

struct pending_commit {
  std::uint64_t time = 0;
  git_oid id{};
  bool operator<(const pending_commit& other) const noexcept { return time < other.time; }
};

/// Walks from two commits at once, and marks each commit with the ones it is reachable from.
class divergence_walk {
 public:
  divergence_walk(const commit_store& store, std::size_t& budget) : store_(store), budget_(budget) {}

  /// False: the budget is spent.
  result<bool> mark(const git_oid& id, unsigned sides) {
    auto& commit = commits_[id];
    const auto merged = commit.sides | sides;
    if (commit.is_read && merged == commit.sides) return true;
    if (!commit.is_read) {
      if (budget_ == 0) return false;
      --budget_;
      HONDANA_TRY(auto node, store_.read(id));
      commit.node = std::move(node);
      commit.is_read = true;
    }
    // The walk continues as long as a commit that only one side reaches is queued.
    if (commit.is_queued && commit.sides != both_sides && merged == both_sides) --one_sided_count_;
    if (!commit.is_queued && merged != both_sides) ++one_sided_count_;
    commit.sides = merged;
    if (!commit.is_queued) queue_.push({commit.node.time, id});
    commit.is_queued = true;
    return true;
  }

  result<bool> walk() {
    // Common commits are walked, too, as long as they may turn out to be ancestors of a counted commit.
    while (one_sided_count_ > 0) {
      const auto next = queue_.top().id;
      queue_.pop();
      auto& commit = commits_.at(next);
      commit.is_queued = false;
      if (commit.sides != both_sides) --one_sided_count_;
      const auto sides = commit.sides;
      const auto parents = commit.node.parents;
      for (const auto& parent : parents) {
        auto marked = mark(parent, sides);
        if (!marked || !*marked) return marked;
      }
    }
    return true;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> count() const noexcept {
    std::pair<std::size_t, std::size_t> counts{};
    for (const auto& [id, commit] : commits_) {
      counts.first += commit.sides == left_side ? 1 : 0;
      counts.second += commit.sides == right_side ? 1 : 0;
    }
    return counts;
  }

 private:
  const commit_store& store_;
  std::size_t& budget_;
  std::unordered_map<git_oid, walked_commit, oid_hash, oid_equal> commits_;
  std::priority_queue<pending_commit> queue_;
  std::size_t one_sided_count_ = 0;
};

}  // namespace

result<std::optional<std::pair<std::size_t, std::size_t>>> count_divergence(const commit_store& store, const git_oid& left,
                                                                            const git_oid& right, std::size_t& budget) {
  divergence_walk divergence(store, budget);
  for (const auto& [id, side] : {std::pair{left, left_side}, std::pair{right, right_side}}) {
    HONDANA_TRY(auto marked, divergence.mark(id, side));
    if (!marked) return std::nullopt;
  }
  HONDANA_TRY(auto finished, divergence.walk());
  if (!finished) return std::nullopt;
  return divergence.count();
}

namespace {

constexpr const char* local_prefix = "refs/heads/";
constexpr const char* remote_prefix = "refs/remotes/";
/// Commits that may be read for all branches of a page together.
constexpr std::size_t divergence_budget = 20'000;

std::string short_name_of(std::string_view full) {
  for (const std::string_view prefix : {local_prefix, remote_prefix})
    if (full.starts_with(prefix)) return std::string(full.substr(prefix.size()));
  return std::string(full);
}

class branch_reader {
 public:
  branch_reader(git_repository* repo, commit_store store, upstreams branch_upstreams)
      : repo_(repo), store_(std::move(store)), upstreams_(std::move(branch_upstreams)) {
    if (auto head = resolve_reference(repo, "HEAD")) head_ = std::move(head->name);
    git_error_clear();
  }

  /// Nothing if the branch is broken.
  std::optional<branch> read(const std::string& name) {
    const auto target = resolve_reference(repo_, name);
    git_error_clear();
    if (!target || !target->id) return std::nullopt;
    branch entry;
    entry.full_name = name;
    entry.name = short_name_of(name);
    entry.is_remote = name.starts_with(remote_prefix);
    entry.is_head = name == head_;
    entry.target = *target->id;
    if (auto metadata = read_commit_metadata(store_, entry.target)) {
      entry.summary = std::move(metadata->summary);
      entry.author = std::move(metadata->author);
    }
    if (!entry.is_remote) add_upstream(entry);
    return entry;
  }

 private:
  void add_upstream(branch& entry) {
    const auto upstream = upstreams_.find(entry.name);
    if (upstream.empty()) return;
    entry.upstream = short_name_of(upstream);
    const auto target = resolve_reference(repo_, upstream);
    git_error_clear();
    if (!target || !target->id) return;
    // If the history cannot be read, the numbers are omitted.
    if (auto divergence = count_divergence(store_, entry.target, *target->id, budget_)) entry.ahead_behind = *divergence;
  }

  git_repository* const repo_;
  const commit_store store_;
  const upstreams upstreams_;
  std::string head_;
  std::size_t budget_ = divergence_budget;
};

}  // namespace

result<reference_page<branch>> branches(git_repository* repo, const std::string& start_after, std::size_t limit) {
  auto names = list_names(repo, {local_prefix, remote_prefix}, start_after, limit);
  if (!names) return tl::unexpected(std::move(names.error()));
  HONDANA_TRY(auto store, commit_store::open(repo));
  HONDANA_TRY(auto branch_upstreams, upstreams::read(repo));
  branch_reader reader(repo, std::move(store), std::move(branch_upstreams));
  reference_page<branch> page;
  for (const auto& name : names->names)
    if (auto entry = reader.read(name)) page.items.push_back(std::move(*entry));
  if (!names->is_last) page.next = names->names.empty() ? start_after : names->names.back();
  return page;
}

}  // namespace hondana::git

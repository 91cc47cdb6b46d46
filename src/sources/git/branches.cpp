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
  [[nodiscard]] static result<upstreams> read(git_repository* from);

  /// The full name of the upstream of a branch, whose name is given without `refs/heads/`. Empty: none. It need not exist.
  [[nodiscard]] std::string of(std::string_view branch) const;

 private:
  upstreams() = default;
  [[nodiscard]] const std::vector<std::string>& values(const std::string& name) const;

  std::unordered_map<std::string, std::vector<std::string>> settings_;
};

/// How many commits only `one`, and only `other`, can reach, as `git rev-list --left-right --count`. Reads at most `budget`
/// commits, and subtracts those it read. Nothing if the budget does not suffice. Errors: those of reading commits.
[[nodiscard]] result<std::optional<std::pair<std::size_t, std::size_t>>> divergence_of(const commit_store& from,
                                                                                       const git_oid& one, const git_oid& other,
                                                                                       std::size_t& budget);

namespace {

using refspec_pointer = std::unique_ptr<git_refspec, frees<git_refspec_free>>;

/// The local name of a remote's reference according to a refspec; empty if the refspec does not match it.
std::string kept_as(const std::string& refspec, const std::string& theirs) {
  git_refspec* raw = nullptr;
  const int code = git_refspec_parse(&raw, refspec.c_str(), 1);
  const refspec_pointer parsed(raw);
  if (code < 0 || git_refspec_src_matches(raw, theirs.c_str()) == 0) return {};
  git_buf name{};
  const bool is_known = git_refspec_transform(&name, raw, theirs.c_str()) == 0 && name.ptr != nullptr;
  auto ours = is_known ? std::string(name.ptr) : std::string();
  git_buf_dispose(&name);
  return ours;
}

}  // namespace

result<upstreams> upstreams::read(git_repository* from) {
  constexpr std::string_view said = "the repository's branches cannot be read from its configuration";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, from); code < 0) return failed(std::string(said));
  const config_pointer config(raw);
  git_config_iterator* raw_walk = nullptr;
  if (const int code = git_config_iterator_new(&raw_walk, raw); code < 0) return failed(std::string(said));
  const std::unique_ptr<git_config_iterator, frees<git_config_iterator_free>> walk(raw_walk);
  upstreams made;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_walk) == 0)
    if (entry->value != nullptr) made.settings_[entry->name].emplace_back(entry->value);
  git_error_clear();
  return made;
}

const std::vector<std::string>& upstreams::values(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = settings_.find(name);
  return found == settings_.end() ? none : found->second;
}

std::string upstreams::of(std::string_view branch) const {
  const auto section = "branch." + std::string(branch);
  const auto &remote = values(section + ".remote"), &merge = values(section + ".merge");
  if (remote.empty() || merge.empty()) return {};
  // Of several remotes the last one counts. Of several merge settings, git calls the first one the upstream.
  if (remote.back() == ".") return merge.front();
  for (const auto& refspec : values("remote." + remote.back() + ".fetch")) {
    auto ours = kept_as(refspec, merge.front());
    git_error_clear();
    if (!ours.empty()) return ours;
  }
  return {};
}

namespace {

constexpr unsigned from_one = 1, from_other = 2, from_both = 3;

struct painted {
  unsigned colours = 0;
  bool is_read = false, is_waiting = false;
  commit_node node{};
};

struct pending_commit {
  std::uint64_t time = 0;
  git_oid id{};
  bool operator<(const pending_commit& other) const noexcept { return time < other.time; }
};

/// Walks from two commits at once, and marks each commit with the ones it is reachable from.
class painting {
 public:
  painting(const commit_store& from, std::size_t& budget) : from_(from), budget_(budget) {}

  /// False: the budget is spent.
  result<bool> paint(const git_oid& id, unsigned colours) {
    auto& at = all_[id];
    const auto together = at.colours | colours;
    if (at.is_read && together == at.colours) return true;
    if (!at.is_read) {
      if (budget_ == 0) return false;
      --budget_;
      HONDANA_TRY(auto node, from_.read(id));
      at.node = std::move(node);
      at.is_read = true;
    }
    // The walk continues as long as a commit with one colour waits.
    if (at.is_waiting && at.colours != from_both && together == from_both) --one_sided_;
    if (!at.is_waiting && together != from_both) ++one_sided_;
    at.colours = together;
    if (!at.is_waiting) queue_.push({at.node.time, id});
    at.is_waiting = true;
    return true;
  }

  result<bool> walk() {
    // Common commits are walked, too, as long as they may turn out to be ancestors of a counted commit.
    while (one_sided_ > 0) {
      const auto next = queue_.top().id;
      queue_.pop();
      auto& at = all_.at(next);
      at.is_waiting = false;
      if (at.colours != from_both) --one_sided_;
      const auto colours = at.colours;
      const auto parents = at.node.parents;
      for (const auto& one : parents) {
        auto done = paint(one, colours);
        if (!done || !*done) return done;
      }
    }
    return true;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> count() const noexcept {
    std::pair<std::size_t, std::size_t> sums{};
    for (const auto& [id, at] : all_) {
      sums.first += at.colours == from_one ? 1 : 0;
      sums.second += at.colours == from_other ? 1 : 0;
    }
    return sums;
  }

 private:
  const commit_store& from_;
  std::size_t& budget_;
  std::unordered_map<git_oid, painted, oid_hash, oid_equal> all_;
  std::priority_queue<pending_commit> queue_;
  std::size_t one_sided_ = 0;
};

}  // namespace

result<std::optional<std::pair<std::size_t, std::size_t>>> divergence_of(const commit_store& from, const git_oid& one,
                                                                         const git_oid& other, std::size_t& budget) {
  painting both(from, budget);
  for (const auto& [id, colour] : {std::pair{one, from_one}, std::pair{other, from_other}}) {
    HONDANA_TRY(auto begun, both.paint(id, colour));
    if (!begun) return std::nullopt;
  }
  HONDANA_TRY(auto done, both.walk());
  if (!done) return std::nullopt;
  return both.count();
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
  branch_reader(git_repository* in, commit_store store, upstreams followed)
      : in_(in), store_(std::move(store)), upstreams_(std::move(followed)) {
    if (auto head = follow_reference(in, "HEAD")) head_ = std::move(head->name);
    git_error_clear();
  }

  /// Nothing if the branch is broken.
  std::optional<branch> read(const std::string& name) {
    const auto target = follow_reference(in_, name);
    git_error_clear();
    if (!target || !target->id) return std::nullopt;
    branch one;
    one.full_name = name;
    one.name = short_name_of(name);
    one.is_remote = name.starts_with(remote_prefix);
    one.is_head = name == head_;
    one.target = *target->id;
    if (auto facts = facts_of(store_, one.target)) {
      one.summary = std::move(facts->summary);
      one.author = std::move(facts->author);
    }
    if (!one.is_remote) add_upstream(one);
    return one;
  }

 private:
  void add_upstream(branch& to) {
    const auto upstream = upstreams_.of(to.name);
    if (upstream.empty()) return;
    to.upstream = short_name_of(upstream);
    const auto target = follow_reference(in_, upstream);
    git_error_clear();
    if (!target || !target->id) return;
    // If the history cannot be read, the numbers are omitted.
    if (auto apart = divergence_of(store_, to.target, *target->id, budget_)) to.ahead_behind = *apart;
  }

  git_repository* const in_;
  const commit_store store_;
  const upstreams upstreams_;
  std::string head_;
  std::size_t budget_ = divergence_budget;
};

}  // namespace

result<reference_page<branch>> branches(git_repository* in, const std::string& after, std::size_t limit) {
  auto names = names_behind(in, {local_prefix, remote_prefix}, after, limit);
  if (!names) return tl::unexpected(std::move(names.error()));
  HONDANA_TRY(auto store, commit_store::open(in));
  HONDANA_TRY(auto followed, upstreams::read(in));
  branch_reader reader(in, std::move(store), std::move(followed));
  reference_page<branch> page;
  for (const auto& name : names->names)
    if (auto one = reader.read(name)) page.items.push_back(std::move(*one));
  if (!names->is_last) page.next = names->names.empty() ? after : names->names.back();
  return page;
}

}  // namespace hondana::git

/// Pages of branches.
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "sources/git/commit_store.hpp"
#include "sources/git/divergence.hpp"
#include "sources/git/history.hpp"
#include "sources/git/named_reference.hpp"
#include "sources/git/names_page.hpp"
#include "sources/git/references.hpp"
#include "sources/git/upstreams.hpp"

namespace hondana::git {
namespace {

constexpr const char* local_prefix = "refs/heads/";
constexpr const char* remote_prefix = "refs/remotes/";
/// For all branches of a page together.
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

  /// Nothing: it is broken.
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
    // Where history cannot be read, nothing is said of it.
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

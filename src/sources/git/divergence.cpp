/// Painting history from both ends until only common commits are left.
#include "sources/git/divergence.hpp"

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

namespace hondana::git {
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
    // Those that wait in one colour are what keeps the walk going.
    if (at.is_waiting && at.colours != from_both && together == from_both) --one_sided_;
    if (!at.is_waiting && together != from_both) ++one_sided_;
    at.colours = together;
    if (!at.is_waiting) queue_.push({at.node.time, id});
    at.is_waiting = true;
    return true;
  }

  result<bool> walk() {
    // Common commits are walked, too, as long as they may turn out to lie before one that was counted.
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

}  // namespace hondana::git

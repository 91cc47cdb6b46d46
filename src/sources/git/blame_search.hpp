/// Hands lines from commit to commit until nobody older has them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/blame.hpp"
#include "sources/git/blame_lines.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/library.hpp"
#include "sources/git/path_trail.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {

/// A file at a commit, and the lines that may be from there.
struct suspect {
  std::string path;
  path_trail trail;
  std::shared_ptr<const object_bytes> content{};  ///< Null: not read yet, or not kept.
  std::vector<traced_lines> lines{};
};

/// One search; refers to all that it is given.
class blame_search {
 public:
  blame_search(git_repository* in, const commit_store& store, const blame_request& request);

  /// With the file that is asked about, whose content has been read, and the lines in question. Errors: of the store, naming
  /// the commit; cancelled.
  [[nodiscard]] result<blamed> run(commit_node from, suspect file);

 private:
  /// A commit whose children have been looked at, but for those with a clock that was wrong: they make it wait once more.
  struct waiting {
    commit_node node;
    std::vector<suspect> suspects;
  };
  struct turn {
    std::uint64_t time = 0;
    git_oid commit{};
    bool operator<(const turn& other) const noexcept { return time < other.time; }
  };
  using candidates = std::vector<std::pair<const commit_node*, suspect>>;

  void hand(const commit_node& to, suspect file);
  [[nodiscard]] result<void> look_at(const commit_node& at, const std::vector<commit_node>& parents, suspect& file);
  void keep_content(suspect& at, std::shared_ptr<const object_bytes> content);
  [[nodiscard]] waiting take_newest();
  [[nodiscard]] result<std::vector<commit_node>> parents_of(const commit_node& at);
  [[nodiscard]] result<void> read(suspect& file) const;
  /// False: a parent has an equal file and was handed all lines.
  [[nodiscard]] result<bool> find_older(candidates& into, const commit_node& at, const std::vector<commit_node>& parents,
                                        suspect& file);
  [[nodiscard]] bool add(candidates& into, const commit_node& parent, suspect older, suspect& file);
  [[nodiscard]] result<std::optional<suspect>> renamed(const commit_node& at, const commit_node& parent,
                                                       const suspect& file) const;
  [[nodiscard]] result<void> compare_lines(candidates& older, const commit_node& at, suspect& file);
  void keep(std::vector<blamed_lines>& into, const commit_node& at, const suspect& file) const;

  void keep_too_large(const commit_node& at, const suspect& file);

  git_repository* const in_;
  const commit_store& store_;
  const blame_request& request_;
  stopping stopping_;
  std::unordered_map<git_oid, waiting, oid_hash, oid_equal> waiting_;
  std::priority_queue<turn> turns_;
  std::uint64_t kept_bytes_ = 0;  // of contents of those that wait
  blamed found_;
};

}  // namespace hondana::git

/// Whether a commit is one that is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <re2/re2.h>

#include <hondana/error.hpp>

#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/library.hpp"
#include "sources/git/path_trail.hpp"

namespace hondana::git {

/// A filter made ready for one walk. Commits may be asked about in any order; after one the next is cheapest that is its
/// parent. Threads: one at a time.
class commit_filter {
 public:
  /// As `log_request::mask`.
  using masker = std::function<void(std::string& text)>;

  /// `in` must outlive it. Errors: invalid_argument for what RE2 does not take, naming the argument.
  [[nodiscard]] static result<commit_filter> make(const commit_store& in, const log_filter& from, masker mask = {});

  /// All but `since`, which the walk knows. A path takes commits where it differs from that in any parent, and, of those
  /// without parents, where it is there: git log --full-history shows the same merges. Errors: of the store.
  [[nodiscard]] result<bool> takes(const commit_node& commit);

 private:
  commit_filter(const commit_store& in, const log_filter& from, masker mask);
  [[nodiscard]] result<bool> is_said_in(const git_oid& commit) const;
  [[nodiscard]] result<bool> changes_path(const commit_node& commit);
  using shared_trail = std::shared_ptr<const path_trail>;
  [[nodiscard]] result<shared_trail> trail_at(const git_oid& commit, const git_oid& tree, const path_trail* like);

  const commit_store& in_;
  std::optional<std::int64_t> until_;
  std::unique_ptr<const RE2> author_, grep_;
  masker mask_;
  std::optional<path_steps> path_;
  std::unordered_map<git_oid, shared_trail, oid_hash, oid_equal> trails_;  // of commits that are likely to come
};

}  // namespace hondana::git

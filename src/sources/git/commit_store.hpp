/// Reads commits, trees and blobs from the object database, and finds the entry at a path of a commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// The parts of a commit that a walk needs.
struct commit_node {
  git_oid id{};
  git_oid tree{};
  std::vector<git_oid> parents;  ///< Empty where a shallow clone ends.
  std::uint64_t time = 0;        ///< As `commit_parts::time`.
};

struct oid_order {
  bool operator()(const git_oid& a, const git_oid& b) const noexcept { return git_oid_cmp(&a, &b) < 0; }
};
struct oid_equal {
  bool operator()(const git_oid& a, const git_oid& b) const noexcept { return git_oid_equal(&a, &b) != 0; }
};
struct oid_hash {
  std::size_t operator()(const git_oid& id) const noexcept;
};

/// The bytes of an object. Views of them are valid as long as this is.
class object_bytes {
 public:
  explicit object_bytes(odb_object_pointer object) noexcept : object_(std::move(object)) {}
  [[nodiscard]] std::string_view text() const noexcept;

 private:
  odb_object_pointer object_;
};

/// Reads the objects of one repository. Immutable. Threads: as the repository's handle.
class commit_store {
 public:
  /// Errors: source_unavailable for a list of shallow commits that git could not read either.
  [[nodiscard]] static result<commit_store> open(git_repository* repo);

  /// Errors: source_unavailable for an object that is missing or corrupt, invalid_argument for one of another kind,
  /// response_too_large above `max_object_bytes`. Each names the object.
  [[nodiscard]] result<commit_node> read(const git_oid& id) const;
  [[nodiscard]] result<object_bytes> commit(const git_oid& id) const;
  [[nodiscard]] result<object_bytes> tree(const git_oid& id) const;
  /// Errors: as above, but response_too_large above `max_bytes` bytes.
  [[nodiscard]] result<object_bytes> blob(const git_oid& id, std::uint64_t max_bytes) const;

  /// Equal for equal ends of history; empty if the history is complete.
  [[nodiscard]] const std::string& shallow_stamp() const noexcept { return shallow_stamp_; }

  static constexpr std::uint64_t max_object_bytes = std::uint64_t{512} << 20;

 private:
  commit_store(odb_pointer odb, std::vector<git_oid> shallow, std::string stamp) noexcept;
  [[nodiscard]] result<object_bytes> object(const git_oid& id, git_object_t kind, std::uint64_t max_bytes) const;

  odb_pointer odb_;
  std::vector<git_oid> shallow_;  // sorted
  std::string shallow_stamp_;
};

struct commit_metadata;
/// As in history.hpp, with a store that is already open.
[[nodiscard]] result<commit_metadata> read_commit_metadata(const commit_store& store, const git_oid& id);

/// The entry at a path; a mode of 0: there is none.
struct path_entry {
  git_oid id{};
  std::uint32_t mode = 0;  ///< As git canonicalizes it: 100644, 100755, 120000, 40000, 160000.

  [[nodiscard]] bool exists() const noexcept { return mode != 0; }
  [[nodiscard]] bool is_folder() const noexcept { return mode == GIT_FILEMODE_TREE; }
  [[nodiscard]] bool is_submodule() const noexcept { return mode == GIT_FILEMODE_COMMIT; }
  [[nodiscard]] bool is_link() const noexcept { return mode == GIT_FILEMODE_LINK; }
  bool operator==(const path_entry& other) const noexcept { return mode == other.mode && git_oid_equal(&id, &other.id) != 0; }
};

/// The trees from the root to a path in one commit. With it, the trees of another commit are read only where they differ.
struct path_trail {
  std::vector<git_oid> trees;  ///< The root first; shorter if a folder does not exist.
  path_entry entry;            ///< The entry at the path. An empty folder counts as missing, as in git.
};

/// A path split at its slashes.
class path_steps {
 public:
  /// Slashes at the ends and repeated slashes are ignored.
  explicit path_steps(std::string_view path);

  /// The entry at this path below the tree `root`. `similar`: the trail of a similar commit, or null. Errors: of the store.
  [[nodiscard]] result<path_trail> trail(const commit_store& store, const git_oid& root, const path_trail* similar) const;

 private:
  std::vector<std::string> steps_;
};

}  // namespace hondana::git

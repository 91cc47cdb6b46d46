/// Reads commits, trees and blobs from the object database, and finds the entry at a path of a commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/history_overrides.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/mailmap.hpp"

namespace hondana::git {

/// The parts of a commit that a walk needs.
struct commit_node {
  git_oid id{};
  git_oid tree{};
  std::vector<git_oid> parents;  ///< Empty at the end of a shallow clone.
  std::uint64_t time = 0;        ///< `commit_parts::time`.
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

/// Owns the bytes of an object.
class object_bytes {
 public:
  explicit object_bytes(odb_object_pointer object) noexcept : object_(std::move(object)) {}
  /// Valid as long as this object.
  [[nodiscard]] std::string_view text() const noexcept;

 private:
  odb_object_pointer object_;
};

/// Reads the objects of one repository as git shows them: with replaced commits (`git replace`), grafts, and the end of a
/// shallow clone. Immutable. Threads: only those that may use the repository's handle.
class commit_store {
 public:
  /// Opens the object database, and reads the list of commits at which a shallow clone ends, the overrides of history, and the
  /// mailmap. Errors: source_unavailable.
  [[nodiscard]] static result<commit_store> open(git_repository* repo);
  /// Like `open`, but without the mailmap: for callers that show no people.
  [[nodiscard]] static result<commit_store> open_without_people(git_repository* repo);

  // Errors of the next four functions: source_unavailable for an object that is missing or corrupt; invalid_argument for one of
  // another kind; response_too_large above `max_object_bytes` or `max_bytes`. Each names the object.
  /// Reads and parses a commit. Its id is `id`, also if another commit replaces it.
  [[nodiscard]] result<commit_node> read(const git_oid& id) const;
  [[nodiscard]] result<object_bytes> commit(const git_oid& id) const;
  [[nodiscard]] result<object_bytes> tree(const git_oid& id) const;
  [[nodiscard]] result<object_bytes> blob(const git_oid& id, std::uint64_t max_bytes) const;

  /// A digest of the commits at which a shallow clone ends. Empty if the history is complete.
  [[nodiscard]] const std::string& shallow_stamp() const noexcept { return shallow_stamp_; }
  /// A digest of everything that decides which history is walked: the end of a shallow clone, replacements and grafts. Empty:
  /// the recorded history.
  [[nodiscard]] const std::string& history_stamp() const noexcept { return history_stamp_; }
  /// A digest of everything besides objects that decides how commits are shown: `history_stamp` and the mailmap. Empty: as
  /// recorded.
  [[nodiscard]] const std::string& stamp() const noexcept { return stamp_; }
  [[nodiscard]] const mailmap& people() const noexcept { return people_; }
  /// Replaces the recorded parents by those of a graft, if there is one.
  void apply_graft(const git_oid& id, std::vector<git_oid>& parents) const;

  static constexpr std::uint64_t max_object_bytes = std::uint64_t{512} << 20;

 private:
  commit_store(git_repository* repo, odb_pointer odb, std::vector<git_oid> shallow, std::string shallow_stamp,
               std::shared_ptr<const history_overrides> overrides, mailmap people);
  [[nodiscard]] static result<commit_store> open_with(git_repository* repo, mailmap people);
  [[nodiscard]] result<object_bytes> object(const git_oid& id, git_object_t kind, std::uint64_t max_bytes) const;

  git_repository* repo_;
  odb_pointer odb_;
  std::vector<git_oid> shallow_;  // sorted
  std::shared_ptr<const history_overrides> overrides_;
  mailmap people_;
  std::string shallow_stamp_, history_stamp_, stamp_;
};

struct commit_metadata;
struct signature;
/// The author of a commit after the mailmap; empty if the commit is malformed. Errors: those of `commit_store::commit`.
[[nodiscard]] result<signature> read_commit_author(const commit_store& store, const git_oid& id);
/// As in history.hpp, but with an open store.
[[nodiscard]] result<commit_metadata> read_commit_metadata(const commit_store& store, const git_oid& id);

/// The entry at a path of a commit.
struct path_entry {
  git_oid id{};
  std::uint32_t mode = 0;  ///< 0100644, 0100755, 0120000, 040000 or 0160000, as git canonicalizes it. 0: there is no entry.

  [[nodiscard]] bool exists() const noexcept { return mode != 0; }
  [[nodiscard]] bool is_folder() const noexcept { return mode == GIT_FILEMODE_TREE; }
  [[nodiscard]] bool is_submodule() const noexcept { return mode == GIT_FILEMODE_COMMIT; }
  [[nodiscard]] bool is_link() const noexcept { return mode == GIT_FILEMODE_LINK; }
  bool operator==(const path_entry& other) const noexcept { return mode == other.mode && git_oid_equal(&id, &other.id) != 0; }
};

/// The trees from the root to a path in one commit. When the path is then looked up in another commit, equal trees are not read
/// again.
struct path_trail {
  std::vector<git_oid> trees;  ///< The root first. Ends at the last folder that exists.
  path_entry entry;            ///< The entry at the path. An empty folder counts as missing, as in git.
};

/// A path split at its slashes.
class path_steps {
 public:
  /// Ignores slashes at the ends, and repeated slashes.
  explicit path_steps(std::string_view path);

  /// Looks up this path below the tree `root`. `similar`: the trail of the same path in another commit; may be null. Errors:
  /// those of `commit_store::tree`.
  [[nodiscard]] result<path_trail> trail(const commit_store& store, const git_oid& root, const path_trail* similar) const;

 private:
  std::vector<std::string> steps_;
};

}  // namespace hondana::git

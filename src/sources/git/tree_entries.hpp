/// Entries of trees: lookup by path, listing, and whether a caller may see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/rendering.hpp"

namespace hondana::git {

/// One entry of a tree.
struct tree_entry {
  std::string name;  ///< Bytes.
  git_oid id{};
  std::uint32_t mode = 0;

  [[nodiscard]] bool is_folder() const noexcept;
  [[nodiscard]] bool is_link() const noexcept;
  [[nodiscard]] bool is_submodule() const noexcept;
  /// "tree", "blob", "link" or "submodule".
  [[nodiscard]] std::string_view kind() const noexcept;
};

/// The entry at a path below a tree, without following links; the empty path is the tree itself. Errors: resource_not_found,
/// whose text begins with `path: `; source_unavailable for trees that are missing or damaged.
[[nodiscard]] result<tree_entry> find_entry(git_repository* repo, const git_oid& tree, std::string_view path);

/// The error for a file that does not exist, or that the caller may not see.
[[nodiscard]] failure missing_file_error(std::string_view path);

/// The entries of one tree, by index. Their contents are read on access. They must be sorted bytewise, as if names of folders
/// ended in a slash. Other trees are rejected, because their pages would repeat and omit names.
class tree_listing {
 public:
  /// Larger trees are not listed: all entries are examined, and part of that cannot be cancelled.
  static constexpr std::size_t max_entries = 1'000'000;

  /// Errors: source_unavailable, also for trees that are not sorted; response_too_large.
  [[nodiscard]] static result<tree_listing> open(git_repository* repo, const git_oid& tree);

  [[nodiscard]] std::size_t size() const noexcept;
  /// False for names that no path could have (`..`, `.git`, names with a slash). Git rejects such trees, too.
  [[nodiscard]] bool is_valid(std::size_t index) const noexcept;
  /// Valid as long as this object.
  [[nodiscard]] std::string_view name(std::size_t index) const noexcept;
  [[nodiscard]] bool is_folder(std::size_t index) const noexcept;
  [[nodiscard]] tree_entry at(std::size_t index) const;

 private:
  explicit tree_listing(tree_pointer tree) noexcept : tree_(std::move(tree)) {}

  tree_pointer tree_;
};

/// The folder that an address of a tree names. Errors of `find_folder`: of `resolve_revision`; resource_not_found, also for
/// secret folders, saying why, and for files that are hidden; invalid_argument for other files.
struct resolved_folder {
  git_oid tree{};
  bool is_fixed = false;
};
[[nodiscard]] result<resolved_folder> find_folder(git_repository* repo, const address& address,
                                                  const visibility_filter& visibility);

[[nodiscard]] address entry_address(const address& folder, const tree_entry& entry);

/// What a caller may know of an entry of a folder. If it is secret: only that something is left out because of its name.
enum class entry_visibility : std::uint8_t { visible, secret, hidden };
[[nodiscard]] entry_visibility visibility_of(const tree_entry& entry, const address& folder,
                                             const visibility_filter& visibility);

}  // namespace hondana::git

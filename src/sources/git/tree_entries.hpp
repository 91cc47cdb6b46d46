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
  std::string name;  ///< Bytes as in the tree, which need not be UTF-8.
  git_oid id{};
  std::uint32_t mode = 0;  ///< As in the tree.

  [[nodiscard]] bool is_folder() const noexcept;
  [[nodiscard]] bool is_link() const noexcept;
  [[nodiscard]] bool is_submodule() const noexcept;
  /// "tree", "blob", "link" or "submodule".
  [[nodiscard]] std::string_view kind() const noexcept;
};

/// Finds the entry at a path below a tree, without following links. The empty path is the tree itself. Errors:
/// resource_not_found, whose text begins with `path: `; source_unavailable for trees that are missing or damaged.
[[nodiscard]] result<tree_entry> find_entry(git_repository* repo, const git_oid& tree, std::string_view path);

/// The error resource_not_found, for a file that does not exist or that the caller may not see.
[[nodiscard]] failure missing_file_error(std::string_view path);

/// The entries of one tree, in git's order: bytewise, as if names of folders ended in a slash.
class tree_listing {
 public:
  static constexpr std::size_t max_entries = 1'000'000;

  /// Opens a tree. Errors: source_unavailable, also for a tree that is not sorted; response_too_large above `max_entries`.
  [[nodiscard]] static result<tree_listing> open(git_repository* repo, const git_oid& tree);

  [[nodiscard]] std::size_t size() const noexcept;
  /// False for names that no path could have (`..`, `.git`, names with a slash). Git rejects such trees, too.
  [[nodiscard]] bool is_valid(std::size_t index) const noexcept;
  /// The result is valid as long as this object.
  [[nodiscard]] std::string_view name(std::size_t index) const noexcept;
  [[nodiscard]] bool is_folder(std::size_t index) const noexcept;
  [[nodiscard]] tree_entry at(std::size_t index) const;

 private:
  explicit tree_listing(tree_pointer tree) noexcept : tree_(std::move(tree)) {}

  tree_pointer tree_;
};

/// The result of `find_folder`.
struct resolved_folder {
  git_oid tree{};
  bool is_fixed = false;  ///< `revision::is_fixed`.
};
/// Finds the folder that an address of the kind tree names. Does not check whether access rules allow the caller to see it.
/// Errors: those of `resolve_tree` and `find_entry`; resource_not_found also for folders that are hidden from every caller,
/// saying why, and for hidden files; invalid_argument for other files.
[[nodiscard]] result<resolved_folder> find_folder(git_repository* repo, const address& address,
                                                  const visibility_filter& visibility);

/// The address of an entry of a folder: a tree, or a blob for everything else.
[[nodiscard]] address entry_address(const address& folder, const tree_entry& entry);

/// What a caller may know of an entry of a folder.
enum class entry_visibility : std::uint8_t {
  visible,
  secret,  ///< Hidden from every caller. The caller may know that an entry is left out, but not its name.
  hidden   ///< The caller must not know that it exists.
};
[[nodiscard]] entry_visibility visibility_of(const tree_entry& entry, const address& folder,
                                             const visibility_filter& visibility);

}  // namespace hondana::git

/// What lies in trees, by path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "providers/git/address.hpp"
#include "providers/git/library.hpp"
#include "providers/git/rendering.hpp"

namespace hondana::git {

/// One name in a tree.
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

/// What a path leads to from a tree, without following links; the empty path is the tree itself. Errors: resource_not_found,
/// which begins with `path: `; source_unavailable for trees that are missing or damaged.
[[nodiscard]] result<tree_entry> find_entry(git_repository* in, const git_oid& tree, std::string_view path);

/// What is said of a file that is not there, or not for the caller.
[[nodiscard]] failure missing_file(std::string_view path);

/// Entries whose names no path could have (`..`, `.git`, names with a slash) are left out: git refuses such trees, too.
/// Errors: source_unavailable.
[[nodiscard]] result<std::vector<tree_entry>> entries_of(git_repository* in, const git_oid& tree);

/// The folder that an address of a tree means. Errors: of `resolve`; resource_not_found, also for folders of secrets, saying
/// why, and for files that are not shown; invalid_argument for others.
struct found_folder {
  git_oid tree{};
  bool is_fixed = false;
};
[[nodiscard]] result<found_folder> find_folder(git_repository* in, const address& at, const concealment& hides);

/// The address of an entry of a folder.
[[nodiscard]] address address_of(const address& folder, const tree_entry& one);

/// What a caller may see of a folder.
struct shown_entries {
  std::vector<tree_entry> entries;
  std::size_t secrets = 0;  ///< How many are left out for their names.
};
[[nodiscard]] shown_entries shown_of(std::vector<tree_entry> all, const address& folder, const concealment& hides);

}  // namespace hondana::git

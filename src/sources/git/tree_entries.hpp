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

/// The entries of one tree, by their place in it; what is asked of one is read then. They are sorted by bytes, as if names of
/// folders ended in a slash; what is not is refused, since pages of it would repeat and leave out names.
class tree_listing {
 public:
  /// More are not listed: all of them are looked at, and some of that cannot be stopped.
  static constexpr std::size_t most_entries = 1'000'000;

  /// Errors: source_unavailable, also for trees that are not sorted; response_too_large.
  [[nodiscard]] static result<tree_listing> open(git_repository* in, const git_oid& tree);

  [[nodiscard]] std::size_t size() const noexcept;
  /// Not so are names that no path could have (`..`, `.git`, names with a slash): git refuses such trees, too.
  [[nodiscard]] bool is_sound(std::size_t place) const noexcept;
  /// Lives as long as this.
  [[nodiscard]] std::string_view name(std::size_t place) const noexcept;
  [[nodiscard]] bool is_folder(std::size_t place) const noexcept;
  [[nodiscard]] tree_entry at(std::size_t place) const;

 private:
  explicit tree_listing(tree_pointer tree) noexcept : tree_(std::move(tree)) {}

  tree_pointer tree_;
};

/// The folder that an address of a tree means. Errors: of `resolve`; resource_not_found, also for folders of secrets, saying
/// why, and for files that are not shown; invalid_argument for others.
struct found_folder {
  git_oid tree{};
  bool is_fixed = false;
};
[[nodiscard]] result<found_folder> find_folder(git_repository* in, const address& at, const concealment& hides);

/// The address of an entry of a folder.
[[nodiscard]] address address_of(const address& folder, const tree_entry& one);

/// What a caller may know of an entry of a folder. Of a secret: that something there is left out for its name.
enum class entry_sight : std::uint8_t { shown, secret, hidden };
[[nodiscard]] entry_sight sight_of(const tree_entry& one, const address& folder, const concealment& hides);

}  // namespace hondana::git

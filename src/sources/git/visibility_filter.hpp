/// Decides what a caller may not see of a repository: secrets, ignored files, the server's own files, and files that access
/// rules deny.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/private_file.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Finds the server's own files in the trees of `location`. `protected_paths`: their absolute paths without links. A file of
/// one work tree has the same path in the trees of all work trees of the repository. Therefore paths below other work trees of
/// the same repository count, too: below those among `locations`, and below the main one.
[[nodiscard]] disk::own_files find_own_files(const repository_location& location,
                                             const std::vector<repository_location>& locations,
                                             const std::vector<std::string>& protected_paths);

/// Decides what one caller may see of one repository. Hidden from every caller: files whose names suggest credentials, the
/// server's own files, and ignored paths. The arguments of the constructor must outlive this object.
class visibility_filter {
 public:
  /// `masks`: mask secrets in texts. `filter`: the access filter of the caller; null: it may access everything. `slug`: the
  /// name of the repository in URIs.
  visibility_filter(bool masks, const access_filter* filter, std::string_view slug, const disk::own_files& own_files,
                    ignored_paths& ignored) noexcept
      : masks_(masks), filter_(filter), slug_(slug), own_files_(own_files), ignored_(ignored) {}

  /// Why a path is hidden from every caller at every revision: "its name suggests that it contains a private key". Empty: it is
  /// not. The reason may be a folder above it.
  [[nodiscard]] std::string hidden_reason(std::string_view path, bool is_folder) const;
  /// The ignored paths that `hidden_reason` uses. They record the ignore files that were read.
  [[nodiscard]] ignored_paths& ignored() const noexcept { return ignored_; }
  /// A text that differs between different access filters. Empty: the caller has none.
  [[nodiscard]] std::string filter_key() const { return filter_ == nullptr ? std::string() : std::to_string(filter_->id()); }
  /// The error resource_not_found for a hidden path. `reason`: from `hidden_reason`.
  [[nodiscard]] static failure hidden_error(std::string_view path, std::string_view reason);
  /// Why a file of the work tree is hidden from every caller: it is a hard link to one of the server's own files. Empty: it is
  /// not.
  [[nodiscard]] std::string hidden_inode_reason(const struct stat& attributes) const;

  // `kind`: the `resource::kind` of the entry, which access rules may check.
  /// Whether the caller may read a file at a revision: `allows_file`, and `hidden_reason` is empty.
  [[nodiscard]] bool shows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether access rules allow the caller to read a file at a revision: its URI blob/REV/PATH.
  [[nodiscard]] bool allows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether the caller may see a folder at a revision: `lists` for its URI tree/REV/PATH.
  [[nodiscard]] bool shows_folder(std::string_view rev, std::string_view path) const;
  /// Whether access rules allow the caller to see an entry of a tree.
  [[nodiscard]] bool allows(std::string uri, std::string_view kind) const;
  /// Whether the caller may see an entry of a tree: `allows`, and `hidden_reason` is empty.
  [[nodiscard]] bool lists(const std::string& uri, std::string_view path, bool is_folder, std::string_view kind) const;

  // Masking replaces secrets in place, without changing lengths. Returns their number, 0 if masking is off.
  /// Masks the content of a file. `path`: selects the rules.
  std::size_t mask_file(std::string_view path, std::string& bytes) const;
  /// Masks a message, a name or another text.
  std::size_t mask_message(std::string& text) const;
  [[nodiscard]] std::string masked_message(std::string text) const {
    mask_message(text);
    return text;
  }

 private:
  const bool masks_;
  const access_filter* const filter_;
  const std::string_view slug_;
  const disk::own_files& own_files_;
  ignored_paths& ignored_;
};

}  // namespace hondana::git

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

/// The server's own files, by their paths in the trees of `location`. `protected_paths`: their absolute paths, with links
/// resolved. A file in one work tree of a repository has the same path in the trees of the others. So all work trees with the
/// same objects as `location` count: those among `locations`, and the main one.
[[nodiscard]] disk::own_files find_own_files(const repository_location& location,
                                             const std::vector<repository_location>& locations,
                                             const std::vector<std::string>& protected_paths);

/// Decides what one caller may see of one repository. Lifetime: refers to its arguments.
class visibility_filter {
 public:
  /// `filter` may be null: then the caller has no access rules. `masks`: secrets in texts are masked. Always hidden: files
  /// whose names suggest credentials, the server's `own_files` by their paths in a tree, and `ignored` paths.
  visibility_filter(bool masks, const access_filter* filter, std::string_view slug, const disk::own_files& own_files,
                    ignored_paths& ignored) noexcept
      : masks_(masks), filter_(filter), slug_(slug), own_files_(own_files), ignored_(ignored) {}

  /// Why a path is hidden from every caller at every revision; empty: it may be shown. The reason may be a folder above it.
  /// Example: "its name suggests that it contains a private key".
  [[nodiscard]] std::string hidden_reason(std::string_view path, bool is_folder) const;
  /// The ignored paths, on which those reasons depend. It records which folders were queried, because ignore files may change.
  [[nodiscard]] ignored_paths& ignored() const noexcept { return ignored_; }
  /// Differs between callers with different access rules; empty for a caller without rules.
  [[nodiscard]] std::string filter_key() const { return filter_ == nullptr ? std::string() : std::to_string(filter_->id()); }
  /// The error of a read of such a path: resource_not_found, with that reason.
  [[nodiscard]] static failure hidden_error(std::string_view path, std::string_view reason);
  /// Why a file of the work tree is hidden from every caller by its inode: it is one of the server's own under another name.
  [[nodiscard]] std::string hidden_inode_reason(const struct stat& attributes) const;

  /// Whether a file may be shown at a revision: its blob's URI may be read, and `hidden_reason` is empty. `kind` is that of its
  /// entry, which access rules may check.
  [[nodiscard]] bool shows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether access rules allow a file to be read at a revision. Does not check its name.
  [[nodiscard]] bool allows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether a folder may be shown: its tree's URI may be seen, and `hidden_reason` is empty.
  [[nodiscard]] bool shows_folder(std::string_view rev, std::string_view path) const;
  /// Whether access rules allow an entry of a tree to be seen. Does not check its name.
  [[nodiscard]] bool allows(std::string uri, std::string_view kind) const;
  /// Whether an entry of a tree may be seen, by access rules and by its name.
  [[nodiscard]] bool lists(const std::string& uri, std::string_view path, bool is_folder, std::string_view kind) const;

  /// Masks the secrets in the content of a file, in place. Returns their number.
  std::size_t mask_file(std::string_view path, std::string& bytes) const;
  /// The same for messages.
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

/// Reads and lists files of a work tree without following links.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// The entry at a path. The mode is one that an index could have: of a file, a link, or a folder; 0: nothing that git tracks.
struct work_file {
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  struct stat attributes{};
};

/// A name in a folder.
struct work_entry {
  std::string name;
  std::uint32_t mode = 0;  ///< As `work_file::mode`, but always 0100644 for files.
};

/// Reads only what is in the folder. The kernel resolves paths below it, and follows no links. Special files, such as FIFOs,
/// are never opened. Filters, attributes and hooks of git are not used. Threads: any.
class work_tree {
 public:
  /// Errors: unsupported for a bare repository; source_unavailable.
  [[nodiscard]] static result<work_tree> open(git_repository* repo);

  /// The entry at a path. The mode is 0 if nothing exists there, if the path leads through a link, or if it is invalid (`..`,
  /// `.git`, an empty name).
  /// Errors: access_denied if the operating system denies access; source_unavailable if it fails for now.
  [[nodiscard]] result<work_file> inspect(const std::string& path) const;
  /// The bytes of a file, or the target of a link. Errors: response_too_large; content_changed if it no longer exists; those of
  /// `inspect`.
  [[nodiscard]] result<std::string> read(const std::string& path, std::uint64_t max_bytes) const;
  /// The names in a folder (empty: the work tree itself), sorted bytewise; none if it no longer exists.
  /// Errors: response_too_large above `max_entries`; those of `inspect`.
  [[nodiscard]] result<std::vector<work_entry>> list(const std::string& folder, std::size_t max_entries) const;

 private:
  explicit work_tree(disk::handle folder) noexcept : folder_(std::move(folder)) {}
  disk::handle folder_;
};

}  // namespace hondana::git

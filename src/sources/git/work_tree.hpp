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

/// The entry at a path.
struct work_file {
  std::uint32_t mode = 0;  ///< The mode in git of a file, a link or a folder. 0: nothing exists, or git does not track it.
  std::uint64_t size = 0;  ///< In bytes.
  struct stat attributes{};
};

/// A name in a folder.
struct work_entry {
  std::string name;
  std::uint32_t mode = 0;  ///< As `work_file::mode`, but 0100644 also for executable files.
};

/// Reads the folder of a work tree. Follows no links, and never opens special files such as FIFOs. Uses no filters, attributes
/// and hooks of git. Paths are relative to the folder. Threads: any.
class work_tree {
 public:
  /// Errors: unsupported for a bare repository; source_unavailable.
  [[nodiscard]] static result<work_tree> open(git_repository* repo);

  /// Returns the attributes of an entry. The mode is also 0 if the path leads through a link, or is invalid (`..`, `.git`, an
  /// empty name). Errors: access_denied if the operating system denies access; source_unavailable if it fails for now.
  [[nodiscard]] result<work_file> inspect(const std::string& path) const;
  /// Reads a file, or the target of a link. Errors: response_too_large above `max_bytes`; content_changed if it does not exist;
  /// those of `inspect`.
  [[nodiscard]] result<std::string> read(const std::string& path, std::uint64_t max_bytes) const;
  /// Lists the names in a folder, in byte order. Empty path: the work tree itself. Returns no names if the folder does not
  /// exist. Errors: response_too_large above `max_entries`; those of `inspect`.
  [[nodiscard]] result<std::vector<work_entry>> list(const std::string& folder, std::size_t max_entries) const;

 private:
  explicit work_tree(disk::handle folder) noexcept : folder_(std::move(folder)) {}
  disk::handle folder_;
};

}  // namespace hondana::git

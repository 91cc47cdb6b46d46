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

/// What is at a path. The mode is one that an index could have: of a file, a link, or a folder; 0: nothing that git tracks.
struct work_file {
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  struct stat facts{};
};

/// A name in a folder.
struct work_entry {
  std::string name;
  std::uint32_t mode = 0;  ///< As `work_file::mode`, but that of files is always 0100644.
};

/// Reads nothing but what lies in the folder: the kernel resolves beneath it, and follows no links. What is no regular file or
/// link is never opened. Nothing of git's is used for it: no filters, no attributes, no hooks. Threads: any.
class work_tree {
 public:
  /// Errors: unsupported for a bare repository; source_unavailable.
  [[nodiscard]] static result<work_tree> open(git_repository* of);

  /// Where nothing is, or the way leads through a link, or the path is none (`..`, `.git`, an empty name), the mode is 0.
  /// Errors: access_denied where the operating system does not let it; source_unavailable where it cannot now.
  [[nodiscard]] result<work_file> look(const std::string& path) const;
  /// The bytes of a file, or what a link leads to. Errors: response_too_large; content_changed when it has gone;
  /// those of `look`.
  [[nodiscard]] result<std::string> read(const std::string& path, std::uint64_t most) const;
  /// Names in a folder (empty: the work tree itself), bytewise; none where it has gone.
  /// Errors: response_too_large beyond `most`; those of `look`.
  [[nodiscard]] result<std::vector<work_entry>> list(const std::string& folder, std::size_t most) const;

 private:
  explicit work_tree(disk::handle folder) noexcept : folder_(std::move(folder)) {}
  disk::handle folder_;
};

}  // namespace hondana::git

/// Walks a folder and everything below it, without following links.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// What a walk does after a visitor has seen an entry.
enum class walk_action {
  descend,  ///< Continues; enters the entry if it is a folder.
  skip,     ///< Continues, without entering the entry.
  stop,     ///< Ends the walk, which then has succeeded.
};

/// An entry that a walk finds.
struct walk_entry {
  const std::string& path;        ///< Relative to the folder that is walked.
  const char* name;               ///< The last segment of `path`.
  int folder;                     ///< The descriptor of the folder that it is in.
  std::size_t depth;              ///< 1 in that folder itself.
  const struct stat& attributes;  ///< Of a link itself, not of its target.
};

/// Receives what a walk finds.
class dir_visitor {
 public:
  dir_visitor() = default;
  dir_visitor(const dir_visitor&) = delete;
  dir_visitor& operator=(const dir_visitor&) = delete;
  virtual ~dir_visitor() = default;

  /// Called with the path (empty: the folder that is walked) and the descriptor of each folder before it is read.
  virtual void enter_folder(const std::string& /*path*/, int /*descriptor*/) {}
  /// Called once for each folder that was entered, the innermost first, unless the walk fails.
  virtual void leave_folder(int /*descriptor*/) {}
  /// Called for each name, before the attributes are read. `skip`: does not visit it.
  [[nodiscard]] virtual walk_action select(const dirent& /*entry*/) { return walk_action::descend; }
  /// Called for each selected entry.
  [[nodiscard]] virtual walk_action visit(const walk_entry& entry) = 0;
  /// Called for an entry that the operating system denies access to. It is left out. `reason`: for people.
  virtual void on_denied(const std::string& path, std::string reason) = 0;
};

/// Why a walk failed.
struct walk_error {
  int error = 0;  ///< The errno.
  std::string
      path{};  ///< Of the folder that could not be read, or the entry that could not be examined; empty: the top folder.
};

/// Walks a folder. Names are in no particular order. Entries that are deleted or replaced meanwhile are left out. Needs a
/// descriptor for each level of folders, which the visitor must limit. `folder`: open for reading; if it is not open, errno
/// must be the reason.
/// Errors: every failure that does not show that an entry is gone, such as an I/O error or a lack of descriptors.
[[nodiscard]] tl::expected<void, walk_error> walk(handle folder, dir_visitor& visitor);

}  // namespace hondana::disk

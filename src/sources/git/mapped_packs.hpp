/// Pack files that libgit2 has mapped into memory: detects changes, and turns truncation (SIGBUS) into an error.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_stamp.hpp"

namespace hondana::git {

/// By path below an object folder.
using pack_stamps = std::map<std::string, disk::stamp>;

/// The stamps of the files in the folder `pack` of `object_folder`, and of the commit graph; of at most 1000 files. Nothing if
/// it cannot be listed now. Cost: one `lstat` per file.
[[nodiscard]] std::optional<pack_stamps> read_pack_stamps(const std::string& object_folder);

/// Whether a file was added, changed or replaced since `previous`. Deleted files do not matter, because a mapping keeps their
/// content.
[[nodiscard]] bool have_changed(const pack_stamps& previous, const pack_stamps& current);

/// Installs a handler of SIGBUS, at the first call. On threads inside a `truncation_guard`, an access to a part that a mapped
/// file has lost then reads zeros. On other threads and for other causes, the previous handler decides. Errors:
/// source_unavailable.
///
/// Mapping cannot be avoided: libgit2 reads packs, their indexes and multi-pack-indexes in no other way. Git itself never
/// truncates them, but replaces them. A program that overwrites or truncates them would end this process.
[[nodiscard]] result<void> install_sigbus_handler();

/// What one handle may have mapped: everything below its object folders. libgit2 maps a pack once for all handles of the
/// process. So zeros that one handle has read concern all handles with that folder. Threads: any.
class mapped_folders {
 public:
  /// Errors: source_unavailable while other handles still have a truncated file in one of the folders mapped.
  [[nodiscard]] static result<std::shared_ptr<const mapped_folders>> create(const std::vector<std::string>& folders);

  /// Whether anything that was read may have been zeros instead of content.
  [[nodiscard]] bool is_truncated() const noexcept;
  /// Whether packs were added or changed since the first handle mapped them. A file that is truncated within its last page
  /// reads as zeros without a signal. Cost: as `read_pack_stamps`.
  [[nodiscard]] bool is_outdated() const;
  /// Whether both have a folder in common.
  [[nodiscard]] bool shares_folder_with(const mapped_folders& other) const noexcept;
  /// Marks all folders as truncated. Async-signal-safe.
  void mark_truncated() const noexcept;

 private:
  struct folder_state {
    std::string folder;
    std::optional<pack_stamps> packs;  // as of its construction; absent: unknown
    std::atomic<bool> is_truncated{false};
  };
  static_assert(std::atomic<bool>::is_always_lock_free);

  std::vector<std::shared_ptr<folder_state>> states_;  // shared by all handles with the folder
};

/// The error of every call that has read truncated files.
[[nodiscard]] tl::unexpected<failure> truncated_error();

/// While it exists, truncated files that this thread finds count for `folders`. Constructed and destroyed on one thread.
class truncation_guard {
 public:
  explicit truncation_guard(std::shared_ptr<const mapped_folders> folders) noexcept;
  ~truncation_guard();
  truncation_guard(const truncation_guard&) = delete;
  truncation_guard& operator=(const truncation_guard&) = delete;

  [[nodiscard]] const std::shared_ptr<const mapped_folders>& folders() const noexcept { return folders_; }
  [[nodiscard]] const truncation_guard* outer() const noexcept { return outer_; }

 private:
  const std::shared_ptr<const mapped_folders> folders_;
  truncation_guard* outer_;
};

}  // namespace hondana::git

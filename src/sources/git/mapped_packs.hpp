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

/// Stamps of files, by path below an object folder.
using pack_stamps = std::map<std::string, disk::stamp>;

/// Reads the stamps of at most 1000 files: the commit graph, and those in the folder `pack` of `object_folder`. Returns nullopt
/// if the folder cannot be listed now. Cost: one `lstat` per file.
[[nodiscard]] std::optional<pack_stamps> read_pack_stamps(const std::string& object_folder);

/// Whether a file was added, changed or replaced since `previous`. Deleted files do not count, because their mappings stay
/// valid.
[[nodiscard]] bool have_changed(const pack_stamps& previous, const pack_stamps& current);

/// Installs a handler of SIGBUS, at the first call. On a thread that has a `truncation_guard`, reading a part of a mapped file
/// that was truncated then yields zeros. On other threads and for other causes, the previous handler is called. Errors:
/// source_unavailable.
///
/// Reason: libgit2 always maps packs. Git never truncates them. But if another program does, SIGBUS would end this process.
[[nodiscard]] result<void> install_sigbus_handler();

/// The object folders whose files one libgit2 handle may have mapped. All handles with the same folder share its state, because
/// libgit2 maps a pack once for the whole process. Threads: any.
class mapped_folders {
 public:
  /// `folders`: paths. Errors: source_unavailable while another handle still has a truncated file in one of the folders mapped.
  [[nodiscard]] static result<std::shared_ptr<const mapped_folders>> create(const std::vector<std::string>& folders);

  /// Whether a truncated file was found. Anything that was read may then be zeros instead of content.
  [[nodiscard]] bool is_truncated() const noexcept;
  /// Whether packs were added or changed since the first of the handles was created. This also finds files that were truncated
  /// within their last page, which causes no signal. Cost: as `read_pack_stamps`.
  [[nodiscard]] bool is_outdated() const;
  /// Whether both have a folder in common.
  [[nodiscard]] bool shares_folder_with(const mapped_folders& other) const noexcept;
  /// Marks all folders as truncated. Async-signal-safe.
  void mark_truncated() const noexcept;

 private:
  struct folder_state {
    std::string folder;
    std::optional<pack_stamps> packs;  // at its construction; nullopt: unknown
    std::atomic<bool> is_truncated{false};
  };
  static_assert(std::atomic<bool>::is_always_lock_free);

  std::vector<std::shared_ptr<folder_state>> states_;  // shared by all handles with the folder
};

/// The error of every call that has read truncated files.
[[nodiscard]] tl::unexpected<failure> truncated_error();

/// While it exists, a truncated file that this thread reads marks `folders` as truncated, instead of ending the process. Must
/// be destroyed on the thread that constructed it.
class truncation_guard {
 public:
  explicit truncation_guard(std::shared_ptr<const mapped_folders> folders) noexcept;
  ~truncation_guard();
  truncation_guard(const truncation_guard&) = delete;
  truncation_guard& operator=(const truncation_guard&) = delete;

  [[nodiscard]] const std::shared_ptr<const mapped_folders>& folders() const noexcept { return folders_; }
  /// The guard that this thread constructed before this one. Null: none.
  [[nodiscard]] const truncation_guard* outer() const noexcept { return outer_; }

 private:
  const std::shared_ptr<const mapped_folders> folders_;
  truncation_guard* outer_;
};

}  // namespace hondana::git

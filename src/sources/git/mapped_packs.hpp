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

/// The stamps of the files in its folder `pack`, and of the commit graph; of at most 1000 files. Nothing if it cannot be listed
/// now. Cost: one `lstat` per file.
[[nodiscard]] std::optional<pack_stamps> stamps_of_packs(const std::string& objects);

/// Whether a file was added, changed or replaced since `before`. Deleted files do not matter, because a mapping keeps their
/// content.
[[nodiscard]] bool have_changed(const pack_stamps& before, const pack_stamps& now);

/// Installs a handler of SIGBUS, at the first call. On threads inside a `torn_page_guard`, an access to a part that a mapped
/// file has lost then reads zeros. On other threads and for other causes, the previous handler decides. Errors:
/// source_unavailable.
///
/// Mapping cannot be avoided: libgit2 reads packs, their indexes and multi-pack-indexes in no other way. Git itself never
/// truncates them, but replaces them. A program that overwrites or truncates them would end this process.
[[nodiscard]] result<void> catch_torn_pages();

/// What one handle may have mapped: everything below its object folders. libgit2 maps a pack once for all handles of the
/// process. So zeros that one handle has read concern all handles with that folder. Threads: any.
class mapped_folders {
 public:
  /// Errors: source_unavailable while other handles still have a torn file in one of the folders mapped.
  [[nodiscard]] static result<std::shared_ptr<const mapped_folders>> of(const std::vector<std::string>& folders);

  /// Whether anything that was read may have been zeros instead of content.
  [[nodiscard]] bool is_torn() const noexcept;
  /// Whether packs were added or changed since the first handle mapped them. A file that is truncated within its last page
  /// reads as zeros without a signal. Cost: as `stamps_of_packs`.
  [[nodiscard]] bool is_outdated() const;
  /// Whether both have a folder in common.
  [[nodiscard]] bool shares_with(const mapped_folders& other) const noexcept;
  /// Marks all folders as torn. Async-signal-safe.
  void tear() const noexcept;

 private:
  struct mark {
    std::string folder;
    std::optional<pack_stamps> packs;  // as of its construction; absent: unknown
    std::atomic<bool> is_torn{false};
  };
  static_assert(std::atomic<bool>::is_always_lock_free);

  std::vector<std::shared_ptr<mark>> marks_;  // shared by all handles with the folder
};

/// The error of every call that has read torn files.
[[nodiscard]] tl::unexpected<failure> torn();

/// While it exists, torn files that this thread finds count for `what`. Constructed and destroyed on one thread.
class torn_page_guard {
 public:
  explicit torn_page_guard(std::shared_ptr<const mapped_folders> what) noexcept;
  ~torn_page_guard();
  torn_page_guard(const torn_page_guard&) = delete;
  torn_page_guard& operator=(const torn_page_guard&) = delete;

  [[nodiscard]] const std::shared_ptr<const mapped_folders>& what() const noexcept { return what_; }
  [[nodiscard]] const torn_page_guard* outer() const noexcept { return outer_; }

 private:
  const std::shared_ptr<const mapped_folders> what_;
  torn_page_guard* outer_;
};

}  // namespace hondana::git

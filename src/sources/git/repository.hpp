/// One served repository: a pool of libgit2 handles, one for each call.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/private_file.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/mapped_packs.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// A repository and its libgit2 handles. One call at a time uses a handle, because libgit2's are not thread-safe. Threads: any.
class repository : public std::enable_shared_from_this<repository> {
 public:
  /// `location`: the result of `locate`. `own_files`: the server's own files, by their paths in trees. Errors: those of
  /// `acquire`.
  [[nodiscard]] static result<std::shared_ptr<repository>> open(std::string slug, repository_location location,
                                                                std::vector<std::string> roots, disk::own_files own_files = {});

  ~repository();
  repository(const repository&) = delete;
  repository& operator=(const repository&) = delete;

  /// A handle, and the folders whose files it may have mapped.
  struct pooled_handle {
    std::shared_ptr<const mapped_folders> folders;
    repository_pointer handle;  // destroyed first
    std::size_t generation = 0;
  };

  /// A handle for one call, on one thread. It returns to the pool when it is destroyed, unless one of its files was truncated.
  class lease {
   public:
    /// `guard` covers the same folders as `pooled`.
    lease(std::shared_ptr<repository> owner, pooled_handle pooled, std::unique_ptr<truncation_guard> guard) noexcept
        : owner_(std::move(owner)), guard_(std::move(guard)), pooled_(std::move(pooled)) {}
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) = delete;
    ~lease();
    [[nodiscard]] git_repository* get() const noexcept { return pooled_.handle.get(); }
    /// Whether files that this or a concurrent call has mapped were truncated. Then the content that was read may be wrong, and
    /// the call must return `truncated_error()`.
    [[nodiscard]] bool is_truncated() const noexcept { return pooled_.folders->is_truncated(); }

    /// For a call that failed because of objects or references: neither this handle nor the others are used again. What they
    /// know of packs dates from when they were opened, perhaps while files were incomplete. Does nothing if they were retired
    /// since this one was acquired, or less than a second ago.
    void retire();
    /// For a call that ran out of descriptors: this handle is not used again, and is closed with everything it has open.
    void discard() noexcept { is_discarded_ = true; }
    /// For a call that found something missing: whether packs were added or changed since they were mapped. If so, all handles
    /// that may have them mapped are retired, and the call should be tried again. Cost: one `lstat` per file of the pack
    /// folders.
    [[nodiscard]] bool retire_if_outdated();

   private:
    std::shared_ptr<repository> owner_;
    std::unique_ptr<truncation_guard> guard_;
    pooled_handle pooled_;
    bool is_discarded_ = false;
  };
  /// Acquires a handle. Screens the repository again if its configuration or pointers have changed. A handle has the screened
  /// configuration in memory: libgit2 reads none itself.
  /// Errors: as `locate`. source_unavailable if libgit2 rejects the repository, if another one has replaced it, and while other
  /// calls have truncated files mapped.
  [[nodiscard]] result<lease> acquire();

  /// Closes all idle handles of all repositories of this process, for when descriptors run out.
  static void drop_idle_handles();
  /// How often that was done. If this changes during a call, the call may have failed for lack of descriptors, too.
  [[nodiscard]] static std::size_t idle_drop_count() noexcept;

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  /// As of the last screening; its alternates may change. Never waits for a screening.
  [[nodiscard]] repository_location location() const;
  [[nodiscard]] const std::vector<std::string>& roots() const noexcept { return roots_; }
  [[nodiscard]] const disk::own_files& own_files() const noexcept { return own_files_; }

 private:
  repository(std::string slug, repository_location location, std::vector<std::string> roots, disk::own_files own_files);
  struct snapshot {
    std::shared_ptr<const screened_repository> screened;
    std::size_t generation = 0;
  };
  [[nodiscard]] snapshot current() const;
  /// Screens the repository, unless another call has done so since `seen`.
  result<void> screen(const snapshot& seen);
  /// An idle handle; nothing if there is none.
  [[nodiscard]] std::optional<pooled_handle> pop_idle();
  /// Returns a handle to the pool. Closes idle handles of all repositories if too many packs would be open.
  void return_to_pool(pooled_handle pooled) noexcept;
  /// True if the handle was stored, or is not worth storing. False if others must be closed first; never on the last try.
  [[nodiscard]] bool try_store(pooled_handle& pooled, bool is_last_try) noexcept;
  /// In all repositories of this process.
  static void close_idle_handles();
  /// After each change of `idle_`, with `mutex_` held.
  void count_idle_packs() noexcept;
  /// Retires the handles of this generation, after a failure.
  void retire_generation(std::size_t generation);
  /// Retires the handles of this repository, unless that was done since `generation`. Also retires all idle handles of this
  /// process that have the same files mapped.
  void retire_sharing(const mapped_folders& folders, std::size_t generation);
  /// In all repositories of this process, because those that share objects share mappings.
  static void drop_truncated_handles();

  const std::string slug_;
  const std::string path_;  // of the work tree, or the bare folder
  const std::vector<std::string> roots_;
  const disk::own_files own_files_;
  std::mutex screening_mutex_;  // held during a screening; locked before `mutex_`
  mutable std::mutex mutex_;    // guards the members below; never held during file access
  std::shared_ptr<const screened_repository> screened_;
  std::size_t generation_ = 0;                                       // handles of an earlier one are not used again
  std::optional<std::chrono::steady_clock::time_point> retired_at_;  // last time because of a failure
  std::vector<pooled_handle> idle_;
  std::size_t idle_packs_ = 0;  // packs of idle handles, as included in `idle_pack_count`
};

}  // namespace hondana::git

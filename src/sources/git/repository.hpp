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

/// A repository with a pool of libgit2 handles. Each handle is used by one call at a time, because it is not thread-safe.
/// Threads: any.
class repository : public std::enable_shared_from_this<repository> {
 public:
  /// Opens a repository. `slug`: its name in URIs. `location`: from `locate`. `roots`: absolute paths that pointers may lead
  /// into. `own_files`: the server's own files (`find_own_files`). Errors: those of `acquire`.
  [[nodiscard]] static result<std::shared_ptr<repository>> open(std::string slug, repository_location location,
                                                                std::vector<std::string> roots, disk::own_files own_files = {});

  ~repository();
  repository(const repository&) = delete;
  repository& operator=(const repository&) = delete;

  /// A handle, and the folders whose files it may have mapped.
  struct pooled_handle {
    std::shared_ptr<const mapped_folders> folders;
    repository_pointer handle;   // destroyed first
    std::size_t generation = 0;  // `generation_` when it was opened
  };

  /// A handle for one call, to be used and destroyed on one thread. The destructor returns the handle to the pool, or closes it
  /// if a file was truncated, or after `retire` or `discard`.
  class lease {
   public:
    /// `guard`: for the folders of `pooled`.
    lease(std::shared_ptr<repository> owner, pooled_handle pooled, std::unique_ptr<truncation_guard> guard) noexcept
        : owner_(std::move(owner)), guard_(std::move(guard)), pooled_(std::move(pooled)) {}
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) = delete;
    ~lease();
    [[nodiscard]] git_repository* get() const noexcept { return pooled_.handle.get(); }
    /// Whether a mapped file was truncated. Contents that were read may then be wrong, and the call must return
    /// `truncated_error()`.
    [[nodiscard]] bool is_truncated() const noexcept { return pooled_.folders->is_truncated(); }

    /// Call this after a failure due to objects or references, which the handles may know only incompletely. The pool then uses
    /// neither this handle nor the others again. Does nothing if handles were retired after this one was opened, or less than a
    /// second ago.
    void retire();
    /// Call this if descriptors are missing. The destructor then closes the handle and all its files.
    void discard() noexcept { is_discarded_ = true; }
    /// Call this if something was missing. Returns true if packs were added or changed since they were mapped: the call should
    /// then be tried again. Retires all handles of this process that may have mapped them. Cost: one `lstat` per file of the
    /// pack folders.
    [[nodiscard]] bool retire_if_outdated();

   private:
    std::shared_ptr<repository> owner_;
    std::unique_ptr<truncation_guard> guard_;
    pooled_handle pooled_;
    bool is_discarded_ = false;
  };
  /// Takes an idle handle, or opens one. Before, screens the repository (`screen_repository`) again if its configuration or
  /// pointers have changed.
  /// Errors: as `locate`; source_unavailable if libgit2 rejects the repository, if another repository has replaced it, or while
  /// other calls have truncated files mapped.
  [[nodiscard]] result<lease> acquire();

  /// Closes all idle handles of all repositories of this process. Call it if descriptors are missing.
  static void drop_idle_handles();
  /// Number of calls of `drop_idle_handles`. If it changes during an operation, that operation may have lacked descriptors,
  /// too.
  [[nodiscard]] static std::size_t idle_drop_count() noexcept;

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  /// The location at the last screening. Only `object_folders` may change. Does not wait for a screening.
  [[nodiscard]] repository_location location() const;
  [[nodiscard]] const std::vector<std::string>& roots() const noexcept { return roots_; }
  [[nodiscard]] const disk::own_files& own_files() const noexcept { return own_files_; }

 private:
  repository(std::string slug, repository_location location, std::vector<std::string> roots, disk::own_files own_files);
  /// The members of the same names, at one moment.
  struct snapshot {
    std::shared_ptr<const screened_repository> screened;
    std::size_t generation = 0;
  };
  [[nodiscard]] snapshot current() const;
  /// Screens the repository, unless another call has done so since `seen`.
  result<void> screen(const snapshot& seen);
  /// Takes an idle handle. nullopt: there is none.
  [[nodiscard]] std::optional<pooled_handle> pop_idle();
  /// Returns a handle to the pool. Closes idle handles of all repositories if too many packs would be open.
  void return_to_pool(pooled_handle pooled) noexcept;
  /// Returns false if other handles must be closed before this one can be stored. True: it was stored, or must be closed.
  /// `is_last_try`: store it despite the limit of open packs.
  [[nodiscard]] bool try_store(pooled_handle& pooled, bool is_last_try) noexcept;
  /// Closes the idle handles of all repositories of this process.
  static void close_idle_handles();
  /// Updates `idle_packs_`. Call it after each change of `idle_`, with `mutex_` held.
  void count_idle_packs() noexcept;
  /// Retires the handles of this generation, after a failure.
  void retire_generation(std::size_t generation);
  /// Retires the handles of all repositories of this process whose idle handles have one of `folders` mapped. Also retires
  /// those of this repository, unless `generation` is an earlier one.
  void retire_sharing(const mapped_folders& folders, std::size_t generation);
  /// Closes the idle handles of all repositories of this process that have truncated files mapped.
  static void drop_truncated_handles();

  const std::string slug_;
  const std::string path_;  // of the work tree, or the bare folder
  const std::vector<std::string> roots_;
  const disk::own_files own_files_;
  std::mutex screening_mutex_;  // held during a screening; locked before `mutex_`
  mutable std::mutex mutex_;    // guards the members below; never held during file access
  std::shared_ptr<const screened_repository> screened_;
  std::size_t generation_ = 0;                                       // the pool does not use handles of earlier generations
  std::optional<std::chrono::steady_clock::time_point> retired_at_;  // time of the last `retire_generation`
  std::vector<pooled_handle> idle_;
  std::size_t idle_packs_ = 0;  // packs that idle handles may have open; included in the global `idle_pack_count`
};

}  // namespace hondana::git

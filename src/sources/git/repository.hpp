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

/// Threads: any. A handle is used by one call at a time, since libgit2's are not for several threads at once.
class repository : public std::enable_shared_from_this<repository> {
 public:
  /// `at` as `locate` gave it. `own`: what of its trees the server keeps for itself. Errors: those of `take`.
  [[nodiscard]] static result<std::shared_ptr<repository>> open(std::string slug, place at, std::vector<std::string> roots,
                                                                disk::own_files own = {});

  ~repository();
  repository(const repository&) = delete;
  repository& operator=(const repository&) = delete;

  /// A handle with what it may have mapped, which lasts as long.
  struct opened {
    std::shared_ptr<const mapped_folders> maps;
    repository_pointer handle;  // goes first
    std::size_t generation = 0;
  };

  /// A handle for one call, on one thread; goes back when it is let go of, unless it is torn.
  class lease {
   public:
    /// `guard` is over the same maps as `what`.
    lease(std::shared_ptr<repository> from, opened what, std::unique_ptr<torn_page_guard> guard) noexcept
        : from_(std::move(from)), guard_(std::move(guard)), what_(std::move(what)) {}
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) = delete;
    ~lease();
    [[nodiscard]] git_repository* get() const noexcept { return what_.handle.get(); }
    /// Whether files became shorter that this, or another call beside it, had mapped: what it has read may be wrong, and the
    /// answer is `torn()`.
    [[nodiscard]] bool is_torn() const noexcept { return what_.maps->is_torn(); }

    /// For a call that failed for objects or references: neither this handle nor those beside it are used again. What they know
    /// of packs is of the time when they were opened, which may have been while files were only half there. Does nothing when
    /// they have been retired since this one was taken, or less than a second ago.
    void retire();
    /// For a call that found no descriptor left: this handle is not used again, and what it has open is closed with it.
    void close_afterwards() noexcept { is_spent_ = true; }
    /// For a call that found something missing: whether packs have come or changed since they were mapped. Then all handles are
    /// retired that may have them mapped, and the call is worth another try. Cost: an inode for each file of the pack folders.
    [[nodiscard]] bool retire_if_outdated();

   private:
    std::shared_ptr<repository> from_;
    std::unique_ptr<torn_page_guard> guard_;
    opened what_;
    bool is_spent_ = false;
  };
  /// Screened again when the repository's configuration or pointers have changed since. A handle knows the configuration that
  /// was screened, from memory: libgit2 reads none itself. Errors: as `locate`, and source_unavailable for what libgit2
  /// refuses, where another repository has taken the place of this one, and while torn files are still mapped by other calls.
  [[nodiscard]] result<lease> take();

  /// Closes what no call uses, in all repositories of this process, for when descriptors are used up.
  static void drop_idle_handles();
  /// How often that was done: where it was while a call ran, that call may have failed for want of them, too.
  [[nodiscard]] static std::size_t times_dropped() noexcept;

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  /// As screened last: its alternates may change. Never waits for a screening.
  [[nodiscard]] place where() const;
  [[nodiscard]] const std::vector<std::string>& roots() const noexcept { return roots_; }
  [[nodiscard]] const disk::own_files& own() const noexcept { return own_; }

 private:
  repository(std::string slug, place at, std::vector<std::string> roots, disk::own_files own);
  struct snapshot {
    std::shared_ptr<const surveyed> what;
    std::size_t generation = 0;
  };
  [[nodiscard]] snapshot current() const;
  /// What stands there now, unless another call has looked since `known`.
  result<void> screen(const snapshot& known);
  /// One that waits for its next call; nothing: there is none.
  [[nodiscard]] std::optional<opened> take_idle();
  /// Closes what waits in other repositories where packs would otherwise be too many together.
  void give_back(opened what) noexcept;
  /// Whether it is kept, or of no use; false: others must go first. `is_last_try`: then it is.
  [[nodiscard]] bool keeps(opened& what, bool is_last_try) noexcept;
  /// Of all repositories of this process.
  static void close_idle_handles();
  /// After each change of `idle_`, under `mutex_`.
  void count_idle_packs() noexcept;
  void retire_those_of(std::size_t generation);
  /// Of this one, unless it has been since that generation; and of all of this process that wait with the same files mapped.
  void retire_sharers(const mapped_folders& maps, std::size_t generation);
  /// Of all repositories of this process, since those that share objects share what they map.
  static void drop_torn_handles();

  const std::string slug_;
  const std::string path_;  // of the work tree, or the bare folder
  const std::vector<std::string> roots_;
  const disk::own_files own_;
  std::mutex screening_;      // one at a time; taken before `mutex_`
  mutable std::mutex mutex_;  // of what follows; never held while files are looked at
  std::shared_ptr<const surveyed> screened_;
  std::size_t generation_ = 0;                                    // handles of an earlier one are not used again
  std::optional<std::chrono::steady_clock::time_point> retired_;  // last time after a failure
  std::vector<opened> idle_;
  std::size_t idle_packs_ = 0;  // of these, in the sum of all repositories
};

}  // namespace hondana::git

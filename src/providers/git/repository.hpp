/// One repository that is served: libgit2's handles of it, one for each call that runs.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "disk/own_files.hpp"
#include "providers/git/library.hpp"
#include "providers/git/place.hpp"
#include "providers/git/surveyed.hpp"

namespace hondana::git {

/// Threads: any. A handle is used by one call at a time, since libgit2's are not for several threads at once.
class repository : public std::enable_shared_from_this<repository> {
 public:
  /// `at` as `locate` gave it. `own`: what of its trees the server keeps for itself. Errors: those of `take`.
  [[nodiscard]] static result<std::shared_ptr<repository>> open(std::string slug, place at, std::vector<std::string> roots,
                                                                disk::own_files own = {});

  /// A handle for one call; goes back when it is let go of.
  class lease {
   public:
    lease(std::shared_ptr<repository> from, repository_pointer handle, std::size_t generation) noexcept
        : from_(std::move(from)), handle_(std::move(handle)), generation_(generation) {}
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) = delete;
    ~lease();
    [[nodiscard]] git_repository* get() const noexcept { return handle_.get(); }

   private:
    std::shared_ptr<repository> from_;
    repository_pointer handle_;
    std::size_t generation_;
  };
  /// Screened again when the repository's configuration or pointers have changed since. A handle knows the configuration that
  /// was screened, from memory: libgit2 reads none itself. Errors: as `locate`, and source_unavailable for what libgit2
  /// refuses, and where another repository has taken the place of this one.
  [[nodiscard]] result<lease> take();

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  /// As screened last: its alternates may change.
  [[nodiscard]] place where() const;
  [[nodiscard]] const std::vector<std::string>& roots() const noexcept { return roots_; }
  [[nodiscard]] const disk::own_files& own() const noexcept { return own_; }

 private:
  repository(std::string slug, place at, std::vector<std::string> roots, disk::own_files own);
  /// Makes `screened_` what stands there now. The caller holds `mutex_`.
  result<void> screen();
  void give_back(repository_pointer handle, std::size_t generation) noexcept;

  const std::string slug_;
  const std::string path_;  // of the work tree, or the bare folder
  const std::vector<std::string> roots_;
  const disk::own_files own_;
  mutable std::mutex mutex_;
  surveyed screened_;
  std::size_t generation_ = 0;  // of what was screened: handles of an earlier one are not used again
  std::vector<repository_pointer> idle_;
};

}  // namespace hondana::git

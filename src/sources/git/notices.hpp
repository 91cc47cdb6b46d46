/// Hears that references have moved: HEAD, refs, packed-refs and the index of every repository that is served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/watch/lookout.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {

/// One thread for all repositories. Only folders of references are watched, never objects or the files of a work tree.
///
/// git puts a file in place by renaming: then it is looked at at once; else when nothing has happened for 20 ms.
/// Threads: any.
class notices {
 public:
  /// Finds out, by the thread, what has changed in the repository of that number. False: it could not, and is asked again.
  using look = std::function<bool(const call&, std::size_t repository)>;

  notices(const std::vector<place>& of, look with_each, std::function<void(std::string_view)> log);

  /// Begins with a look at each, unless it has begun already.
  void start() { lookout_->start(); }
  /// Has one looked at now; before `start` it does nothing.
  void look_at(std::size_t repository) { lookout_->look_at(first_trees_.at(repository)); }
  /// Whether the kernel tells of every change; false before `start`.
  [[nodiscard]] bool is_complete() const { return lookout_->is_complete(); }

 private:
  std::vector<std::size_t> first_trees_;  // of each repository
  std::unique_ptr<watch::lookout> lookout_;
};

/// When something was last put in place where references are, by the clock of the file system: nanoseconds since 1970. Now,
/// where there are more folders than are looked at.
[[nodiscard]] std::int64_t latest_change_in(const place& at);

}  // namespace hondana::git

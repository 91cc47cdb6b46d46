/// What peers follow of repositories: whether what they would read is still what it was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/git/address.hpp"
#include "sources/git/notices.hpp"
#include "sources/git/repository.hpp"

namespace hondana::git {

/// Tells a listener of changes, by looking at what is followed each time that references have moved.
///
/// A resource has changed when a read of it would give another version; a log, which may begin anywhere, when a branch, a tag
/// or HEAD is another. Of the work tree only the index is heard of: whoever edits a file tells nobody. The list has changed
/// when the first commit is made, or HEAD is on a branch without one again.
///
/// What happens between `attach` and the first look is told as well: the folders that git renames into say when that was.
/// Threads: any.
class followed {
 public:
  /// `in` in the order of their slugs.
  followed(std::vector<std::shared_ptr<repository>> in, bool redact, std::function<void(std::string_view)> log);
  /// Nothing is told any more once this returns, but by a look that is stuck in a system call.
  ~followed();
  followed(const followed&) = delete;
  followed& operator=(const followed&) = delete;

  /// As the calls of `provider` of these names.
  void watch(std::shared_ptr<change_listener> to);
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  void attach_list();
  void detach_list();

  /// Whether the kernel tells of every change; false while nobody follows anything.
  [[nodiscard]] bool is_complete() const { return notices_->is_complete(); }

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::unique_ptr<notices> notices_;
};

}  // namespace hondana::git

/// The folder at a root's path, opened again when another has taken its place.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sources/files/beneath.hpp"

namespace hondana::files {

/// Whether this user may list the folder, and its files are files; errno says why not, or is 0 for one of the kernel's own.
[[nodiscard]] bool is_servable(int folder) noexcept;

/// Holds one folder open at a time. Threads: any.
class top {
 public:
  enum class news { none, gone, barred, back };

  /// `path` is absolute and free of links; `folder` is what it named a moment ago. The rest is as for `beneath`.
  top(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable);

  /// What is open. It may be used for as long as it is held, even when another has taken its place since.
  [[nodiscard]] std::shared_ptr<const beneath> now() const;

  /// Looks whether the path still names what is open, and opens what it names instead; no link is followed to it.
  /// `gone`: from now on there is nothing that can be served, and what was open stays so. `barred`: the same although there is
  /// another, whose mode allows it to be opened: a sandbox does not. `back`: now there is again, or it is another. Of several
  /// threads that look at once one is told.
  [[nodiscard]] news look_again();
  /// As of the last look.
  [[nodiscard]] bool is_gone() const noexcept { return last_ != news::back; }
  [[nodiscard]] bool is_barred() const noexcept { return last_ == news::barred; }

 private:
  [[nodiscard]] news found(news what);

  const std::string path_;
  const std::vector<std::string> spellings_;
  const bool portable_;
  std::mutex looking_;
  mutable std::mutex mutex_;
  std::shared_ptr<const beneath> now_;
  std::atomic<news> last_{news::back};  // never `none`
};

}  // namespace hondana::files

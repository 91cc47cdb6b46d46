/// What a file was called before the commit with which its name came.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <hondana/error.hpp>

#include "sources/git/changes.hpp"
#include "sources/git/library.hpp"

namespace hondana::git {

struct rename_question {
  git_oid before{}, after{};  ///< Trees of the parent and of the commit.
  std::string path;           ///< In the commit; no file in the parent.
  /// Whether files that stayed may be what it was copied from, as `git log --follow` takes them: those that went come first.
  bool takes_copies = false;
  std::uint64_t largest_file = std::uint64_t{512} << 20;  ///< What is larger is the same only where it is equal.
  std::function<bool()> is_stopped{};
};

/// The file in the parent that is most like it, at least by half; nothing: it was new. Other files that came do not compete for
/// it. Errors: of compare.
[[nodiscard]] result<std::optional<side>> renamed_from(git_repository* in, const rename_question& question);

}  // namespace hondana::git

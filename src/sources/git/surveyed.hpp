/// A repository's place together with what its own files said, all of it screened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/place.hpp"
#include "sources/git/settings.hpp"

namespace hondana::git {

struct surveyed {
  place where;
  std::vector<setting> settings;  ///< Of its configuration, what libgit2 may know.
  std::string stamp;              ///< `stamp_of(where)`; empty when it cannot be relied on, since something has just changed.
  std::size_t packs = 0;          ///< Of all object folders.
};

/// What `locate` does, with all that it learns.
[[nodiscard]] result<surveyed> survey(const std::string& path, const std::vector<std::string>& roots,
                                      const screening_limits& limits = {});

/// The state of the files that screening rests on: configuration, pointers, and the folders that could become links. Another
/// stamp means that it must be screened again; so does an empty one, of files that changed at `since` (nanoseconds since 1970)
/// or so shortly before that a further change may not show. Cost: one `lstat` for each.
[[nodiscard]] std::string stamp_of(const place& at, std::int64_t since);
/// Without regard to how recent changes are.
[[nodiscard]] std::string stamp_of(const place& at);

}  // namespace hondana::git

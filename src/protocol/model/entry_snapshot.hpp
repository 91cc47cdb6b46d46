/// Large immutable sets of entries, packed as bytes: pages, folders, and the entries that each access filter lets its callers
/// see.
#pragma once

#include <string>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::model {

/// The prefix of all URIs below a folder: "file:///a" gives "file:///a/".
[[nodiscard]] inline std::string folder_prefix(std::string_view uri) {
  std::string prefix(uri);
  if (!prefix.ends_with('/')) prefix += '/';
  return prefix;
}

/// The direct child of a folder that contains `uri` or is `uri`, as a part of `uri`. `prefix`: the folder's `folder_prefix`,
/// with which `uri` must start.
[[nodiscard]] inline std::string_view child_of(std::string_view prefix, std::string_view uri) noexcept {
  return uri.substr(0, uri.find('/', prefix.size()));
}

/// A key that sorts after everything below `uri` in segment order, and before everything that follows. URIs never contain the
/// byte 0xFF.
[[nodiscard]] inline std::string end_of_subtree(std::string_view uri) { return std::string(uri) + "/\xFF"; }

/// Appends `entry` to `arena`, for `unpack`. Needs about twenty bytes in addition to its strings.
void pack(std::string& arena, const resource& entry);
/// Restores the entry at the start of `packed`, which `pack` wrote.
[[nodiscard]] resource unpack(std::string_view packed);
/// The URI of the entry at the start of `packed`, as a view into it.
[[nodiscard]] std::string_view packed_uri(std::string_view packed) noexcept;

}  // namespace hondana::model

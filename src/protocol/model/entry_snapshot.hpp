/// Packs entries of lists as bytes, and finds the URIs of folders and their children.
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

/// The URI of the direct child of a folder that contains `uri` or is `uri`. The result is a view of `uri`.
/// `prefix`: the folder's `folder_prefix`, with which `uri` must start.
[[nodiscard]] inline std::string_view child_of(std::string_view prefix, std::string_view uri) noexcept {
  return uri.substr(0, uri.find('/', prefix.size()));
}

/// A key that sorts after `uri` and all URIs below it, and before all others that follow (`compare_by_segment`).
/// The key contains the byte 0xFF, which no URI contains.
[[nodiscard]] inline std::string end_of_subtree(std::string_view uri) { return std::string(uri) + "/\xFF"; }

/// Appends an entry to `arena` as bytes, for `unpack`. Needs about twenty bytes in addition to its strings.
void pack(std::string& arena, const resource& entry);
/// Restores the entry that `pack` wrote at the start of `packed`.
[[nodiscard]] resource unpack(std::string_view packed);
/// The URI of the entry that `pack` wrote at the start of `packed`, as a view of `packed`.
[[nodiscard]] std::string_view packed_uri(std::string_view packed) noexcept;

}  // namespace hondana::model

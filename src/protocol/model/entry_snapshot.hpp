/// Large immutable sets of entries, packed as bytes: pages, folders and what views see of them.
#pragma once

#include <string>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::model {

/// What every URI below a folder starts with.
[[nodiscard]] inline std::string folder_prefix(std::string_view uri) {
  std::string prefix(uri);
  if (!prefix.ends_with('/')) prefix += '/';
  return prefix;
}

/// The part of `uri` that names the direct child of a folder it is or lies in; `uri` starts with `prefix`.
[[nodiscard]] inline std::string_view child_of(std::string_view prefix, std::string_view uri) noexcept {
  return uri.substr(0, uri.find('/', prefix.size()));
}

/// A key after everything below `uri` in segment order, and before whatever follows that: no byte of a URI is as high.
[[nodiscard]] inline std::string end_of_subtree(std::string_view uri) { return std::string(uri) + "/\xFF"; }

/// Appends `entry` to `arena` so that `unpack` gives it back exactly; about twenty bytes beyond its strings.
void pack(std::string& arena, const resource& entry);
/// The entry that starts `packed`, which `pack` wrote.
[[nodiscard]] resource unpack(std::string_view packed);
/// The URI of the entry that starts `packed`, as a view into it.
[[nodiscard]] std::string_view packed_uri(std::string_view packed) noexcept;

}  // namespace hondana::model

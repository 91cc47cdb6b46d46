/// Access checks for files, layers and the targets of links.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/provider.hpp>

#include "sources/config_files/merged_layers.hpp"
#include "sources/config_files/snapshot.hpp"

namespace hondana::config_files {

class file_set;

/// Whether the caller may see or read a file, judged by its path only.
[[nodiscard]] bool may_see_file(std::string_view set, const std::string& path, const caller& who);
[[nodiscard]] bool may_read_file(std::string_view set, const std::string& path, const caller& who);

/// Checks that the caller may read the target of a link. `behind`: as in `seen_file`. Errors: resource_not_found, with the
/// link's name, if the caller may not see the target; access_denied.
[[nodiscard]] result<void> may_read_behind(std::string_view set, const std::string& path, const std::string& behind,
                                           const caller& who);

/// Whether the caller may read all files that are layers; with `also_seen`, also see them. `may_use_layers` checks the
/// configured files, `may_use` the targets that layers were read from.
[[nodiscard]] bool may_use_layers(const file_set& from, std::string_view set, const caller& who, bool also_seen = false);
[[nodiscard]] bool may_use(const layer_states& read, std::string_view set, const caller& who, bool also_seen = false);

/// A caller that sees links only if it may see their targets. Keeps the snapshot alive.
[[nodiscard]] caller mindful_of_links(const caller& who, std::string_view set, std::shared_ptr<const scene> now);

}  // namespace hondana::config_files

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
[[nodiscard]] bool may_see_file(std::string_view set, const std::string& path, const caller_info& caller);
[[nodiscard]] bool may_read_file(std::string_view set, const std::string& path, const caller_info& caller);

/// Checks that the caller may read the target of a link. `link_target`: as in `served_file`. Errors: resource_not_found, with
/// the link's name, if the caller may not see the target; access_denied.
[[nodiscard]] result<void> check_link_target(std::string_view set, const std::string& path, const std::string& link_target,
                                             const caller_info& caller);

/// Whether the caller may read all files that are layers; with `must_be_visible`, also see them. `may_use_layers` checks the
/// configured files, `may_use_layer_targets` the targets that layers were read from.
[[nodiscard]] bool may_use_layers(const file_set& files, std::string_view set, const caller_info& caller,
                                  bool must_be_visible = false);
[[nodiscard]] bool may_use_layer_targets(const layer_states& layers, std::string_view set, const caller_info& caller,
                                         bool must_be_visible = false);

/// A caller that sees links only if it may see their targets. Keeps the snapshot alive.
[[nodiscard]] caller_info with_link_filter(const caller_info& caller, std::string_view set,
                                           std::shared_ptr<const snapshot> snapshot);

}  // namespace hondana::config_files

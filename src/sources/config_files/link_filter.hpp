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

/// Whether the caller may see a file, judged by an entry with only URI, name and kind. The file need not exist.
[[nodiscard]] bool may_see_file(std::string_view set, const std::string& path, const caller_info& caller);
/// Whether the caller may read a file, judged as by `may_see_file`.
[[nodiscard]] bool may_read_file(std::string_view set, const std::string& path, const caller_info& caller);

/// Checks that the caller may read the target of the link `path`. `link_target`: as in `served_file`; empty: always succeeds.
/// Errors: resource_not_found for a target that the caller may not see; access_denied for one that it may see, but not read.
[[nodiscard]] result<void> check_link_target(std::string_view set, const std::string& path, const std::string& link_target,
                                             const caller_info& caller);

/// Whether the caller may read the files of all layers; with `must_be_visible`, also see them.
[[nodiscard]] bool may_use_layers(const file_set& files, std::string_view set, const caller_info& caller,
                                  bool must_be_visible = false);
/// Whether the caller may read the targets of links from which `layers` were read; with `must_be_visible`, also see them.
[[nodiscard]] bool may_use_layer_targets(const layer_states& layers, std::string_view set, const caller_info& caller,
                                         bool must_be_visible = false);

/// Copies `caller` with an access filter that also hides links whose targets the caller may not see. The filter keeps
/// `snapshot` alive.
[[nodiscard]] caller_info with_link_filter(const caller_info& caller, std::string_view set,
                                           std::shared_ptr<const snapshot> snapshot);

}  // namespace hondana::config_files

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

/// Whether a file may be seen, or read, by its path and by what is known of it without looking at it.
[[nodiscard]] bool may_see_file(std::string_view set, const std::string& path, const caller& who);
[[nodiscard]] bool may_read_file(std::string_view set, const std::string& path, const caller& who);

/// Whether what a link leads to may be read; `behind` as in `seen_file`. Errors: resource_not_found where it may not be seen,
/// with the link's own name; access_denied.
[[nodiscard]] result<void> may_read_behind(std::string_view set, const std::string& path, const std::string& behind,
                                           const caller& who);

/// Whether the caller may read all files that are layers; `also_seen`: and see them. The first looks at what is there now, the
/// second at where layers were read from.
[[nodiscard]] bool may_use_layers(const file_set& from, std::string_view set, const caller& who, bool also_seen = false);
[[nodiscard]] bool may_use(const layer_states& read, std::string_view set, const caller& who, bool also_seen = false);

/// Who sees links only where what they lead to may be seen, too. The scene is kept alive.
[[nodiscard]] caller mindful_of_links(const caller& who, std::string_view set, std::shared_ptr<const scene> now);

}  // namespace hondana::config_files

/// Contents of config:// URIs: files, values, merged layers and differences, as text or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/config_files/config_uri.hpp"
#include "sources/config_files/file_set.hpp"
#include "sources/config_files/merged_layers.hpp"

namespace hondana::config_files {

/// A size limit in bytes. Rendering stops beyond it, and the text is then incomplete JSON.
struct size_limit {
  std::size_t max_bytes = 0;
};

/// `{"key", "value", "file", "line"}`, with `"stale"` if the last valid version of the file is used.
[[nodiscard]] std::string render_value(const located::node& node, std::string_view key, std::string_view file,
                                       std::string_view stale_reason);

/// All merged layers, or the part below a key: `{"set", "key", "value", "from", "layers"}`.
[[nodiscard]] std::string render_merged(std::string_view set, const layer_states& layers, const merged_match& match,
                                        bool is_full_view, size_limit limit);

/// One layer: `{"set", "layer", …, "value", "from"}`.
[[nodiscard]] std::string render_layer(std::string_view set, const layer_states& layers, std::size_t index, size_limit limit);

/// One side of a difference: the index of a layer, or empty for the merged view.
using diff_side = std::optional<std::size_t>;

/// `{"set", "from", "to", "added", "removed", "changed", "layers"}`.
[[nodiscard]] std::string render_difference(std::string_view set, const layer_states& layers, diff_side from_side,
                                            diff_side to_side, size_limit limit);

/// A rendered content. It needs no further masking.
struct rendered_content {
  std::string text;
  std::string type;
  std::string kind;  ///< Of its entry.
  std::string name;  ///< Of its entry.
  std::string version;
  hondana::metadata metadata{};
  bool is_racy = false;
};

/// Renders the content of an address, which is not a folder. `max_bytes`: limit of the text. `uri`: for errors. Errors: as
/// `provider::read`; also access_denied if layers use a file that the caller may not read.
[[nodiscard]] result<rendered_content> render(file_set& files, std::string_view set, const config_address& address,
                                              const caller_info& caller, bool masks_secrets, const std::string& uri,
                                              std::uint64_t max_bytes);

/// The error for an unknown key. `nearest_key`: the key of the innermost existing value. `names`: the names below it.
[[nodiscard]] tl::unexpected<failure> unknown_key_error(std::string_view container, const key_path& path,
                                                        std::string_view nearest_key, std::size_t matched_parts,
                                                        std::vector<std::string> names);

}  // namespace hondana::config_files

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

/// A size limit. A text that exceeds it is incomplete JSON, which callers must not send.
struct size_limit {
  std::size_t max_bytes = 0;
};

/// Renders one value of a file: `{"key", "value", "file", "line"}`. `stale_reason`: why the last valid version of the file is
/// used, rendered as `"stale"`; empty: it is current.
[[nodiscard]] std::string render_value(const located::node& node, std::string_view key, std::string_view file,
                                       std::string_view stale_reason);

/// Renders a merged value: `{"set", "key", "value", "from", "layers"}`. `is_full_view`: `match` is the whole tree; then the key
/// and the overridden values are left out.
[[nodiscard]] std::string render_merged(std::string_view set, const layer_states& layers, const merged_match& match,
                                        bool is_full_view, size_limit limit);

/// Renders one layer: `{"set", "layer", …, "value", "from"}`. `index`: its position in `layers`.
[[nodiscard]] std::string render_layer(std::string_view set, const layer_states& layers, std::size_t index, size_limit limit);

/// One side of a difference: the index of a layer; absent: all layers merged.
using diff_side = std::optional<std::size_t>;

/// Renders a difference: `{"set", "from", "to", "added", "removed", "changed", "layers"}`.
[[nodiscard]] std::string render_difference(std::string_view set, const layer_states& layers, diff_side from_side,
                                            diff_side to_side, size_limit limit);

/// A rendered content, with its secrets masked if required.
struct rendered_content {
  std::string text;
  std::string type;  ///< Media type.
  std::string kind;  ///< `resource::kind` of its entry.
  std::string name;  ///< `resource::name` of its entry.
  std::string version;
  hondana::metadata metadata{};
  bool is_racy = false;  ///< As in `read_result::is_racy`.
};

/// Renders the content of an address, whose kind must not be `folder`. `max_bytes`: limit of the text. `uri`: for errors.
/// Errors: as `provider::read`; access_denied also if a layer uses a file that the caller may not read.
[[nodiscard]] result<rendered_content> render(file_set& files, std::string_view set, const config_address& address,
                                              const caller_info& caller, bool masks_secrets, const std::string& uri,
                                              std::uint64_t max_bytes);

/// The error for an unknown key, which suggests similar ones. `container`: what was searched, for the text. `nearest_key`: the
/// key of the innermost existing value, found by the first `matched_parts` parts of `path`. `names`: the names below it.
[[nodiscard]] tl::unexpected<failure> unknown_key_error(std::string_view container, const key_path& path,
                                                        std::string_view nearest_key, std::size_t matched_parts,
                                                        std::vector<std::string> names);

}  // namespace hondana::config_files

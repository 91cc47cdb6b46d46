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
struct budget {
  std::size_t most = 0;
};

/// `{"key", "value", "file", "line"}`, with `"stale"` if the last valid version of the file is used.
[[nodiscard]] std::string render_value(const located::node& shown, std::string_view key, std::string_view file,
                                       std::string_view stale);

/// All merged layers, or the part below a key: `{"set", "key", "value", "from", "layers"}`.
[[nodiscard]] std::string render_merged(std::string_view set, const layer_states& all, const sought_in_blend& what,
                                        bool is_whole, budget within);

/// One layer: `{"set", "layer", …, "value", "from"}`.
[[nodiscard]] std::string render_layer(std::string_view set, const layer_states& all, std::size_t which, budget within);

/// One side of a difference: the index of a layer, or empty for the merged view.
using side = std::optional<std::size_t>;

/// `{"set", "from", "to", "added", "removed", "changed", "layers"}`.
[[nodiscard]] std::string render_difference(std::string_view set, const layer_states& all, side from, side to, budget within);

/// A rendered content. It needs no further masking.
struct given {
  std::string text;
  std::string type;
  std::string kind;  ///< Of its entry.
  std::string name;  ///< Of its entry.
  std::string version;
  hondana::metadata facts{};
  bool is_racy = false;
};

/// Renders the content of an address, which is not a folder. `most`: bytes. `uri`: for errors. Errors: as `provider::read`;
/// also access_denied if layers use a file that the caller may not read.
[[nodiscard]] result<given> give(file_set& from, std::string_view set, const address& what, const caller& who, bool redacts,
                                 const std::string& uri, std::uint64_t most);

/// The error for an unknown key. `found`: the key of the innermost existing value. `names`: the names below it.
[[nodiscard]] tl::unexpected<failure> no_such_key(std::string_view where, const key_path& asked, std::string_view found,
                                                  std::size_t used, std::vector<std::string> names);

}  // namespace hondana::config_files

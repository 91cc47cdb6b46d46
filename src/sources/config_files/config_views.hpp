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

/// A text of more bytes than this is of no use to who asked, so that nothing is written beyond it; what was written then is no
/// whole JSON.
struct budget {
  std::size_t most = 0;
};

/// `{"key", "value", "file", "line"}`, with `"stale"` where the file is taken as it was before.
[[nodiscard]] std::string render_value(const located::node& shown, std::string_view key, std::string_view file,
                                       std::string_view stale);

/// All layers merged, or what is below a key of them: `{"set", "key", "value", "from", "layers"}`.
[[nodiscard]] std::string render_merged(std::string_view set, const layer_states& all, const sought_in_blend& what,
                                        bool is_whole, budget within);

/// One layer: `{"set", "layer", …, "value", "from"}`.
[[nodiscard]] std::string render_layer(std::string_view set, const layer_states& all, std::size_t which, budget within);

/// One side of a difference: a layer, or nothing for all of them merged.
using side = std::optional<std::size_t>;

/// `{"set", "from", "to", "added", "removed", "changed", "layers"}`.
[[nodiscard]] std::string render_difference(std::string_view set, const layer_states& all, side from, side to, budget within);

/// One of them, not masked any further.
struct given {
  std::string text;
  std::string type;
  std::string kind;  ///< Of its entry.
  std::string name;  ///< Of its entry.
  std::string version;
  hondana::metadata facts{};
  bool is_racy = false;
};

/// Reads what an address, which is of no folder, asks for. `most`: bytes; `uri` is named in errors. Errors: as
/// `provider::read`; access_denied, too, where layers need a file that the caller's view does not let be read.
[[nodiscard]] result<given> give(file_set& from, std::string_view set, const address& what, const caller& who, bool redacts,
                                 const std::string& uri, std::uint64_t most);

/// What is wrong with a key: nothing stands below `found`, which is among `names`.
[[nodiscard]] tl::unexpected<failure> no_such_key(std::string_view where, const key_path& asked, std::string_view found,
                                                  std::size_t used, std::vector<std::string> names);

}  // namespace hondana::config_files

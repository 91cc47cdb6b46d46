/// Values, their places and their differences as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/config_files/layers.hpp"

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

}  // namespace hondana::config_files

/// The layers of a set as they are at one moment.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/blend.hpp"
#include "sources/config_files/options.hpp"
#include "sources/config_files/values.hpp"

namespace hondana::config_files {

/// One of them.
struct layer_state {
  const layer_options* of = nullptr;
  std::string file{};                ///< As the set serves it; empty: none.
  shared_values what{};              ///< Null: its file is not there.
  std::vector<std::string> names{};  ///< Of variables, by line.
  std::string stale{};               ///< Why its file is taken as it was before.
  std::string behind{};              ///< As in `seen_file`.
};
using layer_states = std::vector<layer_state>;

/// What stands for all layers together where a layer is named.
inline constexpr std::string_view merged_name = "merged";

/// The number of a layer; nothing when none is called so.
[[nodiscard]] std::optional<std::size_t> layer_called(const std::vector<layer_options>& among, std::string_view name);

/// All of them merged; a table where none has anything.
[[nodiscard]] blend merged(const layer_states& all);
/// One of them; a table where it has nothing.
[[nodiscard]] blend alone(const layer_states& all, std::size_t which);

/// Whether a layer knows texts only, so that 80 and "80" are no difference.
[[nodiscard]] bool has_texts_only(const layer_options& of) noexcept;
/// "file", "environment", …
[[nodiscard]] std::string_view name_of(layer_options::kind is) noexcept;

}  // namespace hondana::config_files

/// Merges layers of configuration into one tree, and finds differences between two trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/key_path.hpp"
#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/options.hpp"
#include "text/located/node.hpp"

namespace hondana::config_files {

/// A value of a layer. Valid as long as `layer_state::values` of that layer.
struct layered_value {
  std::size_t layer = 0;                  ///< Index of the layer.
  const located::node* masked = nullptr;  ///< With secrets masked.
  const located::node* raw = nullptr;     ///< Only for comparisons; must not be sent. Null: no value.
};

struct merged_member;

/// A merged value. A table is merged with that of a weaker layer member by member. Any other value, also a list, replaces that
/// of a weaker layer.
struct merged_value {
  bool is_table = false;
  layered_value origin;                        ///< The value of the strongest layer that has one.
  std::vector<layered_value> overrides{};      ///< The replaced values of weaker layers, strongest first.
  std::vector<layered_value> merged_tables{};  ///< For a table: the weaker tables that were merged into it, strongest first.
  std::vector<merged_member> members;          ///< Of a table, in the order in which layers add them, the weakest layer first.
};

/// A member of a merged table.
struct merged_member {
  std::string_view key;      ///< For display, with secrets masked.
  std::string_view raw_key;  ///< For comparison.
  merged_value value;
};

/// Merges the value of a layer over `target`, which has the merged values of all weaker layers. Time: linear.
void merge_over(merged_value& target, const layered_value& layer_value);
/// The merged view of a single value.
[[nodiscard]] merged_value make_merged(const layered_value& value);

/// The result of a search in merged values.
struct merged_match {
  const merged_value* value = nullptr;  ///< The innermost merged value that was found; never null.
  const located::node* node = nullptr;  ///< The value that was found inside the list `value`; null: `value` itself was.
  std::string key;                      ///< The key of the value that was found, as written by `append_part`.
  std::size_t matched_parts = 0;        ///< Number of parts that were found; all of `path` if the value exists.
};
/// Follows the parts of `path` from `root`.
[[nodiscard]] merged_match find_key(const merged_value& root, const key_path& path);

/// The names of the members, or the indexes of the items, of the value that was found; at most `max_names`.
[[nodiscard]] std::vector<std::string> list_names(const merged_match& match, std::size_t max_names);

/// One layer with its values.
struct layer_state {
  const layer_options* options = nullptr;
  std::string file{};                ///< The path that the set serves it by; empty: none.
  shared_values values{};            ///< Null: its file is missing.
  std::vector<std::string> names{};  ///< As in `named_values`.
  std::string stale_reason{};        ///< Why the last valid version of its file is used; empty: the values are current.
  std::string link_target{};         ///< As in `served_file`, for its file.
};
using layer_states = std::vector<layer_state>;  ///< The weakest layer first.

/// The name that stands for all layers merged in `config://SET/diff/FROM..TO`.
inline constexpr std::string_view merged_name = "merged";

/// The index of a layer; nothing if no layer has this name.
[[nodiscard]] std::optional<std::size_t> find_layer(const std::vector<layer_options>& layers, std::string_view name);

/// All layers merged; an empty table if none has values.
[[nodiscard]] merged_value merge_layers(const layer_states& layers);
/// One layer; an empty table if it has no values.
[[nodiscard]] merged_value single_layer(const layer_states& layers, std::size_t index);

/// Whether the values of a layer are untyped, because it is not a file. They are then compared by their spelling.
[[nodiscard]] bool has_text_only(const layer_options& layer) noexcept;
/// The name for clients: "file", "environment", …
[[nodiscard]] std::string_view name_of(layer_options::layer_kind kind) noexcept;

/// A key with different values in two trees. If only one side has a table there and the other side has nothing, each value in
/// the table is a difference.
struct difference {
  std::string key;
  const merged_value* old_value = nullptr;  ///< Null: it was added.
  const merged_value* new_value = nullptr;  ///< Null: it was removed.
};

/// Calls `visit` with the differences in the order of `old_root`, then of `new_root`, until it returns false. `compares_text`:
/// returns whether values of two layers, given by index, are compared by their spelling.
void find_differences(const merged_value& old_root, const merged_value& new_root,
                      const std::function<bool(std::size_t, std::size_t)>& compares_text,
                      const std::function<bool(const difference&)>& visit);

}  // namespace hondana::config_files

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

/// A value of a layer. `raw` is for comparisons only. Valid as long as the values of the layer.
struct layered_value {
  std::size_t layer = 0;
  const located::node* masked = nullptr;
  const located::node* raw = nullptr;
};

struct merged_member;

/// A merged value. Tables are merged member by member; all other values, including lists, are replaced.
struct merged_value {
  bool is_table = false;
  layered_value origin;                        ///< The strongest layer's value; for a table, the last table.
  std::vector<layered_value> overrides{};      ///< The values that it replaced, strongest first.
  std::vector<layered_value> merged_tables{};  ///< The other tables that it consists of, strongest first.
  std::vector<merged_member> members;          ///< Of a table, in the order in which layers add them.
};

/// A member of a merged table.
struct merged_member {
  std::string_view key;      ///< For display, with secrets masked.
  std::string_view raw_key;  ///< For comparison.
  merged_value value;
};

/// Merges a value over the layers merged so far. Linear time.
void merge_over(merged_value& target, const layered_value& layer_value);
/// The merged view of a single layer.
[[nodiscard]] merged_value make_merged(const layered_value& value);

/// The result of a search in merged values.
struct merged_match {
  const merged_value* value = nullptr;  ///< The innermost merged value that was found.
  const located::node* node = nullptr;  ///< The value found in its list; null: `value` itself.
  std::string key;                      ///< As written by `append_part`.
  std::size_t matched_parts = 0;        ///< Number of parts that were followed; all of them if the value was found.
};
[[nodiscard]] merged_match find_key(const merged_value& root, const key_path& path);

/// The names below the result of a search.
[[nodiscard]] std::vector<std::string> list_names(const merged_match& match, std::size_t max_names);

/// One layer with its values.
struct layer_state {
  const layer_options* options = nullptr;
  std::string file{};                ///< The path that the set serves it by; empty: none.
  shared_values values{};            ///< Null: its file is missing.
  std::vector<std::string> names{};  ///< Of variables, by line.
  std::string stale_reason{};        ///< Why the last valid version of its file is used.
  std::string link_target{};         ///< As in `served_file`.
};
using layer_states = std::vector<layer_state>;

/// Stands for the merged view where a layer is named.
inline constexpr std::string_view merged_name = "merged";

/// The index of a layer; empty if no layer has this name.
[[nodiscard]] std::optional<std::size_t> find_layer(const std::vector<layer_options>& layers, std::string_view name);

/// All layers merged; an empty table if none has values.
[[nodiscard]] merged_value merge_layers(const layer_states& layers);
/// One layer; an empty table if it has no values.
[[nodiscard]] merged_value single_layer(const layer_states& layers, std::size_t index);

/// Whether all values of a layer are strings, so that 80 and "80" count as equal.
[[nodiscard]] bool has_text_only(const layer_options& layer) noexcept;
/// "file", "environment", …
[[nodiscard]] std::string_view name_of(layer_options::layer_kind kind) noexcept;

/// A key with different values. A table on one side only is reported value by value, unless the other side has another value
/// there.
struct difference {
  std::string key;
  const merged_value* old_value = nullptr;  ///< Null: it was added.
  const merged_value* new_value = nullptr;  ///< Null: it was removed.
};

/// Reports differences in the order of `old_root`, then of `new_root`. `compares_text`: whether values of two layers are
/// compared by their spelling. Stops when `visit` returns false.
void find_differences(const merged_value& old_root, const merged_value& new_root,
                      const std::function<bool(std::size_t, std::size_t)>& compares_text,
                      const std::function<bool(const difference&)>& visit);

}  // namespace hondana::config_files

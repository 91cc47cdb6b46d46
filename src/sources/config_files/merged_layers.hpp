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
  const located::node* shown = nullptr;
  const located::node* raw = nullptr;
};

struct blend_member;

/// A merged value. Tables are merged member by member; all other values, including lists, are replaced.
struct blend {
  bool is_table = false;
  layered_value from;                      ///< The strongest layer's value; for a table, the last table.
  std::vector<layered_value> overrides{};  ///< The values that it replaced, strongest first.
  std::vector<layered_value> merged{};     ///< The other tables that it consists of, strongest first.
  std::vector<blend_member> members;       ///< Of a table, in the order in which layers add them.
};

/// A member of a merged table.
struct blend_member {
  std::string_view key;      ///< For display, with secrets masked.
  std::string_view raw_key;  ///< For comparison.
  blend value;
};

/// Merges a value over the layers merged so far. Linear time.
void lay_over(blend& below, const layered_value& above);
/// The merged view of a single layer.
[[nodiscard]] blend blend_of(const layered_value& only);

/// The result of a search in merged values.
struct sought_in_blend {
  const blend* at = nullptr;              ///< The innermost merged value that was found.
  const located::node* inside = nullptr;  ///< The value found in its list; null: `at` itself.
  std::string key;                        ///< As written by `append_part`.
  std::size_t used = 0;                   ///< Number of parts that were followed; all of them if the value was found.
};
[[nodiscard]] sought_in_blend seek(const blend& in, const key_path& along);

/// The names below the result of a search.
[[nodiscard]] std::vector<std::string> names_in(const sought_in_blend& of, std::size_t most);

/// One layer with its values.
struct layer_state {
  const layer_options* of = nullptr;
  std::string file{};                ///< The path that the set serves it by; empty: none.
  shared_values what{};              ///< Null: its file is missing.
  std::vector<std::string> names{};  ///< Of variables, by line.
  std::string stale{};               ///< Why the last valid version of its file is used.
  std::string behind{};              ///< As in `seen_file`.
};
using layer_states = std::vector<layer_state>;

/// Stands for the merged view where a layer is named.
inline constexpr std::string_view merged_name = "merged";

/// The index of a layer; empty if no layer has this name.
[[nodiscard]] std::optional<std::size_t> layer_called(const std::vector<layer_options>& among, std::string_view name);

/// All layers merged; an empty table if none has values.
[[nodiscard]] blend merged(const layer_states& all);
/// One layer; an empty table if it has no values.
[[nodiscard]] blend alone(const layer_states& all, std::size_t which);

/// Whether all values of a layer are strings, so that 80 and "80" count as equal.
[[nodiscard]] bool has_texts_only(const layer_options& of) noexcept;
/// "file", "environment", …
[[nodiscard]] std::string_view name_of(layer_options::kind is) noexcept;

/// A key with different values. A table on one side only is reported value by value, unless the other side has another value
/// there.
struct difference {
  std::string key;
  const blend* before = nullptr;  ///< Null: it was added.
  const blend* after = nullptr;   ///< Null: it was removed.
};

/// Reports differences in the order of `before`, then of `after`. `as_texts`: whether values of two layers are compared by
/// their spelling. Stops when `take` returns false.
void find_differences(const blend& before, const blend& after, const std::function<bool(std::size_t, std::size_t)>& as_texts,
                      const std::function<bool(const difference&)>& take);

}  // namespace hondana::config_files

/// Layers of configuration merged into one tree, and differences between two trees.
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

/// A value of a layer; `raw` is only compared. Lives as long as the values of the layer.
struct layered_value {
  std::size_t layer = 0;
  const located::node* shown = nullptr;
  const located::node* raw = nullptr;
};

struct blend_member;

/// A merged value. Tables are merged member by member; everything else, lists too, is replaced as a whole.
struct blend {
  bool is_table = false;
  layered_value from;                      ///< The strongest that gave it; of a table the last that has it.
  std::vector<layered_value> overrides{};  ///< What it replaced, the strongest first.
  std::vector<layered_value> merged{};     ///< The other tables it is made of, the strongest first.
  std::vector<blend_member> members;       ///< Of a table, in the order the layers bring them.
};

struct blend_member {
  std::string_view key;      ///< As it is shown.
  std::string_view raw_key;  ///< What it is told apart by.
  blend value;
};

/// Lays a tree over what has been merged so far. Time: linear in both.
void lay_over(blend& below, const layered_value& above);
/// One layer alone.
[[nodiscard]] blend blend_of(const layered_value& only);

/// Where a search in merged values has come to.
struct sought_in_blend {
  const blend* at = nullptr;              ///< The innermost merged value that was found.
  const located::node* inside = nullptr;  ///< Within its list, what was found; null: it itself.
  std::string key;                        ///< As `append_part` writes it.
  std::size_t used = 0;                   ///< Of the parts; all of them when the value was found.
};
[[nodiscard]] sought_in_blend seek(const blend& in, const key_path& along);

/// The names below where a search has come to.
[[nodiscard]] std::vector<std::string> names_in(const sought_in_blend& of, std::size_t most);

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

/// A key whose value differs. A table that only one side has counts value by value, unless it stands against something else.
struct difference {
  std::string key;
  const blend* before = nullptr;  ///< Null: it was added.
  const blend* after = nullptr;   ///< Null: it was removed.
};

/// In the order of `before`, then of `after`. `as_texts` says whether values of two layers are compared as they are written.
/// Nothing more is looked for once `take` returns false.
void find_differences(const blend& before, const blend& after, const std::function<bool(std::size_t, std::size_t)>& as_texts,
                      const std::function<bool(const difference&)>& take);

}  // namespace hondana::config_files

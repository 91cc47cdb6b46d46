/// Layers merged, with where each value comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/key_path.hpp"
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

}  // namespace hondana::config_files

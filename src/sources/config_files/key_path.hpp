/// Keys within configuration as users write them, such as server.tls.port.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/node.hpp"

namespace hondana::config_files {

/// One part of a key: a name, or the index of a list item.
struct key_part {
  std::string name;
  bool is_bracketed = false;  ///< Written in brackets, so `follow_part` does not combine it with other parts.

  bool operator==(const key_part&) const = default;
};
using key_path = std::vector<key_part>;

/// Parses a key of at most 256 parts. Dots separate parts. `["NAME"]` and `[0]` are also parts. A backslash makes the next
/// character literal. An empty text gives no parts, which means the whole tree. Errors: invalid_argument, with the position.
[[nodiscard]] result<key_path> parse_key(std::string_view text);

/// Appends a name or an index to a key, so that `parse_key` reads it as one part.
void append_part(std::string& key, std::string_view name);
void append_part(std::string& key, std::size_t index);

/// Finds the member of a table that the part at `position` names, and moves `position` after it. If there is none, joins the
/// following unbracketed parts to it with dots, as in properties files; the shortest match counts. Returns null and keeps
/// `position` if nothing matches. `find`: returns a pointer to the member with a name, or null.
template <class Find>
[[nodiscard]] auto follow_part(const key_path& path, std::size_t& position, Find&& find) -> decltype(find(std::string_view())) {
  std::string name = path[position].name;
  for (auto next = position + 1;; ++next) {
    if (auto match = find(std::string_view(name))) {
      position = next;
      return match;
    }
    if (path[next - 1].is_bracketed || next == path.size() || path[next].is_bracketed) return nullptr;
    name += '.';
    name += path[next].name;
  }
}

/// The index that a part denotes in a list of `count` items; `count` if it denotes none.
[[nodiscard]] std::size_t parse_index(std::string_view part, std::size_t count) noexcept;

/// The result of a search.
struct key_match {
  const located::node* node = nullptr;  ///< The innermost value that was found; never null.
  std::string key;                      ///< The key of `node`, as written by `append_part`.
  std::size_t matched_parts = 0;        ///< Index of the first part that was not found; the number of parts if all were.
};

/// Follows the parts of `path` from `first_part` on, starting at `root`, whose own key is `key`.
[[nodiscard]] key_match find_key(const located::node& root, const key_path& path, std::size_t first_part = 0,
                                 std::string key = {});

/// The names of the members of a table, or the indexes of the items of a list; at most `max_names`.
[[nodiscard]] std::vector<std::string> list_names(const located::node& node, std::size_t max_names);

/// The five of `names` that are most similar to `name`, the most similar first. Considers the first 1000.
[[nodiscard]] std::vector<std::string> find_similar_names(std::string_view name, std::vector<std::string> names);

}  // namespace hondana::config_files

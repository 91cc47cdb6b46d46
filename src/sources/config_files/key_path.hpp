/// Keys within configuration as users write them, such as server.tls.port.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/node.hpp"

namespace hondana::config_files {

/// One name of a key.
struct key_part {
  std::string name;
  bool is_bracketed = false;  ///< Written in brackets: a single name, even if it contains dots.

  bool operator==(const key_part&) const = default;
};
using key_path = std::vector<key_part>;

/// Parses a key. Dots separate parts. A backslash escapes a dot or a backslash, and everything in `["…"]` is literal. `[0]`
/// equals `.0`. An empty text means the whole file. Errors: invalid_argument, with the position.
[[nodiscard]] result<key_path> parse_key(std::string_view text);

/// Appends a part, so that `parse_key` reads it as one part.
void append_part(std::string& key, std::string_view name);
void append_part(std::string& key, std::size_t index);

/// Finds the member or item for the part at `position`, and moves `position` after it. If there is none, consecutive
/// unbracketed parts may be one name with dots, as in properties files; the shortest match counts. `find`: returns the value of
/// a name, or null.
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

/// The index in a list that a part denotes; `count` if it is not an index.
[[nodiscard]] std::size_t parse_index(std::string_view part, std::size_t count) noexcept;

/// The result of a search.
struct key_match {
  const located::node* node = nullptr;  ///< The innermost value that was found.
  std::string key;                      ///< Its key, as written by `append_part`.
  std::size_t matched_parts = 0;        ///< Number of parts that were followed; all of them if the value was found.
};

/// Follows the parts from `first_part` on, starting at `root`, whose key is `key`.
[[nodiscard]] key_match find_key(const located::node& root, const key_path& path, std::size_t first_part = 0,
                                 std::string key = {});

/// The names of members, or the indexes of items.
[[nodiscard]] std::vector<std::string> list_names(const located::node& node, std::size_t max_names);

/// The names that are most similar to `name`, the nearest first; at most five.
[[nodiscard]] std::vector<std::string> find_similar_names(std::string_view name, std::vector<std::string> names);

}  // namespace hondana::config_files

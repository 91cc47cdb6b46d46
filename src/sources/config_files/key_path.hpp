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
  bool is_whole = false;  ///< Written in brackets: a single name, even if it contains dots.

  bool operator==(const key_part&) const = default;
};
using key_path = std::vector<key_part>;

/// Parses a key. Dots separate parts. A backslash escapes a dot or a backslash, and everything in `["…"]` is literal. `[0]`
/// equals `.0`. An empty text means the whole file. Errors: invalid_argument, with the position.
[[nodiscard]] result<key_path> parse_key(std::string_view written);

/// Appends a part, so that `parse_key` reads it as one part.
void append_part(std::string& to, std::string_view name);
void append_part(std::string& to, std::size_t index);

/// Finds the member or item for the part at `at`, and moves `at` after it. If there is none, consecutive unbracketed parts may
/// be one name with dots, as in properties files; the shortest match counts. `find`: returns the value of a name, or null.
template <class Find>
[[nodiscard]] auto step(const key_path& along, std::size_t& at, Find&& find) -> decltype(find(std::string_view())) {
  std::string name = along[at].name;
  for (auto next = at + 1;; ++next) {
    if (auto found = find(std::string_view(name))) {
      at = next;
      return found;
    }
    if (along[next - 1].is_whole || next == along.size() || along[next].is_whole) return nullptr;
    name += '.';
    name += along[next].name;
  }
}

/// The index in a list that a part denotes; `count` if it is not an index.
[[nodiscard]] std::size_t index_of(std::string_view part, std::size_t count) noexcept;

/// The result of a search.
struct sought {
  const located::node* at = nullptr;  ///< The innermost value that was found.
  std::string key;                    ///< Its key, as written by `append_part`.
  std::size_t used = 0;               ///< Number of parts that were followed; all of them if the value was found.
};

/// Follows the parts from `used` on, starting at `from`, whose key is `key`.
[[nodiscard]] sought seek(const located::node& from, const key_path& along, std::size_t used = 0, std::string key = {});

/// The names of members, or the indexes of items.
[[nodiscard]] std::vector<std::string> names_in(const located::node& of, std::size_t most);

/// The names that are most similar to `asked`, the nearest first; at most five.
[[nodiscard]] std::vector<std::string> nearest(std::string_view asked, std::vector<std::string> names);

}  // namespace hondana::config_files

/// Keys within configuration as people write them, such as server.tls.port.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/node.hpp"

namespace hondana::config_files {

struct key_part {
  std::string name;
  bool is_whole = false;  ///< Written in brackets: it is one name, whatever dots it has.

  bool operator==(const key_part&) const = default;
};
using key_path = std::vector<key_part>;

/// Dots separate parts; a dot or a backslash behind a backslash stands for itself, and so does everything in `["…"]`. `[0]` is
/// as `.0`. An empty text is the whole. Errors: invalid_argument, saying where it is wrong.
[[nodiscard]] result<key_path> parse_key(std::string_view written);

/// Adds a part, so that `parse_key` reads it again as one.
void append_part(std::string& to, std::string_view name);
void append_part(std::string& to, std::size_t index);

/// The member or item that the part at `at` stands for, which moves on behind it. Where there is none, plain parts that follow
/// each other may be one name with dots in it, as in properties; the shortest such name counts. `find` gives what a name
/// stands for, null when there is nothing.
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

/// The number that a part is as an item of a list of so many; `count` when it is none.
[[nodiscard]] std::size_t index_of(std::string_view part, std::size_t count) noexcept;

/// Where a search has come to.
struct sought {
  const located::node* at = nullptr;  ///< The innermost value that was found.
  std::string key;                    ///< Of it, as `append_part` writes it.
  std::size_t used = 0;               ///< Of the parts; all of them when the value was found.
};

/// Goes from `from`, whose key is `key`, along the parts from `used` on.
[[nodiscard]] sought seek(const located::node& from, const key_path& along, std::size_t used = 0, std::string key = {});

/// The names of members, or the numbers of items.
[[nodiscard]] std::vector<std::string> names_in(const located::node& of, std::size_t most);

/// Of names those that somebody may have meant by `asked`, the nearest first; at most five.
[[nodiscard]] std::vector<std::string> nearest(std::string_view asked, std::vector<std::string> names);

}  // namespace hondana::config_files

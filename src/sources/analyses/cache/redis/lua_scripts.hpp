/// The Lua scripts that the Redis store runs on the server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::analyses {

/// The scripts, in the order of their texts.
enum class script : std::uint8_t {
  look_up,
  get,
  list,
  ids,
  resource_versions,
  by_resource,
  info,
  changes,
  claim,
  renew,
  put,
  fail,
  erase,
  sweep,
  add_statistics
};
inline constexpr std::size_t script_count = 15;

/// The format of the keys, which the first claim stores under the key `form`. A different value belongs to another version of
/// this program.
inline constexpr std::string_view key_format = "1";

/// The text of a script, including the common prelude. Its only key is the prefix of all keys; its arguments are described at
/// its definition.
[[nodiscard]] const std::string& script_text(script id);

}  // namespace hondana::analyses

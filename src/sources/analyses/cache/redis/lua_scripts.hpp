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
  look,
  get,
  list,
  ids,
  bases,
  based_on,
  facts,
  changes,
  claim,
  renew,
  put,
  fail,
  forget,
  sweep,
  count
};
inline constexpr std::size_t count_of_scripts = 15;

/// The format of the keys, which the first claim stores as `form`. A different value belongs to another version of this
/// program.
inline constexpr std::string_view form_of_keys = "1";

/// The text of a script, including the common prelude. Its only key is the prefix of all keys; its arguments are described at
/// its definition.
[[nodiscard]] const std::string& text_of(script which);

}  // namespace hondana::analyses

/// The Lua scripts that the Redis store runs on the server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::analyses {

/// The scripts. Each runs the function of `analysis_store` with its name, if no other is given here.
enum class script : std::uint8_t {
  look_up,
  get,  ///< Also `get_summary`.
  list,
  ids,                ///< `list_names` for ids.
  resource_versions,  ///< `list_resource_versions`.
  by_resource,        ///< `list_by_resource`.
  info,               ///< `read_info`.
  changes,            ///< `changes_since`, without the wait.
  claim,
  renew,
  put,
  fail,
  erase,
  sweep,
  add_statistics
};
inline constexpr std::size_t script_count = 15;

/// The format of the data in Redis. The first claim stores it under the key `form`. A store with another format was written by
/// a newer version of hondana.
inline constexpr std::string_view key_format = "1";

/// Returns the Lua source of a script. KEYS[1] is the prefix of all keys. lua_scripts.cpp describes the arguments (ARGV).
[[nodiscard]] const std::string& script_text(script id);

}  // namespace hondana::analyses

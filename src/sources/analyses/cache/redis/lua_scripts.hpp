/// The Lua scripts that the Redis store runs on the server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::analyses {

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

/// Of the keys: what stands under `form` once something was claimed. Another one belongs to another version of this program.
inline constexpr std::string_view form_of_keys = "1";

/// Its whole text, with what all of them begin with. Its one key is the beginning of all keys; its arguments are described
/// there.
[[nodiscard]] const std::string& text_of(script which);

}  // namespace hondana::analyses

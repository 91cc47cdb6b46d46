/// One entry as a row of bytes, for sets of hundreds of thousands.
#pragma once

#include <string>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::model {

/// Appends `entry` to `arena` so that `unpack` gives it back exactly; about twenty bytes beyond its strings.
void pack(std::string& arena, const resource& entry);
/// The entry that starts `packed`, which `pack` wrote.
[[nodiscard]] resource unpack(std::string_view packed);
/// The URI of the entry that starts `packed`, as a view into it.
[[nodiscard]] std::string_view packed_uri(std::string_view packed) noexcept;

}  // namespace hondana::model

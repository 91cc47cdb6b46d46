/// What a confined child is told of its limits, in a variable of its environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/process/confined.hpp"

namespace hondana::process {

inline constexpr const char* limits_variable = "HONDANA_LIMITS";

/// "20000 1073741824 67108864 536870912": milliseconds, then bytes of memory, output and what is unpacked.
[[nodiscard]] std::string text_of(const limits& of);
/// Nothing when it is no such text.
[[nodiscard]] std::optional<limits> limits_in(std::string_view text);

}  // namespace hondana::process

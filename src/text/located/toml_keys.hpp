/// Dotted keys of TOML, counted before the library makes tables of them.
#pragma once

#include <hondana/error.hpp>

#include "text/located/reading.hpp"

namespace hondana::located {

/// toml++ searches all tables that dotted keys and headers made for each of them, and walks tables by recursion, however deep
/// dots nest them. Errors: a key with more parts than lists and tables may be deep; response_too_large for more than this many
/// dots in keys.
inline constexpr std::size_t most_dots_in_keys = 20'000;
[[nodiscard]] result<void> check_toml_keys(const reading& from);

}  // namespace hondana::located

/// JSON with comments as a text: what a look from the front can tell.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/located/reading.hpp"

namespace hondana::located {

/// Behind white space and comments.
[[nodiscard]] std::size_t skip_between(std::string_view text, std::size_t at) noexcept;

/// Behind the value at `at`: well-formed text is expected, and no end is missed in any other.
[[nodiscard]] std::size_t skip_json_value(std::string_view text, std::size_t at) noexcept;

/// Errors: nested too deeply, or more values than may be; the library would make all of them first.
[[nodiscard]] result<void> check_json_size(const reading& from);

}  // namespace hondana::located

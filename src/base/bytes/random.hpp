/// Bytes that nobody guesses.
#pragma once

#include <cstddef>
#include <string>

#include <hondana/error.hpp>

namespace hondana::bytes {

/// At most 256. Errors: internal, when the system has none.
[[nodiscard]] result<std::string> random_bytes(std::size_t count);

}  // namespace hondana::bytes

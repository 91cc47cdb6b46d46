/// What the file of a store is, and how it is made.
#pragma once

#include <string_view>

#include "os/sqlite/owned_file.hpp"

namespace hondana::samples {

/// In errors.
inline constexpr std::string_view what_it_is = "metrics store";

[[nodiscard]] const sqlite::file_kind& kind_of_file() noexcept;

}  // namespace hondana::samples

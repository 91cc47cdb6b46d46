/// The tables of analyses in SQLite.
#pragma once

#include "os/sqlite/owned_file.hpp"

namespace hondana::analyses {

/// In errors.
inline constexpr const char* what_a_store_is = "store of analyses";

[[nodiscard]] const sqlite::file_kind& kind_of_file() noexcept;

}  // namespace hondana::analyses

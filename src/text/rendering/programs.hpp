/// Programs of poppler-utils, and what they need of the machine.
#pragma once

#include <string>
#include <string_view>

#include "os/sandbox/permissions.hpp"

namespace hondana::rendering {

/// The absolute path of a program in the usual folders; "" when there is none.
[[nodiscard]] std::string program_at(std::string_view name);
/// What it may do: read libraries and the tables for characters of Asian scripts, and be run, by itself and the loader.
[[nodiscard]] sandbox::permissions permissions_for(const std::string& program);

/// As many pages as are rendered.
inline constexpr std::size_t most_pdf_pages = 5'000;

}  // namespace hondana::rendering

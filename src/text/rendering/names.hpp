/// Names of formats, as commands have them.
#pragma once

#include <optional>
#include <string_view>

#include "text/rendering/rendering.hpp"

namespace hondana::rendering {

/// What a file says of itself, of the format that asks for another program.
inline constexpr std::string_view pdf_facts_name = "pdf-facts";

/// Each sheet of a workbook by itself, of the format xlsx.
inline constexpr std::string_view sheets_name = "xlsx-sheets";

/// "docx".
[[nodiscard]] std::string_view name_of(format what) noexcept;
[[nodiscard]] std::optional<format> format_named(std::string_view name) noexcept;

}  // namespace hondana::rendering

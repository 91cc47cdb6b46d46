/// The protocol between renderer and child process: format names, the head line and lists of sheets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/rendering/renderer.hpp"

namespace hondana::rendering {

/// What a file says of itself, of the format that asks for another program.
inline constexpr std::string_view pdf_facts_name = "pdf-facts";

/// Each sheet of a workbook by itself, of the format xlsx.
inline constexpr std::string_view sheets_name = "xlsx-sheets";

/// "docx".
[[nodiscard]] std::string_view name_of(format what) noexcept;
[[nodiscard]] std::optional<format> format_named(std::string_view name) noexcept;

inline constexpr std::size_t longest_head = 64u << 10;

/// What a child says before the text.
struct child_head {
  document facts{};        ///< Without its text.
  std::size_t beside = 0;  ///< How many of the last bytes behind the head are `document::beside`; of who reads it.
  std::string lacks;       ///< What of the confinement cannot be had; empty: nothing.
};

/// Each with its newline.
[[nodiscard]] std::string line_of(const child_head& of);
[[nodiscard]] std::string line_of(const failure& why, std::string_view lacks);
/// The other way round, without the newline; `lacks` is set also beside an error. Errors: the one that the line says;
/// source_unavailable: the line is none of these.
[[nodiscard]] result<child_head> head_in(std::string_view line, std::string& lacks);

/// A line of JSON (name, bytes, cut), so many bytes, and a line feed.
[[nodiscard]] std::string line_of(const sheet& of);
/// The other way round. What ends in the middle of a sheet gives as much of it as is there, cut; at most 1000 sheets. Errors:
/// source_unavailable: these are no sheets.
[[nodiscard]] result<std::vector<sheet>> sheets_in(std::string_view text);

}  // namespace hondana::rendering

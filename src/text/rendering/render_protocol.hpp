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

/// Command line name for the properties of a PDF, which another program prints.
inline constexpr std::string_view pdf_facts_name = "pdf-facts";

/// Command line name for the sheets of an xlsx workbook, each separately.
inline constexpr std::string_view sheets_name = "xlsx-sheets";

/// For example "docx".
[[nodiscard]] std::string_view name_of(format what) noexcept;
[[nodiscard]] std::optional<format> format_named(std::string_view name) noexcept;

inline constexpr std::size_t longest_head = 64u << 10;

/// The information that a child sends before the text.
struct child_head {
  document facts{};        ///< The properties without text.
  std::size_t beside = 0;  ///< Number of bytes at the end of the text that are `document::beside`; the reader separates them.
  std::string lacks;       ///< The part of the confinement that is not available; empty: none.
};

/// The head as a line of JSON, with its newline.
[[nodiscard]] std::string line_of(const child_head& of);
[[nodiscard]] std::string line_of(const failure& why, std::string_view lacks);
/// Parses a head line, without its newline. `lacks` is set even if the result is an error. Errors: the one that the line
/// contains; source_unavailable if the line is malformed.
[[nodiscard]] result<child_head> head_in(std::string_view line, std::string& lacks);

/// A sheet as a line of JSON (name, bytes, cut), followed by its bytes and a newline.
[[nodiscard]] std::string line_of(const sheet& of);
/// Parses sheets. A sheet that is cut off is returned as far as it goes, and marked as cut; at most 1000 sheets. Errors:
/// source_unavailable if the text is malformed.
[[nodiscard]] result<std::vector<sheet>> sheets_in(std::string_view text);

}  // namespace hondana::rendering

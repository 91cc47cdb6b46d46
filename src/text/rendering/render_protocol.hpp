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
inline constexpr std::string_view pdf_info_name = "pdf-facts";

/// Command line name for the sheets of an xlsx workbook, each separately.
inline constexpr std::string_view sheets_name = "xlsx-sheets";

/// For example "docx".
[[nodiscard]] std::string_view name_of(format document_format) noexcept;
[[nodiscard]] std::optional<format> parse_format(std::string_view name) noexcept;

inline constexpr std::size_t max_head_bytes = 64u << 10;

/// The information that a child sends before the text.
struct child_head {
  document properties{};  ///< The properties without text.
  std::size_t extra_bytes =
      0;  ///< Number of bytes at the end of the text that are `document::extra_text`; the reader separates them.
  std::string missing_confinement;  ///< The part of the confinement that is not available; empty: none.
};

/// The head as a line of JSON, with its newline.
[[nodiscard]] std::string to_line(const child_head& head);
[[nodiscard]] std::string to_line(const failure& error, std::string_view missing_confinement);
/// Parses a head line, without its newline. `missing_confinement` is set even if the result is an error. Errors: the one that
/// the line contains; source_unavailable if the line is malformed.
[[nodiscard]] result<child_head> parse_head(std::string_view line, std::string& missing_confinement);

/// A sheet as a line of JSON (name, bytes, cut), followed by its bytes and a newline.
[[nodiscard]] std::string to_line(const sheet& item);
/// Parses sheets. A sheet that is cut off is returned as far as it goes, and has `is_truncated` set; at most 1000 sheets.
/// Errors: source_unavailable if the text is malformed.
[[nodiscard]] result<std::vector<sheet>> parse_sheets(std::string_view text);

}  // namespace hondana::rendering

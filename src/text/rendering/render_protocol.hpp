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

/// Name on the command line for the properties of a PDF, which pdfinfo prints.
inline constexpr std::string_view pdf_info_name = "pdf-facts";

/// Name on the command line for the sheets of an xlsx workbook, each separately.
inline constexpr std::string_view sheets_name = "xlsx-sheets";

/// Returns the name of a format on the command line, such as "docx".
[[nodiscard]] std::string_view name_of(format document_format) noexcept;
/// Parses a result of `name_of`; no value for other names.
[[nodiscard]] std::optional<format> parse_format(std::string_view name) noexcept;

/// Limit of bytes of a head line.
inline constexpr std::size_t max_head_bytes = 64u << 10;

/// The information that a child sends before the text.
struct child_head {
  document properties{};  ///< Without texts after `parse_head`.
  /// Number of bytes at the end of the text that are `document::extra_text`. Only `parse_head` sets it; `to_line` uses
  /// `properties`.
  std::size_t extra_bytes = 0;
  std::string missing_confinement;  ///< As `renderer::missing_confinement`.
};

/// Returns the head, without the texts of `properties`, as a line of JSON with its newline.
[[nodiscard]] std::string to_line(const child_head& head);
/// Returns a head for a document that cannot be rendered.
[[nodiscard]] std::string to_line(const failure& error, std::string_view missing_confinement);
/// Parses a head line, without its newline. Sets `missing_confinement` also if the line has an error. Errors: the one that the
/// line contains; source_unavailable if the line is malformed.
[[nodiscard]] result<child_head> parse_head(std::string_view line, std::string& missing_confinement);

/// Returns a sheet as a line of JSON (name, bytes, cut), followed by its bytes and a newline.
[[nodiscard]] std::string to_line(const sheet& item);
/// Parses sheets, at most 1000. A last sheet that is cut off is returned as far as it goes, and has `is_truncated` set. Errors:
/// source_unavailable if the text is malformed.
[[nodiscard]] result<std::vector<sheet>> parse_sheets(std::string_view text);

}  // namespace hondana::rendering

/// The type of a document by its file name.
#pragma once

#include <optional>
#include <string_view>

#include "text/markup/outline.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::docs {

/// The type of a document. All string views are static.
struct document_type {
  std::string_view original_type{};                  ///< Media type of the file.
  std::string_view text_type{};                      ///< Media type of its text.
  markup::markup_format markup_format{};             ///< Markup of the text; for HTML, of the file.
  std::optional<rendering::format> render_format{};  ///< Set if a child process must render the file to text.
};

/// The type by the last name of a path. Nothing if the name is not that of a document. Ignores case.
[[nodiscard]] std::optional<document_type> type_of(std::string_view path) noexcept;

/// Plain text: the type for files that only `set_options::include` declares to be documents.
[[nodiscard]] document_type fallback_type() noexcept;

}  // namespace hondana::docs

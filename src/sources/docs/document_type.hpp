/// The type of a document by its file name.
#pragma once

#include <optional>
#include <string_view>

#include "text/markup/outline.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::docs {

/// Its views are static.
struct document_type {
  std::string_view original{};                  ///< Media type of the file.
  std::string_view text{};                      ///< Of its text.
  markup::format marked{};                      ///< How the text is marked up; of HTML the file.
  std::optional<rendering::format> rendered{};  ///< It becomes text in a child process.
};

/// Nothing: by its name it is no document. `path` may have folders in front.
[[nodiscard]] std::optional<document_type> type_of(std::string_view path) noexcept;

/// For what somebody says is a document, whatever it is called.
[[nodiscard]] document_type plain_type() noexcept;

}  // namespace hondana::docs

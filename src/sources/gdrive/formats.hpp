/// What a file of Drive is given as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/gdrive/item.hpp"
#include "text/rendering/rendering.hpp"

namespace hondana::gdrive {

/// How its content is come by.
enum class way : std::uint8_t {
  folder,    ///< The URIs in it.
  shortcut,  ///< Its target's.
  exported,  ///< Google's editors write it in `asked`.
  workbook,  ///< Exported as `asked` and cut into sheets, each as CSV.
  slides,    ///< Exported as `asked` and rendered.
  rendered,  ///< Its bytes are rendered, and given too.
  bytes,     ///< As it is.
  none,      ///< Drive gives it to nobody.
};

/// Its views are static but for `given`, which may be of the item.
struct format {
  way how = way::bytes;
  std::string_view kind{};   ///< As `resource::kind`.
  std::string_view asked{};  ///< The type that is exported.
  std::string_view given{};  ///< The type that reads give.
  std::optional<rendering::format> rendered{};
  bool is_text = false;  ///< What is exported.
};

[[nodiscard]] format format_of(const item& of) noexcept;

/// Whether Google's editors made it, so that it has no bytes of its own.
[[nodiscard]] bool is_of_google(std::string_view mime_type) noexcept;

/// What people call a type of Google's that cannot be given ("form"); for errors.
[[nodiscard]] std::string word_for(std::string_view mime_type);

}  // namespace hondana::gdrive

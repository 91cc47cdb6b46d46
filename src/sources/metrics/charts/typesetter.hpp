/// Measures, shortens and wraps text with Pango.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/drawing_library.hpp"

namespace hondana::charts {

/// The font families to use, in the syntax of both CSS and Pango.
inline constexpr std::string_view font_families = "Noto Sans,Noto Sans CJK JP,DejaVu Sans,sans-serif";

/// Measures and shortens text for one drawing. Each typesetter is used by one thread at a time. Texts are plain and on one
/// line.
class typesetter {
 public:
  /// Creates a typesetter. Reuses the fonts of an earlier drawing if available: those of up to four are cached. Errors:
  /// source_unavailable.
  [[nodiscard]] static result<typesetter> create();

  [[nodiscard]] const drawing_library& library() const noexcept { return *library_; }
  [[nodiscard]] double width_of(std::string_view text, const font& font) const;
  /// The text, or if it is too wide, its beginning and end with `…` between. Never cuts a grapheme.
  [[nodiscard]] std::string fit(std::string_view text, const font& font, double max_width) const;
  /// Breaks the text between words into at most `line_limit` lines. The last one is shortened if necessary.
  [[nodiscard]] std::vector<std::string> wrap(std::string_view text, const font& font, double max_width,
                                              std::size_t line_limit) const;
  /// The text's layout, valid until the next call of any member function.
  [[nodiscard]] PangoLayout* set_text(std::string_view text, const font& font) const;

 private:
  struct font_map_pool;
  struct unref {
    const drawing_library* library;
    void operator()(gpointer object) const noexcept { library->object_unref(object); }
  };
  struct pool_deleter {
    void operator()(PangoFontMap* map) const noexcept;
  };

  explicit typesetter(const drawing_library* library) noexcept : library_(library) {}

  const drawing_library* library_;
  std::unique_ptr<PangoFontMap, pool_deleter> map_{};
  std::unique_ptr<PangoContext, unref> context_{};
  std::unique_ptr<PangoLayout, unref> layout_{};
};

}  // namespace hondana::charts

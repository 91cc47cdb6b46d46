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

/// Measures and shortens text for one drawing. Texts are plain, on one line, and valid UTF-8. Widths are in CSS
/// pixels. Threads: one at a time.
class typesetter {
 public:
  /// Creates a typesetter. Reuses fonts that an earlier drawing has loaded, if possible. Errors: source_unavailable if Pango or
  /// all fonts are missing.
  [[nodiscard]] static result<typesetter> create();

  [[nodiscard]] const drawing_library& library() const noexcept { return *library_; }
  [[nodiscard]] double width_of(std::string_view text, const font& font) const;
  /// Returns the text, or if it is too wide, its beginning and end with `…` between. Never cuts a grapheme.
  [[nodiscard]] std::string fit(std::string_view text, const font& font, double max_width) const;
  /// Breaks the text between words into at most `line_limit` lines. Shortens the last one if necessary.
  [[nodiscard]] std::vector<std::string> wrap(std::string_view text, const font& font, double max_width,
                                              std::size_t line_limit) const;
  /// Lays out a text. The result is valid until the next call of any function of this object, which owns it.
  [[nodiscard]] PangoLayout* set_text(std::string_view text, const font& font) const;

 private:
  /// Font maps with loaded fonts that no typesetter uses: up to four.
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

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
  [[nodiscard]] static result<typesetter> borrowed();

  [[nodiscard]] const drawing_library& library() const noexcept { return *with_; }
  [[nodiscard]] double width_of(std::string_view text, const font& in) const;
  /// The text, or if it is too wide, its beginning and end with `…` between. Never cuts a grapheme.
  [[nodiscard]] std::string fitted(std::string_view text, const font& in, double room) const;
  /// Breaks the text between words into at most `most` lines. The last one is shortened if necessary.
  [[nodiscard]] std::vector<std::string> broken(std::string_view text, const font& in, double room, std::size_t most) const;
  /// The text's layout, valid until the next call of any member function.
  [[nodiscard]] PangoLayout* set(std::string_view text, const font& in) const;

 private:
  struct fonts_kept;
  struct unref {
    const drawing_library* with;
    void operator()(gpointer what) const noexcept { with->object_unref(what); }
  };
  struct gives_back {
    void operator()(PangoFontMap* map) const noexcept;
  };

  explicit typesetter(const drawing_library* with) noexcept : with_(with) {}

  const drawing_library* with_;
  std::unique_ptr<PangoFontMap, gives_back> map_{};
  std::unique_ptr<PangoContext, unref> context_{};
  std::unique_ptr<PangoLayout, unref> layout_{};
};

}  // namespace hondana::charts

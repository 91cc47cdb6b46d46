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

/// The families that are asked for, in the spelling of CSS and of Pango.
inline constexpr std::string_view font_families = "Noto Sans,Noto Sans CJK JP,DejaVu Sans,sans-serif";

/// One drawing's. Threads: one at a time; several may be used at once. Texts are plain and in one line.
class typesetter {
 public:
  /// Takes the fonts as they were found, of which four drawings' worth are kept for those to come. Errors: source_unavailable.
  [[nodiscard]] static result<typesetter> borrowed();

  [[nodiscard]] const drawing_library& library() const noexcept { return *with_; }
  [[nodiscard]] double width_of(std::string_view text, const font& in) const;
  /// The text, or as much of its beginning and end as there is room for, with `…` between. Whole graphemes.
  [[nodiscard]] std::string fitted(std::string_view text, const font& in, double room) const;
  /// Broken between words into at most that many lines, the last of which is shortened.
  [[nodiscard]] std::vector<std::string> broken(std::string_view text, const font& in, double room, std::size_t most) const;
  /// The text's layout, valid until the next call of any function.
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

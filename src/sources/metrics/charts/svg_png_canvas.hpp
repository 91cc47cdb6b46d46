/// Canvases that write a chart as SVG text, or as a PNG with Cairo.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {

/// Writes SVG. Positions have one decimal. The result is well-formed XML if all texts come from `display_text`. Spec: SVG 1.1,
/// and WAI-ARIA for `role` and `aria-label`.
class svg_canvas final : public canvas {
 public:
  /// Sizes are in CSS pixels. `title` and `description` are for readers who cannot see the chart.
  svg_canvas(double width, double height, std::string_view title, std::string_view description);

  void fill(const box& box, rgba color) override;
  void fill(const path& path, rgba color) override;
  void stroke(const path& path, const pen& pen) override;
  void dots(const std::vector<point>& centers, double radius, rgba color) override;
  void write(point position, std::string_view text, const text_style& style) override;
  void begin_group(std::string_view name) override;
  void end_group() override;

  /// Returns the SVG document.
  [[nodiscard]] std::string finish() &&;

 private:
  void append_path(const path& path, bool is_closed);

  std::string out_;
};

/// Draws a PNG with Cairo.
class png_canvas final : public canvas {
 public:
  /// Sizes are in CSS pixels; each is `scale` pixels of the image. `typesetter` must outlive the canvas.
  png_canvas(const typesetter& typesetter, double width, double height, double scale);
  png_canvas(const png_canvas&) = delete;
  png_canvas& operator=(const png_canvas&) = delete;
  ~png_canvas() override;

  void fill(const box& box, rgba color) override;
  void fill(const path& path, rgba color) override;
  void stroke(const path& path, const pen& pen) override;
  void dots(const std::vector<point>& centers, double radius, rgba color) override;
  void write(point position, std::string_view text, const text_style& style) override;
  void begin_group(std::string_view) override {}
  void end_group() override {}

  /// Returns the bytes of the PNG. Errors: internal if Cairo failed, such as without memory.
  [[nodiscard]] result<std::string> finish();

 private:
  void set_color(rgba color);
  void trace_path(const path& path, bool is_closed);

  const typesetter* typesetter_;
  const drawing_library* library_;
  cairo_surface_t* surface_;
  cairo_t* context_;
};

}  // namespace hondana::charts

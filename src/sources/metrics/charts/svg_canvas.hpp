/// Writes a chart as SVG.
#pragma once

#include <string>
#include <string_view>

#include "sources/metrics/charts/canvas.hpp"

namespace hondana::charts {

/// Spec: SVG 1.1, and WAI-ARIA for `role` and `aria-labelledby`. Positions have one decimal. Well-formed XML as long as texts
/// are what `shown_text` makes.
class svg_canvas final : public canvas {
 public:
  svg_canvas(double width, double height, std::string_view title, std::string_view description);

  void fill(const box& what, colour with) override;
  void fill(const path& what, colour with) override;
  void stroke(const path& what, const pen& with) override;
  void dots(const std::vector<point>& at, double radius, colour with) override;
  void write(point at, std::string_view text, const writing& how) override;
  void begin_group(std::string_view name) override;
  void end_group() override;

  [[nodiscard]] std::string finish() &&;

 private:
  void follow(const path& what, bool closes);

  std::string out_;
};

}  // namespace hondana::charts

/// Canvases that write a chart as SVG text, or as a PNG with Cairo.
#include "sources/metrics/charts/svg_png_canvas.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {
namespace {

std::int64_t to_tenths(double value) noexcept { return std::llround(value * 10); }

/// In as few characters as possible: "12", "-.5".
void append_tenths(std::string& output, std::int64_t tenths) {
  if (tenths < 0) output += '-';
  const auto magnitude = static_cast<std::uint64_t>(tenths < 0 ? -tenths : tenths);
  if (magnitude >= 10 || magnitude == 0) output += std::to_string(magnitude / 10);
  if (magnitude % 10 != 0) {
    output += '.';
    output += static_cast<char>('0' + magnitude % 10);
  }
}

void append_number(std::string& output, double value) { append_tenths(output, to_tenths(value)); }

void append_attribute(std::string& output, std::string_view name, double value) {
  output.append(" ").append(name).append("=\"");
  append_number(output, value);
  output += '"';
}

void append_escaped(std::string& output, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        output += "&amp;";
        break;
      case '<':
        output += "&lt;";
        break;
      case '>':
        output += "&gt;";
        break;
      case '"':
        output += "&quot;";
        break;
      case '\'':
        output += "&#39;";
        break;
      default:
        output += c;
    }
  }
}

void append_color(std::string& output, std::string_view attribute, rgba color) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  output.append(" ").append(attribute).append("=\"#");
  for (const unsigned channel : {color.red, color.green, color.blue}) {
    output += hex_digits[channel >> 4];
    output += hex_digits[channel & 15];
  }
  output += '"';
  if (color.alpha >= 1) return;
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), color.alpha, std::chars_format::fixed, 2).ptr;
  output.append(" ").append(attribute).append("-opacity=\"").append(text.data(), end).append("\"");
}

}  // namespace

svg_canvas::svg_canvas(double width, double height, std::string_view title, std::string_view description) {
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
  append_attribute(out_, "width", width);
  append_attribute(out_, "height", height);
  out_ += " viewBox=\"0 0 ";
  append_number(out_, width);
  out_ += ' ';
  append_number(out_, height);
  out_ += "\" role=\"img\" aria-label=\"";
  append_escaped(out_, title);
  out_.append("\" font-family=\"").append(font_families).append("\">\n<title>");
  append_escaped(out_, title);
  out_ += "</title>\n<desc>";
  append_escaped(out_, description);
  out_ += "</desc>\n";
}

void svg_canvas::append_path(const path& path, bool is_closed) {
  out_ += "<path d=\"";
  // Relative moves connect rounded positions, so that rounding errors do not accumulate.
  for (std::size_t run = 0; run < path.starts.size(); ++run) {
    const std::size_t end = run + 1 < path.starts.size() ? path.starts[run + 1] : path.points.size();
    std::int64_t x = 0;
    std::int64_t y = 0;
    for (std::size_t i = path.starts[run]; i < end; ++i) {
      const bool is_first = i == path.starts[run];
      const std::int64_t to_x = to_tenths(path.points[i].x);
      const std::int64_t to_y = to_tenths(path.points[i].y);
      if (is_first) {
        out_ += 'M';
      } else if (i == path.starts[run] + 1) {
        out_ += 'l';
      } else if (to_x >= x) {
        out_ += ' ';
      }
      append_tenths(out_, to_x - x);
      if (to_y >= y || is_first) out_ += ' ';
      append_tenths(out_, to_y - y);
      x = to_x;
      y = to_y;
    }
    if (is_closed) out_ += 'z';
  }
  out_ += '"';
}

void svg_canvas::fill(const box& box, rgba color) {
  out_ += "<rect";
  append_attribute(out_, "x", box.x);
  append_attribute(out_, "y", box.y);
  append_attribute(out_, "width", box.width);
  append_attribute(out_, "height", box.height);
  append_color(out_, "fill", color);
  out_ += "/>\n";
}

void svg_canvas::fill(const path& path, rgba color) {
  if (path.points.empty()) return;
  append_path(path, true);
  append_color(out_, "fill", color);
  out_ += "/>\n";
}

void svg_canvas::stroke(const path& path, const pen& pen) {
  if (path.points.empty()) return;
  append_path(path, false);
  out_ += " fill=\"none\" stroke-linejoin=\"round\"";
  append_color(out_, "stroke", pen.color);
  append_attribute(out_, "stroke-width", pen.width);
  const auto& lengths = dash_lengths(pen.pattern);
  if (lengths.empty()) {
    out_ += " stroke-linecap=\"round\"";
  } else {
    out_ += " stroke-dasharray=\"";
    for (const double length : lengths) {
      if (out_.back() != '"') out_ += ' ';
      append_number(out_, length);
    }
    out_ += '"';
  }
  out_ += "/>\n";
}

void svg_canvas::dots(const std::vector<point>& centers, double radius, rgba color) {
  if (centers.empty()) return;
  // Zero-length lines with round caps look like dots, and take a tenth of the bytes of circles.
  out_ += "<path d=\"";
  for (const auto& center : centers) {
    out_ += 'M';
    append_number(out_, center.x);
    out_ += ' ';
    append_number(out_, center.y);
    out_ += "h0";
  }
  out_ += "\" fill=\"none\" stroke-linecap=\"round\"";
  append_color(out_, "stroke", color);
  append_attribute(out_, "stroke-width", 2 * radius);
  out_ += "/>\n";
}

void svg_canvas::write(point position, std::string_view text, const text_style& style) {
  if (text.empty()) return;
  out_ += "<text";
  append_attribute(out_, "x", position.x);
  append_attribute(out_, "y", position.y);
  append_attribute(out_, "font-size", style.font.size);
  if (style.font.is_bold) out_ += " font-weight=\"bold\"";
  if (style.anchor != anchor::start)
    out_ += style.anchor == anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  append_color(out_, "fill", style.color);
  if (style.halo.alpha > 0) {
    append_color(out_, "stroke", style.halo);
    out_ += " stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
  }
  // The reader may have other fonts. Texts that nearly fill their space get a fixed length.
  if (style.max_width > 0 && style.width > style.max_width * 0.75) {
    append_attribute(out_, "textLength", style.width);
    out_ += " lengthAdjust=\"spacingAndGlyphs\"";
  }
  out_ += '>';
  append_escaped(out_, text);
  out_ += "</text>\n";
}

void svg_canvas::begin_group(std::string_view name) {
  out_ += "<g><title>";
  append_escaped(out_, name);
  out_ += "</title>\n";
}

void svg_canvas::end_group() { out_ += "</g>\n"; }

std::string svg_canvas::finish() && {
  out_ += "</svg>\n";
  return std::move(out_);
}

namespace {

cairo_status_t append_bytes(void* closure, const unsigned char* bytes, unsigned size) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(bytes), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;  // an exception must not pass through C
  }
}

}  // namespace

png_canvas::png_canvas(const typesetter& typesetter, double width, double height, double scale)
    : typesetter_(&typesetter),
      library_(&typesetter.library()),
      surface_(library_->image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
                                              static_cast<int>(std::lround(height * scale)))),
      context_(library_->create(surface_)) {
  library_->scale(context_, scale, scale);
  library_->set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
}

png_canvas::~png_canvas() {
  library_->destroy(context_);
  library_->surface_destroy(surface_);
}

void png_canvas::set_color(rgba color) {
  library_->set_source_rgba(context_, color.red / 255.0, color.green / 255.0, color.blue / 255.0, color.alpha);
}

void png_canvas::trace_path(const path& path, bool is_closed) {
  library_->new_path(context_);
  for (std::size_t run = 0; run < path.starts.size(); ++run) {
    const std::size_t end = run + 1 < path.starts.size() ? path.starts[run + 1] : path.points.size();
    for (std::size_t i = path.starts[run]; i < end; ++i) {
      (i == path.starts[run] ? library_->move_to : library_->line_to)(context_, path.points[i].x, path.points[i].y);
    }
    if (is_closed) library_->close_path(context_);
  }
}

void png_canvas::fill(const box& box, rgba color) {
  set_color(color);
  library_->new_path(context_);
  library_->rectangle(context_, box.x, box.y, box.width, box.height);
  library_->fill(context_);
}

void png_canvas::fill(const path& path, rgba color) {
  set_color(color);
  trace_path(path, true);
  library_->fill(context_);
}

void png_canvas::stroke(const path& path, const pen& pen) {
  const auto& lengths = dash_lengths(pen.pattern);
  set_color(pen.color);
  library_->set_line_width(context_, pen.width);
  library_->set_dash(context_, lengths.data(), static_cast<int>(lengths.size()), 0);
  library_->set_line_cap(context_, lengths.empty() ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
  trace_path(path, false);
  library_->stroke(context_);
}

void png_canvas::dots(const std::vector<point>& centers, double radius, rgba color) {
  set_color(color);
  library_->new_path(context_);
  for (const auto& center : centers) {
    library_->new_sub_path(context_);
    library_->arc(context_, center.x, center.y, radius, 0, 2 * std::acos(-1.0));
  }
  library_->fill(context_);
}

void png_canvas::write(point position, std::string_view text, const text_style& style) {
  PangoLayoutLine* const line = library_->layout_get_line(typesetter_->set_text(text, style.font), 0);
  const double left = style.anchor == anchor::start
                          ? position.x
                          : position.x - (style.anchor == anchor::middle ? style.width / 2 : style.width);
  library_->new_path(context_);
  if (style.halo.alpha > 0) {
    set_color(style.halo);
    library_->set_line_width(context_, 3);
    library_->set_dash(context_, nullptr, 0, 0);
    library_->move_to(context_, left, position.y);
    library_->layout_line_path(context_, line);
    library_->stroke(context_);
  }
  library_->move_to(context_, left, position.y);
  set_color(style.color);
  library_->show_layout_line(context_, line);
}

result<std::string> png_canvas::finish() {
  std::string out;
  auto status = library_->status(context_);
  if (status == CAIRO_STATUS_SUCCESS) status = library_->surface_write_to_png_stream(surface_, append_bytes, &out);
  if (status != CAIRO_STATUS_SUCCESS) {
    return fail(errc::internal, "the chart could not be drawn; request a smaller one", library_->status_to_string(status));
  }
  return out;
}

}  // namespace hondana::charts

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

std::int64_t tenths_of(double value) noexcept { return std::llround(value * 10); }

/// In as few characters as possible: "12", "-.5".
void append_tenths(std::string& to, std::int64_t tenths) {
  if (tenths < 0) to += '-';
  const auto size = static_cast<std::uint64_t>(tenths < 0 ? -tenths : tenths);
  if (size >= 10 || size == 0) to += std::to_string(size / 10);
  if (size % 10 != 0) {
    to += '.';
    to += static_cast<char>('0' + size % 10);
  }
}

void append_number(std::string& to, double value) { append_tenths(to, tenths_of(value)); }

void append_member(std::string& to, std::string_view name, double value) {
  to.append(" ").append(name).append("=\"");
  append_number(to, value);
  to += '"';
}

void append_escaped(std::string& to, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        to += "&amp;";
        break;
      case '<':
        to += "&lt;";
        break;
      case '>':
        to += "&gt;";
        break;
      case '"':
        to += "&quot;";
        break;
      case '\'':
        to += "&#39;";
        break;
      default:
        to += c;
    }
  }
}

void append_ink(std::string& to, std::string_view member, colour ink) {
  constexpr std::string_view figures = "0123456789abcdef";
  to.append(" ").append(member).append("=\"#");
  for (const unsigned part : {ink.red, ink.green, ink.blue}) {
    to += figures[part >> 4];
    to += figures[part & 15];
  }
  to += '"';
  if (ink.alpha >= 1) return;
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), ink.alpha, std::chars_format::fixed, 2).ptr;
  to.append(" ").append(member).append("-opacity=\"").append(text.data(), end).append("\"");
}

}  // namespace

svg_canvas::svg_canvas(double width, double height, std::string_view title, std::string_view description) {
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
  append_member(out_, "width", width);
  append_member(out_, "height", height);
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

void svg_canvas::follow(const path& what, bool closes) {
  out_ += "<path d=\"";
  // Relative moves connect rounded positions, so that rounding errors do not accumulate.
  for (std::size_t run = 0; run < what.begins.size(); ++run) {
    const std::size_t end = run + 1 < what.begins.size() ? what.begins[run + 1] : what.points.size();
    std::int64_t x = 0;
    std::int64_t y = 0;
    for (std::size_t at = what.begins[run]; at < end; ++at) {
      const bool is_first = at == what.begins[run];
      const std::int64_t to_x = tenths_of(what.points[at].x);
      const std::int64_t to_y = tenths_of(what.points[at].y);
      if (is_first) {
        out_ += 'M';
      } else if (at == what.begins[run] + 1) {
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
    if (closes) out_ += 'z';
  }
  out_ += '"';
}

void svg_canvas::fill(const box& what, colour with) {
  out_ += "<rect";
  append_member(out_, "x", what.x);
  append_member(out_, "y", what.y);
  append_member(out_, "width", what.width);
  append_member(out_, "height", what.height);
  append_ink(out_, "fill", with);
  out_ += "/>\n";
}

void svg_canvas::fill(const path& what, colour with) {
  if (what.points.empty()) return;
  follow(what, true);
  append_ink(out_, "fill", with);
  out_ += "/>\n";
}

void svg_canvas::stroke(const path& what, const pen& with) {
  if (what.points.empty()) return;
  follow(what, false);
  out_ += " fill=\"none\" stroke-linejoin=\"round\"";
  append_ink(out_, "stroke", with.ink);
  append_member(out_, "stroke-width", with.width);
  const auto& lengths = lengths_of(with.pattern);
  if (lengths.empty()) {
    out_ += " stroke-linecap=\"round\"";
  } else {
    out_ += " stroke-dasharray=\"";
    for (const double one : lengths) {
      if (out_.back() != '"') out_ += ' ';
      append_number(out_, one);
    }
    out_ += '"';
  }
  out_ += "/>\n";
}

void svg_canvas::dots(const std::vector<point>& at, double radius, colour with) {
  if (at.empty()) return;
  // Zero-length lines with round caps look like dots, and take a tenth of the bytes of circles.
  out_ += "<path d=\"";
  for (const auto& one : at) {
    out_ += 'M';
    append_number(out_, one.x);
    out_ += ' ';
    append_number(out_, one.y);
    out_ += "h0";
  }
  out_ += "\" fill=\"none\" stroke-linecap=\"round\"";
  append_ink(out_, "stroke", with);
  append_member(out_, "stroke-width", 2 * radius);
  out_ += "/>\n";
}

void svg_canvas::write(point at, std::string_view text, const writing& how) {
  if (text.empty()) return;
  out_ += "<text";
  append_member(out_, "x", at.x);
  append_member(out_, "y", at.y);
  append_member(out_, "font-size", how.font.size);
  if (how.font.is_bold) out_ += " font-weight=\"bold\"";
  if (how.anchor != anchor::start) out_ += how.anchor == anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  append_ink(out_, "fill", how.ink);
  if (how.halo.alpha > 0) {
    append_ink(out_, "stroke", how.halo);
    out_ += " stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
  }
  // The reader may have other fonts. Texts that nearly fill their space get a fixed length.
  if (how.room > 0 && how.width > how.room * 0.75) {
    append_member(out_, "textLength", how.width);
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

png_canvas::png_canvas(const typesetter& letters, double width, double height, double scale)
    : letters_(&letters),
      with_(&letters.library()),
      surface_(with_->image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
                                           static_cast<int>(std::lround(height * scale)))),
      to_(with_->create(surface_)) {
  with_->scale(to_, scale, scale);
  with_->set_line_join(to_, CAIRO_LINE_JOIN_ROUND);
}

png_canvas::~png_canvas() {
  with_->destroy(to_);
  with_->surface_destroy(surface_);
}

void png_canvas::take(colour with) {
  with_->set_source_rgba(to_, with.red / 255.0, with.green / 255.0, with.blue / 255.0, with.alpha);
}

void png_canvas::follow(const path& what, bool closes) {
  with_->new_path(to_);
  for (std::size_t run = 0; run < what.begins.size(); ++run) {
    const std::size_t end = run + 1 < what.begins.size() ? what.begins[run + 1] : what.points.size();
    for (std::size_t at = what.begins[run]; at < end; ++at) {
      (at == what.begins[run] ? with_->move_to : with_->line_to)(to_, what.points[at].x, what.points[at].y);
    }
    if (closes) with_->close_path(to_);
  }
}

void png_canvas::fill(const box& what, colour with) {
  take(with);
  with_->new_path(to_);
  with_->rectangle(to_, what.x, what.y, what.width, what.height);
  with_->fill(to_);
}

void png_canvas::fill(const path& what, colour with) {
  take(with);
  follow(what, true);
  with_->fill(to_);
}

void png_canvas::stroke(const path& what, const pen& with) {
  const auto& lengths = lengths_of(with.pattern);
  take(with.ink);
  with_->set_line_width(to_, with.width);
  with_->set_dash(to_, lengths.data(), static_cast<int>(lengths.size()), 0);
  with_->set_line_cap(to_, lengths.empty() ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
  follow(what, false);
  with_->stroke(to_);
}

void png_canvas::dots(const std::vector<point>& at, double radius, colour with) {
  take(with);
  with_->new_path(to_);
  for (const auto& one : at) {
    with_->new_sub_path(to_);
    with_->arc(to_, one.x, one.y, radius, 0, 2 * std::acos(-1.0));
  }
  with_->fill(to_);
}

void png_canvas::write(point at, std::string_view text, const writing& how) {
  PangoLayoutLine* const line = with_->layout_get_line(letters_->set(text, how.font), 0);
  const double left = how.anchor == anchor::start ? at.x : at.x - (how.anchor == anchor::middle ? how.width / 2 : how.width);
  with_->new_path(to_);
  if (how.halo.alpha > 0) {
    take(how.halo);
    with_->set_line_width(to_, 3);
    with_->set_dash(to_, nullptr, 0, 0);
    with_->move_to(to_, left, at.y);
    with_->layout_line_path(to_, line);
    with_->stroke(to_);
  }
  with_->move_to(to_, left, at.y);
  take(how.ink);
  with_->show_layout_line(to_, line);
}

result<std::string> png_canvas::finish() {
  std::string out;
  auto status = with_->status(to_);
  if (status == CAIRO_STATUS_SUCCESS) status = with_->surface_write_to_png_stream(surface_, append_bytes, &out);
  if (status != CAIRO_STATUS_SUCCESS) {
    return fail(errc::internal, "the chart could not be drawn; request a smaller one", with_->status_to_string(status));
  }
  return out;
}

}  // namespace hondana::charts

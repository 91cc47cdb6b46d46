/// Draws with Cairo.
#include "sources/metrics/charts/png_canvas.hpp"

#include <cmath>
#include <cstddef>
#include <new>

namespace hondana::charts {
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

/// Measures text, and shortens it to what there is room for.
#include "sources/metrics/charts/typesetter.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "sources/metrics/charts/fonts.hpp"

namespace hondana::charts {
namespace {

/// Where a text may be cut: bytes before each grapheme, and its size.
std::vector<std::size_t> places_to_cut(const drawing_library& with, PangoLayout* layout, std::string_view text) {
  std::vector<std::size_t> out;
  gint count = 0;
  const PangoLogAttr* const known = with.layout_get_log_attrs(layout, &count);
  std::size_t character = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (character < static_cast<std::size_t>(count) && known[character].is_cursor_position != 0) out.push_back(at);
    ++character;
  }
  out.push_back(text.size());
  return out;
}

constexpr std::size_t most_kept = 4;

}  // namespace

/// Font maps that no drawing uses now; each holds the faces and glyphs that have been used, some megabytes.
struct typesetter::fonts_kept {
  std::mutex guard;
  std::vector<PangoFontMap*> idle;

  static fonts_kept& of_process() {
    // Never destroyed: a drawing may end after the statics have gone.
    static auto* const only = new fonts_kept;
    return *only;
  }
};

void typesetter::gives_back::operator()(PangoFontMap* map) const noexcept {
  auto& kept = fonts_kept::of_process();
  {
    const std::lock_guard lock(kept.guard);
    if (kept.idle.size() < most_kept) {
      kept.idle.push_back(map);
      return;
    }
  }
  if (const auto with = loaded_drawing_library()) (*with)->object_unref(map);
}

result<typesetter> typesetter::borrowed() {
  HONDANA_TRY(const auto with, loaded_drawing_library());
  const auto& library = *with;
  HONDANA_TRY(find_fonts(library));
  typesetter out(&library);
  {
    auto& kept = fonts_kept::of_process();
    const std::lock_guard lock(kept.guard);
    kept.idle.reserve(most_kept);
    if (!kept.idle.empty()) {
      out.map_.reset(kept.idle.back());
      kept.idle.pop_back();
    }
  }
  if (!out.map_) out.map_.reset(library.font_map_new());
  out.context_ = {library.font_map_create_context(out.map_.get()), unref{&library}};
  // The same on every host, whatever its screen is like.
  cairo_font_options_t* const options = library.font_options_create();
  library.font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  library.font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  library.font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  library.context_set_font_options(out.context_.get(), options);
  library.font_options_destroy(options);
  library.context_set_resolution(out.context_.get(), 96);
  // Han characters that Japanese and Chinese share have Japanese shapes.
  library.context_set_language(out.context_.get(), library.language_from_string("ja"));
  out.layout_ = {library.layout_new(out.context_.get()), unref{&library}};
  library.layout_set_single_paragraph_mode(out.layout_.get(), TRUE);
  return out;
}

PangoLayout* typesetter::set(std::string_view text, const font& in) const {
  PangoFontDescription* const face = with_->font_description_new();
  with_->font_description_set_family(face, font_families.data());
  with_->font_description_set_weight(face, in.is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  with_->font_description_set_absolute_size(face, in.size * PANGO_SCALE);
  with_->layout_set_font_description(layout_.get(), face);
  with_->font_description_free(face);
  with_->layout_set_width(layout_.get(), -1);
  with_->layout_set_text(layout_.get(), text.data(), static_cast<int>(text.size()));
  return layout_.get();
}

double typesetter::width_of(std::string_view text, const font& in) const {
  int width = 0;
  int height = 0;
  with_->layout_get_size(set(text, in), &width, &height);
  return static_cast<double>(width) / PANGO_SCALE;
}

std::string typesetter::fitted(std::string_view text, const font& in, double room) const {
  if (width_of(text, in) <= room) return std::string(text);
  const auto cuts = places_to_cut(*with_, set(text, in), text);
  const auto with_kept = [&](std::size_t graphemes) {
    const std::size_t tail = graphemes / 2;
    std::string out(text.substr(0, cuts[graphemes - tail]));
    out += "…";
    return out.append(text.substr(cuts[cuts.size() - 1 - tail]));
  };
  std::size_t fits = 0;
  std::size_t too_many = cuts.size() - 1;
  while (fits + 1 < too_many) {
    const std::size_t between = (fits + too_many) / 2;
    (width_of(with_kept(between), in) <= room ? fits : too_many) = between;
  }
  return with_kept(fits);
}

std::vector<std::string> typesetter::broken(std::string_view text, const font& in, double room, std::size_t most) const {
  std::vector<std::string> out;
  while (!text.empty()) {
    if (out.size() + 1 >= most || width_of(text, in) <= room) {
      out.push_back(fitted(text, in, room));
      break;
    }
    PangoLayout* const layout = set(text, in);
    with_->layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    with_->layout_set_width(layout, static_cast<int>(room * PANGO_SCALE));
    const auto size =
        std::clamp<std::size_t>(static_cast<std::size_t>(with_->layout_get_line(layout, 0)->length), 1, text.size());
    auto first = text.substr(0, size);
    while (!first.empty() && first.back() == ' ') first.remove_suffix(1);
    out.emplace_back(first);
    text.remove_prefix(size);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return out;
}

}  // namespace hondana::charts

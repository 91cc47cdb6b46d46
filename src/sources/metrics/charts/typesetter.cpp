/// Measures, shortens and wraps text with Pango, after finding the fonts of this host with Fontconfig.
#include "sources/metrics/charts/typesetter.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/charts/drawing_library.hpp"

namespace hondana::charts {

/// Reads Fontconfig's configuration and list of fonts, in the first call that succeeds. Fonts installed later are used after a
/// restart. Threads: any.
/// If Fontconfig's caches are outdated, Fontconfig would try to write them and complain on stderr. In this case the font files
/// are read one by one: at most 4000, which can take seconds.
/// Errors: source_unavailable if there is no font, or if FC_DEBUG is set, which makes Fontconfig write to stdout.
[[nodiscard]] result<void> find_fonts(const drawing_library& with);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_font_files = 4000;
constexpr int deepest_font_folder = 8;

const FcChar8* as_fc(const char* text) noexcept { return reinterpret_cast<const FcChar8*>(text); }
const char* as_text(const FcChar8* text) noexcept { return reinterpret_cast<const char*>(text); }

/// Used if Fontconfig's own configuration cannot be read.
constexpr const char* plain_configuration =
    "<?xml version=\"1.0\"?><fontconfig><dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir></fontconfig>";

bool can_be_listed(const std::string& folder) {
  std::error_code failed;
  const fs::directory_iterator opened(folder, failed);
  return !failed;
}

/// Whether up-to-date caches exist for a folder and everything below it.
bool is_cached(const drawing_library& with, FcConfig* config, const std::string& folder, int depth) {
  if (!can_be_listed(folder)) return true;  // unreadable folders are skipped without a message
  if (depth > deepest_font_folder) return false;
  FcCache* const cache = with.dir_cache_load(as_fc(folder.c_str()), config, nullptr);
  if (cache == nullptr) return false;
  std::vector<std::string> below;
  const int count = with.cache_num_subdir(cache);
  below.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int at = 0; at < count; ++at) below.emplace_back(as_text(with.cache_subdir(cache, at)));
  with.dir_cache_unload(cache);
  for (const auto& one : below) {
    if (!is_cached(with, config, one, depth + 1)) return false;
  }
  return true;
}

std::vector<std::string> folders_of(const drawing_library& with, FcConfig* config) {
  std::vector<std::string> out;
  FcStrList* const list = with.config_get_font_dirs(config);
  if (list == nullptr) return out;
  while (const FcChar8* const one = with.str_list_next(list)) out.emplace_back(as_text(one));
  with.str_list_done(list);
  return out;
}

bool is_font_file(const std::string& name) {
  for (const char* const ending : {".ttf", ".otf", ".ttc", ".otc", ".pcf.gz", ".pfb"}) {
    if (ascii::ends_with(name, ending)) return true;
  }
  return false;
}

void add_files(const drawing_library& with, FcConfig* config, const std::string& folder, std::size_t& left) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && at != fs::recursive_directory_iterator() && left > 0; at.increment(failed)) {
    if (at.depth() > deepest_font_folder) at.disable_recursion_pending();
    std::error_code unknown;
    if (!at->is_regular_file(unknown) || !is_font_file(at->path().native())) continue;
    --left;
    static_cast<void>(with.config_app_font_add_file(config, as_fc(at->path().c_str())));
  }
}

int count_of(const drawing_library& with, FcConfig* config) {
  int out = 0;
  for (const auto kind : {FcSetSystem, FcSetApplication}) {
    const FcFontSet* const set = with.config_get_fonts(config, kind);
    if (set != nullptr) out += set->nfont;
  }
  return out;
}

result<void> find_now(const drawing_library& with) {
  if (std::getenv("FC_DEBUG") != nullptr) {
    return fail(errc::source_unavailable,
                "charts cannot be drawn while FC_DEBUG is set in the server's environment: Fontconfig would write to stdout "
                "among protocol messages; unset it");
  }
  FcConfig* config = nullptr;
  if (!with.had_fontconfig) {
    config = with.config_create();
    // FcFalse: no complaint on stderr if the configuration is missing.
    if (config != nullptr && with.config_parse_and_load(config, nullptr, FcFalse) == FcFalse) {
      with.config_parse_and_load_from_memory(config, as_fc(plain_configuration), FcFalse);
    }
    if (config != nullptr) {
      bool is_quiet = true;
      const auto folders = folders_of(with, config);
      for (const auto& folder : folders) is_quiet = is_quiet && is_cached(with, config, folder, 0);
      if (is_quiet) {
        with.config_build_fonts(config);
      } else {
        std::size_t left = most_font_files;
        for (const auto& folder : folders) add_files(with, config, folder, left);
      }
    }
  }
  // Pango aborts the process if there is no font.
  if ((config == nullptr && !with.had_fontconfig) || count_of(with, config) == 0) {
    if (config != nullptr) with.config_destroy(config);
    return fail(
        errc::source_unavailable,
        "charts cannot be drawn: no readable font was found; install fonts (Debian: fonts-noto-cjk), or request JSON or CSV");
  }
  if (config != nullptr) {
    with.config_set_current(config);
    with.config_destroy(config);  // the current configuration has its own reference
  }
  return {};
}

}  // namespace

result<void> find_fonts(const drawing_library& with) {
  static std::mutex one_at_a_time;
  static bool is_done = false;
  const std::lock_guard lock(one_at_a_time);
  if (is_done) return {};
  auto found = find_now(with);
  is_done = found.has_value();
  return found;
}

std::vector<std::string> font_folders() {
  std::vector<std::string> out;
  for (const char* const folder :
       {"/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/usr/share/xml/fontconfig",
        "/usr/share/X11/fonts", "/var/cache/fontconfig", "/usr/share/zoneinfo"}) {
    std::error_code unknown;
    if (fs::is_directory(folder, unknown)) out.emplace_back(folder);
  }
  return out;
}

namespace {

/// The byte positions before each grapheme, and the size of the text.
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

/// Font maps that no drawing uses at the moment. Each caches faces and glyphs, some megabytes.
struct typesetter::fonts_kept {
  std::mutex guard;
  std::vector<PangoFontMap*> idle;

  static fonts_kept& of_process() {
    // Never destroyed: a drawing may end after static objects are destroyed.
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
  // The same options on every host, independent of its screen.
  cairo_font_options_t* const options = library.font_options_create();
  library.font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  library.font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  library.font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  library.context_set_font_options(out.context_.get(), options);
  library.font_options_destroy(options);
  library.context_set_resolution(out.context_.get(), 96);
  // Use Japanese glyphs for Han characters that Japanese and Chinese share.
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

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
[[nodiscard]] result<void> find_fonts(const drawing_library& library);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_font_files = 4000;
constexpr int max_folder_depth = 8;

const FcChar8* as_fc(const char* text) noexcept { return reinterpret_cast<const FcChar8*>(text); }
const char* as_text(const FcChar8* text) noexcept { return reinterpret_cast<const char*>(text); }

/// Used if Fontconfig's own configuration cannot be read.
constexpr const char* default_configuration =
    "<?xml version=\"1.0\"?><fontconfig><dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir></fontconfig>";

bool is_readable_folder(const std::string& folder) {
  std::error_code error;
  const fs::directory_iterator opened(folder, error);
  return !error;
}

/// Whether up-to-date caches exist for a folder and everything below it.
bool is_cached(const drawing_library& library, FcConfig* config, const std::string& folder, int depth) {
  if (!is_readable_folder(folder)) return true;  // unreadable folders are skipped without a message
  if (depth > max_folder_depth) return false;
  FcCache* const cache = library.dir_cache_load(as_fc(folder.c_str()), config, nullptr);
  if (cache == nullptr) return false;
  std::vector<std::string> subfolders;
  const int count = library.cache_num_subdir(cache);
  subfolders.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) subfolders.emplace_back(as_text(library.cache_subdir(cache, i)));
  library.dir_cache_unload(cache);
  for (const auto& subfolder : subfolders) {
    if (!is_cached(library, config, subfolder, depth + 1)) return false;
  }
  return true;
}

std::vector<std::string> font_dirs(const drawing_library& library, FcConfig* config) {
  std::vector<std::string> out;
  FcStrList* const list = library.config_get_font_dirs(config);
  if (list == nullptr) return out;
  while (const FcChar8* const folder = library.str_list_next(list)) out.emplace_back(as_text(folder));
  library.str_list_done(list);
  return out;
}

bool is_font_file(const std::string& name) {
  for (const char* const extension : {".ttf", ".otf", ".ttc", ".otc", ".pcf.gz", ".pfb"}) {
    if (ascii::ends_with_ignore_case(name, extension)) return true;
  }
  return false;
}

void add_files(const drawing_library& library, FcConfig* config, const std::string& folder, std::size_t& remaining) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator() && remaining > 0; it.increment(error)) {
    if (it.depth() > max_folder_depth) it.disable_recursion_pending();
    std::error_code unknown;
    if (!it->is_regular_file(unknown) || !is_font_file(it->path().native())) continue;
    --remaining;
    static_cast<void>(library.config_app_font_add_file(config, as_fc(it->path().c_str())));
  }
}

int count_fonts(const drawing_library& library, FcConfig* config) {
  int out = 0;
  for (const auto kind : {FcSetSystem, FcSetApplication}) {
    const FcFontSet* const set = library.config_get_fonts(config, kind);
    if (set != nullptr) out += set->nfont;
  }
  return out;
}

result<void> load_fonts(const drawing_library& library) {
  if (std::getenv("FC_DEBUG") != nullptr) {
    return fail(errc::source_unavailable,
                "charts cannot be drawn while FC_DEBUG is set in the server's environment: Fontconfig would write to stdout "
                "among protocol messages; unset it");
  }
  FcConfig* config = nullptr;
  if (!library.had_fontconfig) {
    config = library.config_create();
    // FcFalse: no complaint on stderr if the configuration is missing.
    if (config != nullptr && library.config_parse_and_load(config, nullptr, FcFalse) == FcFalse) {
      library.config_parse_and_load_from_memory(config, as_fc(default_configuration), FcFalse);
    }
    if (config != nullptr) {
      bool has_caches = true;
      const auto folders = font_dirs(library, config);
      for (const auto& folder : folders) has_caches = has_caches && is_cached(library, config, folder, 0);
      if (has_caches) {
        library.config_build_fonts(config);
      } else {
        std::size_t remaining = max_font_files;
        for (const auto& folder : folders) add_files(library, config, folder, remaining);
      }
    }
  }
  // Pango aborts the process if there is no font.
  if ((config == nullptr && !library.had_fontconfig) || count_fonts(library, config) == 0) {
    if (config != nullptr) library.config_destroy(config);
    return fail(
        errc::source_unavailable,
        "charts cannot be drawn: no readable font was found; install fonts (Debian: fonts-noto-cjk), or request JSON or CSV");
  }
  if (config != nullptr) {
    library.config_set_current(config);
    library.config_destroy(config);  // the current configuration has its own reference
  }
  return {};
}

}  // namespace

result<void> find_fonts(const drawing_library& library) {
  static std::mutex load_mutex;
  static bool is_done = false;
  const std::lock_guard lock(load_mutex);
  if (is_done) return {};
  auto loaded = load_fonts(library);
  is_done = loaded.has_value();
  return loaded;
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
std::vector<std::size_t> cut_positions(const drawing_library& library, PangoLayout* layout, std::string_view text) {
  std::vector<std::size_t> out;
  gint count = 0;
  const PangoLogAttr* const attributes = library.layout_get_log_attrs(layout, &count);
  std::size_t character = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (character < static_cast<std::size_t>(count) && attributes[character].is_cursor_position != 0) out.push_back(i);
    ++character;
  }
  out.push_back(text.size());
  return out;
}

constexpr std::size_t max_pooled = 4;

}  // namespace

/// Font maps that no drawing uses at the moment. Each caches faces and glyphs, some megabytes.
struct typesetter::font_map_pool {
  std::mutex mutex;
  std::vector<PangoFontMap*> idle;

  static font_map_pool& instance() {
    // Never destroyed: a drawing may end after static objects are destroyed.
    static auto* const pool = new font_map_pool;
    return *pool;
  }
};

void typesetter::pool_deleter::operator()(PangoFontMap* map) const noexcept {
  auto& pool = font_map_pool::instance();
  {
    const std::lock_guard lock(pool.mutex);
    if (pool.idle.size() < max_pooled) {
      pool.idle.push_back(map);
      return;
    }
  }
  if (const auto library = loaded_drawing_library()) (*library)->object_unref(map);
}

result<typesetter> typesetter::create() {
  HONDANA_TRY(const auto loaded, loaded_drawing_library());
  const auto& library = *loaded;
  HONDANA_TRY(find_fonts(library));
  typesetter out(&library);
  {
    auto& pool = font_map_pool::instance();
    const std::lock_guard lock(pool.mutex);
    pool.idle.reserve(max_pooled);
    if (!pool.idle.empty()) {
      out.map_.reset(pool.idle.back());
      pool.idle.pop_back();
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

PangoLayout* typesetter::set_text(std::string_view text, const font& font) const {
  PangoFontDescription* const face = library_->font_description_new();
  library_->font_description_set_family(face, font_families.data());
  library_->font_description_set_weight(face, font.is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  library_->font_description_set_absolute_size(face, font.size * PANGO_SCALE);
  library_->layout_set_font_description(layout_.get(), face);
  library_->font_description_free(face);
  library_->layout_set_width(layout_.get(), -1);
  library_->layout_set_text(layout_.get(), text.data(), static_cast<int>(text.size()));
  return layout_.get();
}

double typesetter::width_of(std::string_view text, const font& font) const {
  int width = 0;
  int height = 0;
  library_->layout_get_size(set_text(text, font), &width, &height);
  return static_cast<double>(width) / PANGO_SCALE;
}

std::string typesetter::fit(std::string_view text, const font& font, double max_width) const {
  if (width_of(text, font) <= max_width) return std::string(text);
  const auto cuts = cut_positions(*library_, set_text(text, font), text);
  const auto shortened = [&](std::size_t graphemes) {
    const std::size_t tail = graphemes / 2;
    std::string out(text.substr(0, cuts[graphemes - tail]));
    out += "…";
    return out.append(text.substr(cuts[cuts.size() - 1 - tail]));
  };
  std::size_t fits = 0;
  std::size_t too_long = cuts.size() - 1;
  while (fits + 1 < too_long) {
    const std::size_t middle = (fits + too_long) / 2;
    (width_of(shortened(middle), font) <= max_width ? fits : too_long) = middle;
  }
  return shortened(fits);
}

std::vector<std::string> typesetter::wrap(std::string_view text, const font& font, double max_width,
                                          std::size_t line_limit) const {
  std::vector<std::string> out;
  while (!text.empty()) {
    if (out.size() + 1 >= line_limit || width_of(text, font) <= max_width) {
      out.push_back(fit(text, font, max_width));
      break;
    }
    PangoLayout* const layout = set_text(text, font);
    library_->layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    library_->layout_set_width(layout, static_cast<int>(max_width * PANGO_SCALE));
    const auto size =
        std::clamp<std::size_t>(static_cast<std::size_t>(library_->layout_get_line(layout, 0)->length), 1, text.size());
    auto line = text.substr(0, size);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    out.emplace_back(line);
    text.remove_prefix(size);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return out;
}

}  // namespace hondana::charts

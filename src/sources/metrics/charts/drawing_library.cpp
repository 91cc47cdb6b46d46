/// Loads Cairo, Pango, Fontconfig and GLib at run time, when a chart is first drawn.
#include "sources/metrics/charts/drawing_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// These libraries are built without ThreadSanitizer and lock with futexes, which it does not see. It takes their calls of the C
// library for races.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libglib-2.0.so\ncalled_from_lib:libgobject-2.0.so\ncalled_from_lib:libpango-1.0.so\n"
         "called_from_lib:libpangocairo-1.0.so\ncalled_from_lib:libpangoft2-1.0.so\ncalled_from_lib:libcairo.so\n"
         "called_from_lib:libfreetype.so\ncalled_from_lib:libharfbuzz.so\n";
}
#elif __has_feature(address_sanitizer)
// Fontconfig's allocations for the whole process. Suppressions are not in a file, since it would be read at exit, when the
// sandbox forbids it.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig.so\n"; }
#endif
#endif

namespace hondana::charts {
namespace {

constexpr const char* drawing_library_name = "libpangocairo-1.0.so.0";

// GLib writes messages of libraries to stderr, and some to stdout, which may carry the protocol.
void say_nothing(const gchar*, GLogLevelFlags, const gchar*, gpointer) {}

}  // namespace

result<drawing_library> load_drawing_library(const char* name) {
  const auto why_not = [name](std::string_view advice) {
    const char* const said = ::dlerror();
    return fail(errc::source_unavailable,
                "charts require Pango and Cairo, which cannot be loaded; " + std::string(advice) + " " + name +
                    " (Debian: libpangocairo-1.0-0), or request JSON or CSV",
                said != nullptr ? said : std::string());
  };
  drawing_library out{};
  if (void* const already = ::dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_NOLOAD); already != nullptr) {
    out.had_fontconfig = true;
    ::dlclose(already);
  }
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("install");
  bool is_whole = true;
  // dlsym also searches the dependencies of the library: GLib, Fontconfig, Pango and Cairo.
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.object_unref, "g_object_unref");
  find(out.free, "g_free");
  find(out.log_set_handler, "g_log_set_handler");
  find(out.time_zone_new_identifier, "g_time_zone_new_identifier");
  find(out.time_zone_unref, "g_time_zone_unref");
  find(out.time_zone_find_interval, "g_time_zone_find_interval");
  find(out.time_zone_get_offset, "g_time_zone_get_offset");
  find(out.config_create, "FcConfigCreate");
  find(out.config_destroy, "FcConfigDestroy");
  find(out.config_parse_and_load, "FcConfigParseAndLoad");
  find(out.config_parse_and_load_from_memory, "FcConfigParseAndLoadFromMemory");
  find(out.config_build_fonts, "FcConfigBuildFonts");
  find(out.config_set_current, "FcConfigSetCurrent");
  find(out.config_get_fonts, "FcConfigGetFonts");
  find(out.config_get_font_dirs, "FcConfigGetFontDirs");
  find(out.config_app_font_add_file, "FcConfigAppFontAddFile");
  find(out.str_list_next, "FcStrListNext");
  find(out.str_list_done, "FcStrListDone");
  find(out.dir_cache_load, "FcDirCacheLoad");
  find(out.dir_cache_unload, "FcDirCacheUnload");
  find(out.cache_num_subdir, "FcCacheNumSubdir");
  find(out.cache_subdir, "FcCacheSubdir");
  find(out.font_map_new, "pango_cairo_font_map_new");
  find(out.font_map_create_context, "pango_font_map_create_context");
  find(out.context_set_font_options, "pango_cairo_context_set_font_options");
  find(out.context_set_resolution, "pango_cairo_context_set_resolution");
  find(out.context_set_language, "pango_context_set_language");
  find(out.language_from_string, "pango_language_from_string");
  find(out.font_description_new, "pango_font_description_new");
  find(out.font_description_free, "pango_font_description_free");
  find(out.font_description_set_family, "pango_font_description_set_family");
  find(out.font_description_set_weight, "pango_font_description_set_weight");
  find(out.font_description_set_absolute_size, "pango_font_description_set_absolute_size");
  find(out.layout_new, "pango_layout_new");
  find(out.layout_set_single_paragraph_mode, "pango_layout_set_single_paragraph_mode");
  find(out.layout_set_font_description, "pango_layout_set_font_description");
  find(out.layout_set_text, "pango_layout_set_text");
  find(out.layout_set_width, "pango_layout_set_width");
  find(out.layout_set_wrap, "pango_layout_set_wrap");
  find(out.layout_get_size, "pango_layout_get_size");
  find(out.layout_get_log_attrs, "pango_layout_get_log_attrs_readonly");
  find(out.layout_get_line, "pango_layout_get_line_readonly");
  find(out.show_layout_line, "pango_cairo_show_layout_line");
  find(out.layout_line_path, "pango_cairo_layout_line_path");
  find(out.font_options_create, "cairo_font_options_create");
  find(out.font_options_destroy, "cairo_font_options_destroy");
  find(out.font_options_set_antialias, "cairo_font_options_set_antialias");
  find(out.font_options_set_hint_style, "cairo_font_options_set_hint_style");
  find(out.font_options_set_hint_metrics, "cairo_font_options_set_hint_metrics");
  find(out.image_surface_create, "cairo_image_surface_create");
  find(out.surface_destroy, "cairo_surface_destroy");
  find(out.surface_status, "cairo_surface_status");
  find(out.surface_write_to_png_stream, "cairo_surface_write_to_png_stream");
  find(out.create, "cairo_create");
  find(out.destroy, "cairo_destroy");
  find(out.status, "cairo_status");
  find(out.status_to_string, "cairo_status_to_string");
  find(out.scale, "cairo_scale");
  find(out.set_source_rgba, "cairo_set_source_rgba");
  find(out.set_line_width, "cairo_set_line_width");
  find(out.set_line_join, "cairo_set_line_join");
  find(out.set_line_cap, "cairo_set_line_cap");
  find(out.set_dash, "cairo_set_dash");
  find(out.rectangle, "cairo_rectangle");
  find(out.move_to, "cairo_move_to");
  find(out.line_to, "cairo_line_to");
  find(out.close_path, "cairo_close_path");
  find(out.arc, "cairo_arc");
  find(out.new_path, "cairo_new_path");
  find(out.new_sub_path, "cairo_new_sub_path");
  find(out.fill, "cairo_fill");
  find(out.stroke, "cairo_stroke");
  if (!is_whole) return why_not("functions are missing: install a newer");
  constexpr auto every_level = static_cast<GLogLevelFlags>(G_LOG_LEVEL_MASK | G_LOG_FLAG_RECURSION);
  out.log_set_handler("Pango", every_level, say_nothing, nullptr);
  return out;
}

result<const drawing_library*> loaded_drawing_library() {
  static std::atomic<const drawing_library*> known{nullptr};
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  HONDANA_TRY(auto loaded, load_drawing_library(drawing_library_name));
  static drawing_library table;
  table = loaded;
  known.store(&table, std::memory_order_release);
  return &table;
}

}  // namespace hondana::charts

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
void ignore_message(const gchar*, GLogLevelFlags, const gchar*, gpointer) {}

}  // namespace

result<drawing_library> load_drawing_library(const char* name) {
  const auto load_error = [name](std::string_view advice) {
    const char* const reason = ::dlerror();
    return fail(errc::source_unavailable,
                "charts require Pango and Cairo, which cannot be loaded; " + std::string(advice) + " " + name +
                    " (Debian: libpangocairo-1.0-0), or request JSON or CSV",
                reason != nullptr ? reason : std::string());
  };
  drawing_library out{};
  if (void* const fontconfig = ::dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_NOLOAD); fontconfig != nullptr) {
    out.had_fontconfig = true;
    ::dlclose(fontconfig);
  }
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return load_error("install");
  bool is_complete = true;
  // dlsym also searches the dependencies of the library: GLib, Fontconfig, Pango and Cairo.
  const auto resolve = [&](auto& target, const char* function) {
    target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(::dlsym(handle, function));
    is_complete = is_complete && target != nullptr;
  };
  resolve(out.object_unref, "g_object_unref");
  resolve(out.free, "g_free");
  resolve(out.log_set_handler, "g_log_set_handler");
  resolve(out.time_zone_new_identifier, "g_time_zone_new_identifier");
  resolve(out.time_zone_unref, "g_time_zone_unref");
  resolve(out.time_zone_find_interval, "g_time_zone_find_interval");
  resolve(out.time_zone_get_offset, "g_time_zone_get_offset");
  resolve(out.config_create, "FcConfigCreate");
  resolve(out.config_destroy, "FcConfigDestroy");
  resolve(out.config_parse_and_load, "FcConfigParseAndLoad");
  resolve(out.config_parse_and_load_from_memory, "FcConfigParseAndLoadFromMemory");
  resolve(out.config_build_fonts, "FcConfigBuildFonts");
  resolve(out.config_set_current, "FcConfigSetCurrent");
  resolve(out.config_get_fonts, "FcConfigGetFonts");
  resolve(out.config_get_font_dirs, "FcConfigGetFontDirs");
  resolve(out.config_app_font_add_file, "FcConfigAppFontAddFile");
  resolve(out.str_list_next, "FcStrListNext");
  resolve(out.str_list_done, "FcStrListDone");
  resolve(out.dir_cache_load, "FcDirCacheLoad");
  resolve(out.dir_cache_unload, "FcDirCacheUnload");
  resolve(out.cache_num_subdir, "FcCacheNumSubdir");
  resolve(out.cache_subdir, "FcCacheSubdir");
  resolve(out.font_map_new, "pango_cairo_font_map_new");
  resolve(out.font_map_create_context, "pango_font_map_create_context");
  resolve(out.context_set_font_options, "pango_cairo_context_set_font_options");
  resolve(out.context_set_resolution, "pango_cairo_context_set_resolution");
  resolve(out.context_set_language, "pango_context_set_language");
  resolve(out.language_from_string, "pango_language_from_string");
  resolve(out.font_description_new, "pango_font_description_new");
  resolve(out.font_description_free, "pango_font_description_free");
  resolve(out.font_description_set_family, "pango_font_description_set_family");
  resolve(out.font_description_set_weight, "pango_font_description_set_weight");
  resolve(out.font_description_set_absolute_size, "pango_font_description_set_absolute_size");
  resolve(out.layout_new, "pango_layout_new");
  resolve(out.layout_set_single_paragraph_mode, "pango_layout_set_single_paragraph_mode");
  resolve(out.layout_set_font_description, "pango_layout_set_font_description");
  resolve(out.layout_set_text, "pango_layout_set_text");
  resolve(out.layout_set_width, "pango_layout_set_width");
  resolve(out.layout_set_wrap, "pango_layout_set_wrap");
  resolve(out.layout_get_size, "pango_layout_get_size");
  resolve(out.layout_get_log_attrs, "pango_layout_get_log_attrs_readonly");
  resolve(out.layout_get_line, "pango_layout_get_line_readonly");
  resolve(out.show_layout_line, "pango_cairo_show_layout_line");
  resolve(out.layout_line_path, "pango_cairo_layout_line_path");
  resolve(out.font_options_create, "cairo_font_options_create");
  resolve(out.font_options_destroy, "cairo_font_options_destroy");
  resolve(out.font_options_set_antialias, "cairo_font_options_set_antialias");
  resolve(out.font_options_set_hint_style, "cairo_font_options_set_hint_style");
  resolve(out.font_options_set_hint_metrics, "cairo_font_options_set_hint_metrics");
  resolve(out.image_surface_create, "cairo_image_surface_create");
  resolve(out.surface_destroy, "cairo_surface_destroy");
  resolve(out.surface_status, "cairo_surface_status");
  resolve(out.surface_write_to_png_stream, "cairo_surface_write_to_png_stream");
  resolve(out.create, "cairo_create");
  resolve(out.destroy, "cairo_destroy");
  resolve(out.status, "cairo_status");
  resolve(out.status_to_string, "cairo_status_to_string");
  resolve(out.scale, "cairo_scale");
  resolve(out.set_source_rgba, "cairo_set_source_rgba");
  resolve(out.set_line_width, "cairo_set_line_width");
  resolve(out.set_line_join, "cairo_set_line_join");
  resolve(out.set_line_cap, "cairo_set_line_cap");
  resolve(out.set_dash, "cairo_set_dash");
  resolve(out.rectangle, "cairo_rectangle");
  resolve(out.move_to, "cairo_move_to");
  resolve(out.line_to, "cairo_line_to");
  resolve(out.close_path, "cairo_close_path");
  resolve(out.arc, "cairo_arc");
  resolve(out.new_path, "cairo_new_path");
  resolve(out.new_sub_path, "cairo_new_sub_path");
  resolve(out.fill, "cairo_fill");
  resolve(out.stroke, "cairo_stroke");
  if (!is_complete) return load_error("functions are missing: install a newer");
  constexpr auto every_level = static_cast<GLogLevelFlags>(G_LOG_LEVEL_MASK | G_LOG_FLAG_RECURSION);
  out.log_set_handler("Pango", every_level, ignore_message, nullptr);
  return out;
}

result<const drawing_library*> loaded_drawing_library() {
  static std::atomic<const drawing_library*> cached{nullptr};
  if (const auto* const ready = cached.load(std::memory_order_acquire)) return ready;
  static std::mutex load_mutex;
  const std::lock_guard lock(load_mutex);
  if (const auto* const existing = cached.load(std::memory_order_acquire)) return existing;
  HONDANA_TRY(auto loaded, load_drawing_library(drawing_library_name));
  static drawing_library table;
  table = loaded;
  cached.store(&table, std::memory_order_release);
  return &table;
}

}  // namespace hondana::charts

/// Loads Cairo, Pango, Fontconfig and GLib at run time, when a chart is first drawn.
#pragma once

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>

#include <hondana/error.hpp>

namespace hondana::charts {

/// The functions in use of Pango and the libraries it depends on. Members are named as the functions, without their prefixes.
struct drawing_library {
  decltype(&::g_object_unref) object_unref;
  decltype(&::g_free) free;
  decltype(&::g_log_set_handler) log_set_handler;
  decltype(&::g_time_zone_new_identifier) time_zone_new_identifier;
  decltype(&::g_time_zone_unref) time_zone_unref;
  decltype(&::g_time_zone_find_interval) time_zone_find_interval;
  decltype(&::g_time_zone_get_offset) time_zone_get_offset;

  decltype(&::FcConfigCreate) config_create;
  decltype(&::FcConfigDestroy) config_destroy;
  decltype(&::FcConfigParseAndLoad) config_parse_and_load;
  decltype(&::FcConfigParseAndLoadFromMemory) config_parse_and_load_from_memory;
  decltype(&::FcConfigBuildFonts) config_build_fonts;
  decltype(&::FcConfigSetCurrent) config_set_current;
  decltype(&::FcConfigGetFonts) config_get_fonts;
  decltype(&::FcConfigGetFontDirs) config_get_font_dirs;
  decltype(&::FcConfigAppFontAddFile) config_app_font_add_file;
  decltype(&::FcStrListNext) str_list_next;
  decltype(&::FcStrListDone) str_list_done;
  decltype(&::FcDirCacheLoad) dir_cache_load;
  decltype(&::FcDirCacheUnload) dir_cache_unload;
  decltype(&::FcCacheNumSubdir) cache_num_subdir;
  decltype(&::FcCacheSubdir) cache_subdir;

  decltype(&::pango_cairo_font_map_new) font_map_new;
  decltype(&::pango_font_map_create_context) font_map_create_context;
  decltype(&::pango_cairo_context_set_font_options) context_set_font_options;
  decltype(&::pango_cairo_context_set_resolution) context_set_resolution;
  decltype(&::pango_context_set_language) context_set_language;
  decltype(&::pango_language_from_string) language_from_string;
  decltype(&::pango_font_description_new) font_description_new;
  decltype(&::pango_font_description_free) font_description_free;
  decltype(&::pango_font_description_set_family) font_description_set_family;
  decltype(&::pango_font_description_set_weight) font_description_set_weight;
  decltype(&::pango_font_description_set_absolute_size) font_description_set_absolute_size;
  decltype(&::pango_layout_new) layout_new;
  decltype(&::pango_layout_set_single_paragraph_mode) layout_set_single_paragraph_mode;
  decltype(&::pango_layout_set_font_description) layout_set_font_description;
  decltype(&::pango_layout_set_text) layout_set_text;
  decltype(&::pango_layout_set_width) layout_set_width;
  decltype(&::pango_layout_set_wrap) layout_set_wrap;
  decltype(&::pango_layout_get_size) layout_get_size;
  decltype(&::pango_layout_get_log_attrs_readonly) layout_get_log_attrs;
  decltype(&::pango_layout_get_line_readonly) layout_get_line;
  decltype(&::pango_cairo_show_layout_line) show_layout_line;
  decltype(&::pango_cairo_layout_line_path) layout_line_path;

  decltype(&::cairo_font_options_create) font_options_create;
  decltype(&::cairo_font_options_destroy) font_options_destroy;
  decltype(&::cairo_font_options_set_antialias) font_options_set_antialias;
  decltype(&::cairo_font_options_set_hint_style) font_options_set_hint_style;
  decltype(&::cairo_font_options_set_hint_metrics) font_options_set_hint_metrics;
  decltype(&::cairo_image_surface_create) image_surface_create;
  decltype(&::cairo_surface_destroy) surface_destroy;
  decltype(&::cairo_surface_status) surface_status;
  decltype(&::cairo_surface_write_to_png_stream) surface_write_to_png_stream;
  decltype(&::cairo_create) create;
  decltype(&::cairo_destroy) destroy;
  decltype(&::cairo_status) status;
  decltype(&::cairo_status_to_string) status_to_string;
  decltype(&::cairo_scale) scale;
  decltype(&::cairo_set_source_rgba) set_source_rgba;
  decltype(&::cairo_set_line_width) set_line_width;
  decltype(&::cairo_set_line_join) set_line_join;
  decltype(&::cairo_set_line_cap) set_line_cap;
  decltype(&::cairo_set_dash) set_dash;
  decltype(&::cairo_rectangle) rectangle;
  decltype(&::cairo_move_to) move_to;
  decltype(&::cairo_line_to) line_to;
  decltype(&::cairo_close_path) close_path;
  decltype(&::cairo_arc) arc;
  decltype(&::cairo_new_path) new_path;
  decltype(&::cairo_new_sub_path) new_sub_path;
  decltype(&::cairo_fill) fill;
  decltype(&::cairo_stroke) stroke;

  bool had_fontconfig;  ///< Another part of this process had already loaded Fontconfig.
};

/// Loads the library `name` and its dependencies, which are never unloaded. Threads: any.
/// Errors: source_unavailable if the library is missing, is a different one, or is too old.
[[nodiscard]] result<drawing_library> load_drawing_library(const char* name);
/// Loads Pango, unless an earlier call has loaded it. The pointer is never null and always valid. Errors: as
/// `load_drawing_library`; the next call tries again. Threads: any.
[[nodiscard]] result<const drawing_library*> loaded_drawing_library();

}  // namespace hondana::charts

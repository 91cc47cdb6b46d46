/// Loads Cairo, Pango, Fontconfig and GLib at run time, when a chart is first drawn.
#pragma once

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>

#include <hondana/error.hpp>

#include "os/libraries/shared_library.hpp"

namespace hondana::charts {

/// The functions in use of Pango and the libraries it depends on. Members are named as the functions, without their prefixes.
struct drawing_functions {
  libraries::function<decltype(&::g_object_unref)> object_unref{"g_object_unref"};
  libraries::function<decltype(&::g_free)> free{"g_free"};
  libraries::function<decltype(&::g_log_set_handler)> log_set_handler{"g_log_set_handler"};
  libraries::function<decltype(&::g_time_zone_new_identifier)> time_zone_new_identifier{"g_time_zone_new_identifier"};
  libraries::function<decltype(&::g_time_zone_unref)> time_zone_unref{"g_time_zone_unref"};
  libraries::function<decltype(&::g_time_zone_find_interval)> time_zone_find_interval{"g_time_zone_find_interval"};
  libraries::function<decltype(&::g_time_zone_get_offset)> time_zone_get_offset{"g_time_zone_get_offset"};

  libraries::function<decltype(&::FcConfigCreate)> config_create{"FcConfigCreate"};
  libraries::function<decltype(&::FcConfigDestroy)> config_destroy{"FcConfigDestroy"};
  libraries::function<decltype(&::FcConfigParseAndLoad)> config_parse_and_load{"FcConfigParseAndLoad"};
  libraries::function<decltype(&::FcConfigParseAndLoadFromMemory)> config_parse_and_load_from_memory{
      "FcConfigParseAndLoadFromMemory"};
  libraries::function<decltype(&::FcConfigBuildFonts)> config_build_fonts{"FcConfigBuildFonts"};
  libraries::function<decltype(&::FcConfigSetCurrent)> config_set_current{"FcConfigSetCurrent"};
  libraries::function<decltype(&::FcConfigGetFonts)> config_get_fonts{"FcConfigGetFonts"};
  libraries::function<decltype(&::FcConfigGetFontDirs)> config_get_font_dirs{"FcConfigGetFontDirs"};
  libraries::function<decltype(&::FcConfigAppFontAddFile)> config_app_font_add_file{"FcConfigAppFontAddFile"};
  libraries::function<decltype(&::FcStrListNext)> str_list_next{"FcStrListNext"};
  libraries::function<decltype(&::FcStrListDone)> str_list_done{"FcStrListDone"};
  libraries::function<decltype(&::FcDirCacheLoad)> dir_cache_load{"FcDirCacheLoad"};
  libraries::function<decltype(&::FcDirCacheUnload)> dir_cache_unload{"FcDirCacheUnload"};
  libraries::function<decltype(&::FcCacheNumSubdir)> cache_num_subdir{"FcCacheNumSubdir"};
  libraries::function<decltype(&::FcCacheSubdir)> cache_subdir{"FcCacheSubdir"};

  libraries::function<decltype(&::pango_cairo_font_map_new)> font_map_new{"pango_cairo_font_map_new"};
  libraries::function<decltype(&::pango_font_map_create_context)> font_map_create_context{"pango_font_map_create_context"};
  libraries::function<decltype(&::pango_cairo_context_set_font_options)> context_set_font_options{
      "pango_cairo_context_set_font_options"};
  libraries::function<decltype(&::pango_cairo_context_set_resolution)> context_set_resolution{
      "pango_cairo_context_set_resolution"};
  libraries::function<decltype(&::pango_context_set_language)> context_set_language{"pango_context_set_language"};
  libraries::function<decltype(&::pango_language_from_string)> language_from_string{"pango_language_from_string"};
  libraries::function<decltype(&::pango_font_description_new)> font_description_new{"pango_font_description_new"};
  libraries::function<decltype(&::pango_font_description_free)> font_description_free{"pango_font_description_free"};
  libraries::function<decltype(&::pango_font_description_set_family)> font_description_set_family{
      "pango_font_description_set_family"};
  libraries::function<decltype(&::pango_font_description_set_weight)> font_description_set_weight{
      "pango_font_description_set_weight"};
  libraries::function<decltype(&::pango_font_description_set_absolute_size)> font_description_set_absolute_size{
      "pango_font_description_set_absolute_size"};
  libraries::function<decltype(&::pango_layout_new)> layout_new{"pango_layout_new"};
  libraries::function<decltype(&::pango_layout_set_single_paragraph_mode)> layout_set_single_paragraph_mode{
      "pango_layout_set_single_paragraph_mode"};
  libraries::function<decltype(&::pango_layout_set_font_description)> layout_set_font_description{
      "pango_layout_set_font_description"};
  libraries::function<decltype(&::pango_layout_set_text)> layout_set_text{"pango_layout_set_text"};
  libraries::function<decltype(&::pango_layout_set_width)> layout_set_width{"pango_layout_set_width"};
  libraries::function<decltype(&::pango_layout_set_wrap)> layout_set_wrap{"pango_layout_set_wrap"};
  libraries::function<decltype(&::pango_layout_get_size)> layout_get_size{"pango_layout_get_size"};
  libraries::function<decltype(&::pango_layout_get_log_attrs_readonly)> layout_get_log_attrs{
      "pango_layout_get_log_attrs_readonly"};
  libraries::function<decltype(&::pango_layout_get_line_readonly)> layout_get_line{"pango_layout_get_line_readonly"};
  libraries::function<decltype(&::pango_cairo_show_layout_line)> show_layout_line{"pango_cairo_show_layout_line"};
  libraries::function<decltype(&::pango_cairo_layout_line_path)> layout_line_path{"pango_cairo_layout_line_path"};

  libraries::function<decltype(&::cairo_font_options_create)> font_options_create{"cairo_font_options_create"};
  libraries::function<decltype(&::cairo_font_options_destroy)> font_options_destroy{"cairo_font_options_destroy"};
  libraries::function<decltype(&::cairo_font_options_set_antialias)> font_options_set_antialias{
      "cairo_font_options_set_antialias"};
  libraries::function<decltype(&::cairo_font_options_set_hint_style)> font_options_set_hint_style{
      "cairo_font_options_set_hint_style"};
  libraries::function<decltype(&::cairo_font_options_set_hint_metrics)> font_options_set_hint_metrics{
      "cairo_font_options_set_hint_metrics"};
  libraries::function<decltype(&::cairo_image_surface_create)> image_surface_create{"cairo_image_surface_create"};
  libraries::function<decltype(&::cairo_surface_destroy)> surface_destroy{"cairo_surface_destroy"};
  libraries::function<decltype(&::cairo_surface_status)> surface_status{"cairo_surface_status"};
  libraries::function<decltype(&::cairo_surface_write_to_png_stream)> surface_write_to_png_stream{
      "cairo_surface_write_to_png_stream"};
  libraries::function<decltype(&::cairo_create)> create{"cairo_create"};
  libraries::function<decltype(&::cairo_destroy)> destroy{"cairo_destroy"};
  libraries::function<decltype(&::cairo_status)> status{"cairo_status"};
  libraries::function<decltype(&::cairo_status_to_string)> status_to_string{"cairo_status_to_string"};
  libraries::function<decltype(&::cairo_scale)> scale{"cairo_scale"};
  libraries::function<decltype(&::cairo_set_source_rgba)> set_source_rgba{"cairo_set_source_rgba"};
  libraries::function<decltype(&::cairo_set_line_width)> set_line_width{"cairo_set_line_width"};
  libraries::function<decltype(&::cairo_set_line_join)> set_line_join{"cairo_set_line_join"};
  libraries::function<decltype(&::cairo_set_line_cap)> set_line_cap{"cairo_set_line_cap"};
  libraries::function<decltype(&::cairo_set_dash)> set_dash{"cairo_set_dash"};
  libraries::function<decltype(&::cairo_rectangle)> rectangle{"cairo_rectangle"};
  libraries::function<decltype(&::cairo_move_to)> move_to{"cairo_move_to"};
  libraries::function<decltype(&::cairo_line_to)> line_to{"cairo_line_to"};
  libraries::function<decltype(&::cairo_close_path)> close_path{"cairo_close_path"};
  libraries::function<decltype(&::cairo_arc)> arc{"cairo_arc"};
  libraries::function<decltype(&::cairo_new_path)> new_path{"cairo_new_path"};
  libraries::function<decltype(&::cairo_new_sub_path)> new_sub_path{"cairo_new_sub_path"};
  libraries::function<decltype(&::cairo_fill)> fill{"cairo_fill"};
  libraries::function<decltype(&::cairo_stroke)> stroke{"cairo_stroke"};
};
struct drawing_library : drawing_functions {
  bool had_fontconfig;  ///< Another part of this process had already loaded Fontconfig.
};

/// Returns Pango, which the first successful call loads. Errors: source_unavailable, see `libraries::load_once`. Threads: any.
[[nodiscard]] result<const drawing_library*> loaded_drawing_library();

}  // namespace hondana::charts

/// Finding fonts without a word on anybody's output.
#include "sources/metrics/charts/fonts.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "base/ascii/characters.hpp"
#include "sources/metrics/charts/chart.hpp"

namespace hondana::charts {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_font_files = 4000;
constexpr int deepest_font_folder = 8;

const FcChar8* as_fc(const char* text) noexcept { return reinterpret_cast<const FcChar8*>(text); }
const char* as_text(const FcChar8* text) noexcept { return reinterpret_cast<const char*>(text); }

/// Of the system, where Fontconfig's own configuration cannot be read.
constexpr const char* plain_configuration =
    "<?xml version=\"1.0\"?><fontconfig><dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir></fontconfig>";

bool can_be_listed(const std::string& folder) {
  std::error_code failed;
  const fs::directory_iterator opened(folder, failed);
  return !failed;
}

/// Whether everything below that folder is in a cache that is up to date.
bool is_cached(const drawing_library& with, FcConfig* config, const std::string& folder, int depth) {
  if (!can_be_listed(folder)) return true;  // nothing of it is read, and nothing said
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
    // Quietly: what is missing is no cause to complain on stderr.
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
  // Without any font Pango would end the process.
  if ((config == nullptr && !with.had_fontconfig) || count_of(with, config) == 0) {
    if (config != nullptr) with.config_destroy(config);
    return fail(
        errc::source_unavailable,
        "charts cannot be drawn: no readable font was found; install fonts (Debian: fonts-noto-cjk), or request JSON or CSV");
  }
  if (config != nullptr) {
    with.config_set_current(config);
    with.config_destroy(config);  // the current one is kept
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

}  // namespace hondana::charts

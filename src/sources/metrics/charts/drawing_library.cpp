/// Loads Cairo, Pango, Fontconfig and GLib at run time, when a chart is first drawn.
#include "sources/metrics/charts/drawing_library.hpp"

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

// GLib writes messages of libraries to stderr, and some to stdout, which may carry the protocol.
void ignore_message(const gchar*, GLogLevelFlags, const gchar*, gpointer) {}

}  // namespace

result<const drawing_library*> loaded_drawing_library() {
  return libraries::make_once<drawing_library>([]() -> result<drawing_library> {
    const bool had_fontconfig = libraries::is_loaded("libfontconfig.so.1");
    HONDANA_TRY(const auto functions, libraries::load<drawing_functions>({"libpangocairo-1.0.so.0", "charts require",
                                                                          "libpangocairo-1.0-0", "request JSON or CSV"}));
    constexpr auto every_level = static_cast<GLogLevelFlags>(G_LOG_LEVEL_MASK | G_LOG_FLAG_RECURSION);
    functions.log_set_handler("Pango", every_level, ignore_message, nullptr);
    return drawing_library{functions, had_fontconfig};
  });
}

}  // namespace hondana::charts

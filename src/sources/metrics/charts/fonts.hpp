/// Finding fonts without a word on anybody's output.
#pragma once

#include <hondana/error.hpp>

#include "sources/metrics/charts/drawing_library.hpp"

namespace hondana::charts {

/// Reads Fontconfig's configuration and its list of fonts, with the first call that can; fonts that are installed later are
/// seen after a restart. Where its caches are not up to date, it would try to write them and say on stderr that it cannot: then
/// the files are read one by one instead (at most 4000, which takes seconds where there are many). Errors: source_unavailable:
/// there is no font, or FC_DEBUG is set, which makes it write to stdout. Threads: any.
[[nodiscard]] result<void> find_fonts(const drawing_library& with);

}  // namespace hondana::charts

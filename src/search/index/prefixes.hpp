/// What is found below the beginning of a URI.
#pragma once

#include <string_view>

#include "search/index/store.hpp"

namespace hondana::search {

/// Lets only what begins so be found, however it is spelled (see `catalog::spellings_of_prefix`).
void begin_with(document_filter& which, std::string_view prefix);

}  // namespace hondana::search

/// What of `[search]` only shows on the machine: folders, dictionaries, files and services.
#pragma once

#include <hondana/error.hpp>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Whether an index could be made and kept as configured; starts and writes nothing. Errors: invalid_argument, with the line of
/// the key that is wrong.
[[nodiscard]] result<void> check_search(const config::settings& of);
/// Prints how texts are cut into words, where there is an index; says what to install where Japanese is not cut well.
void print_words_of_index(const config::settings& of, bool as_json);

}  // namespace hondana::cli

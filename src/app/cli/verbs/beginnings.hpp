/// Beginnings of URIs that are no more than a word.
#pragma once

#include <string>

#include <hondana/client.hpp>

namespace hondana::cli {

/// A typed word that may be the beginning of a scheme must be one of what `of` lists; anything with a colon may be. Errors:
/// invalid_argument, with what would be one; those of the list. `spelled`: the same as `beginning_as_listed` has it.
[[nodiscard]] result<void> check_beginning(client& of, const std::string& typed, const std::string& spelled,
                                           const call_options& how);

}  // namespace hondana::cli

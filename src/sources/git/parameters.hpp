/// What stands behind the question mark of a repository's URI.
#pragma once

#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/address.hpp"

namespace hondana::git {

/// Reads a query (without `?`) into an address whose topic is known; without regard to order. Errors: resource_not_found for
/// parameters that the topic does not have; invalid_argument, which begins with the parameter's name, for wrong values and for
/// one that is given twice.
[[nodiscard]] result<void> read_parameters(address& into, std::string_view query);

}  // namespace hondana::git

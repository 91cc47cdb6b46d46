/// What an index needs of the machine, before it is opened.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/search.hpp>

namespace hondana::search {

/// Its folder, the dictionary, the addresses of its services and the files with their secrets. Errors: invalid_argument for an
/// address of a service that cannot be one.
[[nodiscard]] result<needs> needs_of(const search_options& options);

}  // namespace hondana::search

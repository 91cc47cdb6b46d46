/// The entries that lists of a million have here: folders of a thousand documents.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <hondana/resource.hpp>

#include "sources/files/listing.hpp"

namespace list_bench {

[[nodiscard]] std::string path_of(std::size_t number);
[[nodiscard]] std::string uri_of(std::size_t number);
[[nodiscard]] hondana::resource entry_of(std::size_t number);
/// Bytes of an entry's URI, name, title and media type.
[[nodiscard]] std::size_t strings_of(const hondana::resource& entry);

/// A listing as a walk of `count` files makes it, of a folder that need not have them.
[[nodiscard]] std::shared_ptr<hondana::files::listing> listing_of(const std::shared_ptr<hondana::files::served_root>& folder,
                                                                  std::size_t count);

}  // namespace list_bench

/// Who lists and reads for the search index.
#pragma once

#include <string_view>

#include <hondana/provider.hpp>

namespace hondana::model {

inline constexpr std::string_view index_identity = "search";

/// What is not listed is forgotten in the index, so that it is told why a list cannot be made where others get one without. Who
/// comes from elsewhere has an address, whatever the name.
[[nodiscard]] inline bool is_index(const caller& who) {
  return who.identity == index_identity && !who.view && who.address.empty();
}

}  // namespace hondana::model

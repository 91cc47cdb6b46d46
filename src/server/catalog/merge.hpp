/// Merges pages of several sources: order, access, and where the next page starts.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "server/gate/gate.hpp"

namespace hondana::catalog {

/// Checks that a provider's page fulfils its contract. Entries must be in order, after the key, within its claims, and within
/// the requested number; `next_key` must advance. Errors: internal, naming the source. Only the private text has the URI.
[[nodiscard]] result<void> check_page(const list_result& page, const list_request& request, const std::string& source_name,
                                      const std::function<bool(std::string_view uri)>& is_claimed);

/// Removes entries that the access filter hides, in case the provider has not.
void apply_filter(list_result& page, const access_filter* filter, const gate::gate& gate);

/// Merges checked pages in segment order into at most `limit` entries. Entries after the smallest `next_key` are left out,
/// because its source may have more before them. All sources then continue at the result's `next_key`. The result is valid
/// while all pages are.
[[nodiscard]] list_result merge(std::vector<list_result> pages, std::size_t limit);

}  // namespace hondana::catalog

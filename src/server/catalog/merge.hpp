/// Checks, filters and merges pages of several sources.
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

/// Checks that a provider's page is a valid answer to `request`. Entries must be in segment order, follow `request.after_key`,
/// and be at most `request.limit`. `is_claimed` must accept each URI: it says whether the URI belongs to the source. `next_key`
/// must advance. URIs and `next_key` may have at most `max_key_bytes` bytes. Errors: internal, which names the source; only
/// `failure::private_text` has the wrong URI.
[[nodiscard]] result<void> check_page(const list_result& page, const list_request& request, const std::string& source_name,
                                      const std::function<bool(std::string_view uri)>& is_claimed);

/// Removes entries that `filter` (null: none) hides according to `gate::may_see`, in case the provider has not.
void apply_filter(list_result& page, const access_filter* filter, const gate::gate& gate);

/// Merges checked pages in segment order into at most `limit` entries. Entries after the smallest `next_key` of the pages are
/// left out: the source of that key may have more entries before them. All sources continue at the `next_key` of the result.
/// The result has a validator if all pages have one; it is valid while theirs are.
[[nodiscard]] list_result merge(std::vector<list_result> pages, std::size_t limit);

}  // namespace hondana::catalog

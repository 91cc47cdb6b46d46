/// Merges pages of several sources: their order, access, and where the next page starts.
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

/// Checks that a provider kept its contract on a page: entries in order, after the key, within its claims and no more than
/// asked for, and a `resume` that goes forward. Errors: internal, naming the source; the offending URI is for the log only.
[[nodiscard]] result<void> check_page(const list_result& page, const list_request& asked, const std::string& source_name,
                                      const std::function<bool(std::string_view uri)>& is_claimed);

/// Drops the entries the caller may not see by its view, also where the provider forgot to.
void apply_view(list_result& page, const view* through, const gate::gate& rules);

/// Merges checked pages in segment order into at most `limit` entries. Nothing after the smallest `resume` is taken, since
/// its source may have more before it; the result's `resume` is then where all sources go on. It is valid while all of them
/// are.
[[nodiscard]] list_result merge(std::vector<list_result> pages, std::size_t limit);

}  // namespace hondana::catalog

/// Values of a template's variable, taken from the entries that the template fits.
#pragma once

#include <functional>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "server/gate/gate.hpp"

namespace hondana::catalog {

/// Completes by listing `from`: each entry the caller may list and `of` matches gives the value of the variable it has there,
/// when its other variables are those in the context. Values come as `complete_from` ranks them; of equal fits first those of
/// higher priority, then those changed lately.
///
/// At most 100 000 entries the caller may list are looked at, for at most 250 ms; when that was not all, there is no total, and
/// `has_more` is set. Entries the caller may not list have no part in it. `is_claimed`: whether a URI is the source's.
/// Errors: those of `provider::list`; internal when the source breaks its contract; cancelled.
[[nodiscard]] result<complete_result> values_of_entries(provider& from, const uri_template& of, const complete_request& request,
                                                        const std::function<bool(std::string_view uri)>& is_claimed,
                                                        const gate::gate& rules);

}  // namespace hondana::catalog

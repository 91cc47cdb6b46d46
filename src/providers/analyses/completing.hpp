/// Completing the variables of templates.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "analyses/cache.hpp"
#include "providers/analyses/ground.hpp"

namespace hondana::wallbounce {

/// Ids, providers, sessions, tags and digests of analyses that the caller may see, and no others.
[[nodiscard]] result<complete_result> completed(const complete_request& request, analyses::cache& in);

}  // namespace hondana::wallbounce

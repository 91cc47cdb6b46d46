/// Completing the variables of templates.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/ground.hpp"

namespace hondana::analyses_source {

/// Ids of analyses that the caller may see, and providers, sessions, tags and digests of those that it may read.
[[nodiscard]] result<complete_result> completed(const complete_request& request, const ground& on, analyses::cache& in);

}  // namespace hondana::analyses_source

/// The resources that analyses are based on, and their versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "analyses/analysis.hpp"
#include "providers/analyses/follower.hpp"
#include "providers/analyses/ground.hpp"

namespace hondana::wallbounce {

/// Gives the context of a question the versions that its resources have now, as the caller may read them, and has them watched
/// from before that. In a source that is in no server they stay as they are.
///
/// `path`: what errors call the context. Errors: resource_not_found for what is not served to this caller; content_changed
/// where a version is given that is not the present one; invalid_argument for what is no URI or stands there twice;
/// scope_missing; those of the sources.
[[nodiscard]] result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked,
                                   std::string_view path);

/// Whether all of them still have those versions; what could not be asked counts as if it had. `changed`: those that have not.
[[nodiscard]] bool hold(const ground& on, const call& by, const std::vector<analyses::basis>& all,
                        std::vector<std::string>& changed);

}  // namespace hondana::wallbounce

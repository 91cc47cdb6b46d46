/// The resources that analyses are based on, and their versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/follower.hpp"
#include "sources/analyses/ground.hpp"

namespace hondana::analyses_source {

/// Gives the context of a question the versions that its resources have now, as the caller may read them, and has them watched
/// from before that. In a source that never was in a server they stay as they are. Of what is made for each caller anew it is
/// a version of what this caller is given and of the whole.
///
/// `path`: what errors call the context. Errors: resource_not_found for what is not served to this caller; content_changed
/// where a version is given that is not the present one; invalid_argument for what is no URI or stands there twice;
/// scope_missing; those of the sources, and of `ground::neighbours`.
[[nodiscard]] result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked,
                                   std::string_view path);

/// Whether all of them still have those versions; of an unknown one, whether the follower has found no other one before.
/// `changed`: those that have another one. What no source serves does not hold, and a source may be yet to come. Errors: why
/// one could not be asked for, so that nothing is known of it.
[[nodiscard]] result<bool> hold(const ground& on, const follower& with, const call& by, const std::vector<analyses::basis>& all,
                                std::vector<std::string>& changed);

/// Whether a version that `resolve` gave still holds where `present` is what `neighbourhood::version_for_itself` says.
[[nodiscard]] bool is_still(std::string_view known, std::string_view present);

}  // namespace hondana::analyses_source

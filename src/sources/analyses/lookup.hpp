/// Finding analyses for a caller: what it may not read is not there, nor is what rests on what has changed.
#pragma once

#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/follower.hpp"
#include "sources/analyses/ground.hpp"

namespace hondana::analyses_source {

struct by_prompt {
  analyses::summary about;
  bool is_watched = false;  ///< All that it is based on.
};
/// The newest final analysis of a prompt (32 bytes), a fresh one before those that are stale. Errors: resource_not_found;
/// scope_missing, where there is one for who has proved more; those of `hold`.
[[nodiscard]] result<by_prompt> find_by_prompt(const ground& on, follower& with, const call& by, const std::string& prompt,
                                               const analyses::cache& in);

/// Whether what an analysis is based on has not changed. What has is looked after. Errors:
/// those of the store, and of `hold`.
[[nodiscard]] result<bool> is_founded(const ground& on, follower& with, const call& by, const analyses::entry& of);

/// What asking for an analysis is answered with that is not there, or not for this caller.
[[nodiscard]] tl::unexpected<failure> no_analysis();

[[nodiscard]] bool is_stale_at(const analyses::summary& of, analyses::instant now);

}  // namespace hondana::analyses_source

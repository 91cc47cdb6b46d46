/// Finds and removes analyses for a caller, as far as the caller may read them.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"

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

/// Exactly one of these is set.
struct named_analyses {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string prompt{};   ///< Its digest, 32 bytes.
  std::string context{};  ///< The canonical URI of a resource.
};
/// Of a tool's arguments. Errors: invalid_argument.
[[nodiscard]] result<named_analyses> named_in(const value& arguments);

/// How many there were; a caller with a view forgets only what it may read, and is told of no others. Errors:
/// resource_not_found for an id of nothing that it may read, and for a context that it may not; scope_missing; the store's.
[[nodiscard]] result<std::uint64_t> forget(const ground& on, const call& by, const named_analyses& which, analyses::cache& in);

}  // namespace hondana::analyses_source

/// Finds and deletes analyses for a caller, within the caller's access rights.
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

/// The result of `find_by_prompt`.
struct by_prompt {
  analyses::summary about;
  bool is_watched = false;  ///< Changes of its whole context are noticed.
};
/// Finds the newest final analysis of a prompt, fresh ones before stale ones. `prompt`: the digest, 32 bytes. Errors:
/// resource_not_found; scope_missing if a token with more scopes could read one; those of `hold`.
[[nodiscard]] result<by_prompt> find_by_prompt(const ground& on, follower& with, const call& by, const std::string& prompt,
                                               const analyses::cache& in);

/// Whether the context of an analysis has not changed. Changed resources are reported to the follower. Errors: those of the
/// store, and of `hold`.
[[nodiscard]] result<bool> is_founded(const ground& on, follower& with, const call& by, const analyses::entry& of);

/// The error for analyses that do not exist or that the caller may not read.
[[nodiscard]] tl::unexpected<failure> no_analysis();

[[nodiscard]] bool is_stale_at(const analyses::summary& of, analyses::instant now);

/// Selects analyses. Exactly one member is set.
struct named_analyses {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string prompt{};   ///< Digest of the prompt, 32 bytes.
  std::string context{};  ///< The canonical URI of a resource.
};
/// Parses a tool's arguments. Errors: invalid_argument.
[[nodiscard]] result<named_analyses> named_in(const value& arguments);

/// Deletes analyses and returns how many. A caller with an access filter deletes only what it may read, and the count contains
/// no others. Errors: resource_not_found for an id or a context that the caller may not read; scope_missing; those of the
/// store.
[[nodiscard]] result<std::uint64_t> forget(const ground& on, const call& by, const named_analyses& which, analyses::cache& in);

}  // namespace hondana::analyses_source

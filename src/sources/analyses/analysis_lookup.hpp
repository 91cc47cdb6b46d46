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
struct prompt_match {
  analyses::analysis_summary summary;
  bool is_watched = false;  ///< `context_watcher` watches all resources of its context.
};
/// Finds the newest final analysis of a prompt that the caller may read and whose context has not changed. Fresh analyses come
/// before stale ones. `prompt_digest`: `question_key::prompt_digest`, 32 bytes. Errors: resource_not_found; insufficient_scope
/// if a token with more scopes could read one; cancelled; those of the store and of `are_versions_current`.
[[nodiscard]] result<prompt_match> find_by_prompt(const provider_state& state, context_watcher& watcher,
                                                  const request_context& request, const std::string& prompt_digest,
                                                  const analyses::cache& cache);

/// Whether the context of an analysis is unchanged. Reports changed resources to the watcher, which then deletes the analysis.
/// Errors: internal if the stored analysis is invalid; those of `are_versions_current`.
[[nodiscard]] result<bool> is_context_current(const provider_state& state, context_watcher& watcher,
                                              const request_context& request, const analyses::cache_entry& entry);

/// The error resource_not_found, also for analyses that the caller may not read.
[[nodiscard]] tl::unexpected<failure> analysis_not_found();

/// Whether a final analysis has expired. Always false for others.
[[nodiscard]] bool is_stale_at(const analyses::analysis_summary& summary, analyses::instant now);

/// Selects analyses. Exactly one member is set.
struct analysis_selector {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string prompt_digest{};  ///< `question_key::prompt_digest`, 32 bytes.
  std::string context_uri{};    ///< Analyses based on this resource. Canonical.
};
/// Parses the arguments of analysis_invalidate: uri, session, tag, digest or context. Errors: invalid_argument, also unless
/// exactly one is given.
[[nodiscard]] result<analysis_selector> parse_selector(const value& arguments);

/// Deletes the selected analyses that the caller may read, and returns how many. Errors: resource_not_found for an id or a
/// context resource that does not exist for the caller; insufficient_scope; cancelled; those of the store. Also timed_out if
/// the request's deadline passes; some analyses are then deleted.
[[nodiscard]] result<std::uint64_t> erase_analyses(const provider_state& state, const request_context& request,
                                                   const analysis_selector& selector, analyses::cache& cache);

}  // namespace hondana::analyses_source

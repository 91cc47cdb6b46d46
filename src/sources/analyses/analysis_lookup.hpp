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
  bool is_watched = false;  ///< Changes of its whole context are noticed.
};
/// Finds the newest final analysis of a prompt, fresh ones before stale ones. `prompt_digest`: the digest, 32 bytes. Errors:
/// resource_not_found; insufficient_scope if a token with more scopes could read one; those of `are_versions_current`.
[[nodiscard]] result<prompt_match> find_by_prompt(const provider_state& state, context_watcher& watcher,
                                                  const request_context& request, const std::string& prompt_digest,
                                                  const analyses::cache& cache);

/// Whether the context of an analysis has not changed. Changed resources are reported to the watcher. Errors: those of the
/// store, and of `are_versions_current`.
[[nodiscard]] result<bool> is_context_current(const provider_state& state, context_watcher& watcher,
                                              const request_context& request, const analyses::cache_entry& entry);

/// The error for analyses that do not exist or that the caller may not read.
[[nodiscard]] tl::unexpected<failure> analysis_not_found();

[[nodiscard]] bool is_stale_at(const analyses::analysis_summary& summary, analyses::instant now);

/// Selects analyses. Exactly one member is set.
struct analysis_selector {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string prompt_digest{};  ///< Digest of the prompt, 32 bytes.
  std::string context_uri{};    ///< The canonical URI of a resource.
};
/// Parses a tool's arguments. Errors: invalid_argument.
[[nodiscard]] result<analysis_selector> parse_selector(const value& arguments);

/// Deletes analyses and returns how many. A caller with an access filter deletes only what it may read, and the count contains
/// no others. Errors: resource_not_found for an id or a context that the caller may not read; insufficient_scope; those of the
/// store.
[[nodiscard]] result<std::uint64_t> erase_analyses(const provider_state& state, const request_context& request,
                                                   const analysis_selector& selector, analyses::cache& cache);

}  // namespace hondana::analyses_source

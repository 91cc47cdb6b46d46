/// The tools analysis_claim, analysis_put, analysis_get and analysis_invalidate, with their JSON schemas.
#pragma once

#include <memory>
#include <vector>

#include <hondana/provider_host.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Creates the tools `analysis_claim`, `analysis_put`, `analysis_get` and `analysis_invalidate`.
[[nodiscard]] std::vector<source_tool> make_tools(const std::shared_ptr<provider_state>& state,
                                                  const std::shared_ptr<context_watcher>& watcher);

// The definitions of the tools: name, description and JSON schemas.
[[nodiscard]] tool claim_tool();
[[nodiscard]] tool put_tool();
[[nodiscard]] tool get_tool();
[[nodiscard]] tool invalidate_tool();

}  // namespace hondana::analyses_source

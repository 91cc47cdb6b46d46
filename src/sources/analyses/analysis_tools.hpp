/// The tools analysis_claim, analysis_put, analysis_get and analysis_invalidate, with their JSON schemas.
#pragma once

#include <memory>
#include <vector>

#include <hondana/neighbourhood.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Creates the tools `analysis_claim`, `analysis_put`, `analysis_get` and `analysis_invalidate`.
[[nodiscard]] std::vector<source_tool> make_tools(const std::shared_ptr<ground>& on, const std::shared_ptr<follower>& with);

// The definition of each tool, without its handler.
[[nodiscard]] tool claim_entry();
[[nodiscard]] tool put_entry();
[[nodiscard]] tool get_entry();
[[nodiscard]] tool invalidate_entry();

}  // namespace hondana::analyses_source

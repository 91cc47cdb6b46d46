/// What a server tells of itself in figures.
#pragma once

#include <memory>
#include <vector>

#include "base/counters/registry.hpp"
#include "server/core/core.hpp"

namespace hondana::inline v0 {

/// Told as long as somebody keeps them: sources and their health, watches, caches, traces; and, once, what the process itself
/// tells. They keep nothing of the server alive beyond the shared lock of `door`.
[[nodiscard]] std::vector<std::shared_ptr<const counters::part>> figures_of(const std::shared_ptr<core::door>& door);

}  // namespace hondana::inline v0

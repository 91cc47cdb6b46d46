/// Entries, templates and the documentation of the scheme.
#pragma once

#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/analyses/address.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses_source {

[[nodiscard]] scheme_documentation describe();
[[nodiscard]] std::vector<resource_template> templates();

/// How much an analysis matters: for one that is final its confidence, of which 0.6 halves with each week since it was put;
/// half of that when it is stale, a quarter below its thresholds, and 0.1 while it is computed. Two decimals; whole days count.
[[nodiscard]] double priority_of(const analyses::summary& of, analyses::instant now);

/// Of an analysis. `now`: whether it is stale, and how old.
[[nodiscard]] resource entry_of(const analyses::summary& of, analyses::instant now);
/// Of a part of it, or of what a digest of a prompt leads to.
[[nodiscard]] resource entry_of(const address& at, const analyses::summary& of, analyses::instant now);
[[nodiscard]] resource index_entry();
[[nodiscard]] resource statistics_entry();

[[nodiscard]] std::string_view mime_of(format as) noexcept;
/// Changes with all that a reading of it says.
[[nodiscard]] std::string version_of(const analyses::summary& of, bool is_stale);

}  // namespace hondana::analyses_source

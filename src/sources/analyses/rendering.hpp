/// Analyses as Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sources/analyses/address.hpp"
#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/statistics.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses_source {

[[nodiscard]] std::string markdown_of(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
[[nodiscard]] std::string markdown_of_vote(const analyses::summary& about, const analyses::vote& what);
[[nodiscard]] std::string markdown_of_flow(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
/// `next`: the URI of the page that follows; empty: this is the last.
[[nodiscard]] std::string markdown_of_index(const std::vector<analyses::summary>& all, analyses::instant now,
                                            std::string_view next);
[[nodiscard]] std::string markdown_of(const analyses::statistics& what, const analyses::store_facts& facts);

}  // namespace hondana::analyses_source

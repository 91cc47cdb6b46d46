/// Analyses as JSON for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/cache/statistics.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses_source {

/// Of a whole as `entry::to_json` makes it: with the URIs of its flow and votes nothing is added, so that it goes back in as
/// it came out. One of its votes. Errors: resource_not_found, naming those that there are; internal.
[[nodiscard]] result<value> vote_in(const value& whole, std::string_view provider);
/// Its rounds, flow and errors, with id and status.
[[nodiscard]] value flow_in(const value& whole);
[[nodiscard]] value value_of(const analyses::summary& of, analyses::instant now);
/// `next`: the URI of the page that follows; empty: none.
[[nodiscard]] value value_of_index(const std::vector<analyses::summary>& all, analyses::instant now, std::string_view next);
[[nodiscard]] value value_of(const analyses::statistics& what, const analyses::store_facts& facts);

/// The JSON of an analysis as a value, and as what it says. Errors: internal.
[[nodiscard]] result<value> parsed(const std::string& json);
[[nodiscard]] result<analyses::analysis> decoded(const std::string& json);

}  // namespace hondana::analyses_source

/// Analyses as Markdown for people and as JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses_source {

/// With at most four decimals and no zeros at the end: 0.92.
[[nodiscard]] std::string decimals(double number);
/// "1 round", "3 rounds".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);
/// "840 ms", "84 s", "12 min".
[[nodiscard]] std::string time_text(analyses::milliseconds took);
/// "final", "stale", "below its thresholds", "being computed".
[[nodiscard]] std::string state_of(analyses::status how, bool is_stale);
/// Of what is counted in hits of so many lookups: "66.7 %"; "–" where there are none.
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole);

/// On one line, with a backslash before what has a meaning in Markdown; controls become spaces, ill-formed UTF-8 U+FFFD.
[[nodiscard]] std::string in_line(std::string_view text);
/// As a quotation that keeps its own Markdown: `> ` before every line; ends with a line end. Controls but for tabs and line
/// ends become U+FFFD.
[[nodiscard]] std::string quotation_of(std::string_view text);
/// A link to one of our URIs; `label` is Markdown already.
[[nodiscard]] std::string link_to(std::string_view label, std::string_view uri);

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

[[nodiscard]] std::string markdown_of(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
[[nodiscard]] std::string markdown_of_vote(const analyses::summary& about, const analyses::vote& what);
[[nodiscard]] std::string markdown_of_flow(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
/// `next`: the URI of the page that follows; empty: this is the last.
[[nodiscard]] std::string markdown_of_index(const std::vector<analyses::summary>& all, analyses::instant now,
                                            std::string_view next);
[[nodiscard]] std::string markdown_of(const analyses::statistics& what, const analyses::store_facts& facts);

}  // namespace hondana::analyses_source

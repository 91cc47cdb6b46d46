/// Renders analyses as Markdown and as JSON.
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

/// At most four decimals, without trailing zeros: "0.92".
[[nodiscard]] std::string decimals(double number);
/// "1 round", "3 rounds".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);
/// "840 ms", "84 s", "12 min".
[[nodiscard]] std::string time_text(analyses::milliseconds took);
/// "final", "stale", "below its thresholds", "being computed".
[[nodiscard]] std::string state_of(analyses::status how, bool is_stale);
/// A share in percent: "66.7 %"; "–" if `whole` is 0.
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole);

/// Escapes text as one line of Markdown. Control characters become spaces, invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string in_line(std::string_view text);
/// Formats text as a Markdown quotation: `> ` before each line, and a final line end. Markdown in the text stays active.
/// Control characters except tabs and line ends become U+FFFD.
[[nodiscard]] std::string quotation_of(std::string_view text);
/// A Markdown link to a URI of this source. `label`: Markdown.
[[nodiscard]] std::string link_to(std::string_view label, std::string_view uri);

/// Extracts one vote. `whole`: as `entry::to_json` makes it. No URIs are added to it, so that the JSON can be stored again
/// unchanged. Errors: resource_not_found, naming the existing providers; internal.
[[nodiscard]] result<value> vote_in(const value& whole, std::string_view provider);
/// Extracts rounds, flow and errors, with id and status.
[[nodiscard]] value flow_in(const value& whole);
[[nodiscard]] value value_of(const analyses::summary& of, analyses::instant now);
/// `next`: the URI of the next page; empty: this is the last.
[[nodiscard]] value value_of_index(const std::vector<analyses::summary>& all, analyses::instant now, std::string_view next);
[[nodiscard]] value value_of(const analyses::statistics& what, const analyses::store_facts& facts);

/// Parses the JSON of an analysis, as a JSON value and as a struct. Errors: internal.
[[nodiscard]] result<value> parsed(const std::string& json);
[[nodiscard]] result<analyses::analysis> decoded(const std::string& json);

[[nodiscard]] std::string markdown_of(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
[[nodiscard]] std::string markdown_of_vote(const analyses::summary& about, const analyses::vote& what);
[[nodiscard]] std::string markdown_of_flow(const analyses::summary& about, const analyses::analysis& what, bool is_stale);
/// `next`: the URI of the next page; empty: this is the last.
[[nodiscard]] std::string markdown_of_index(const std::vector<analyses::summary>& all, analyses::instant now,
                                            std::string_view next);
[[nodiscard]] std::string markdown_of(const analyses::statistics& what, const analyses::store_facts& facts);

}  // namespace hondana::analyses_source

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

/// Rounds to four decimals, without trailing zeros: "0.92".
[[nodiscard]] std::string format_decimals(double number);
/// "1 round", "3 rounds".
[[nodiscard]] std::string pluralize(std::uint64_t count, std::string_view noun);
/// Rounds down: "840 ms", "84 s", "12 min", "30 h".
[[nodiscard]] std::string format_duration(analyses::milliseconds duration);
/// "final", "stale", "below its thresholds", "being computed". `is_stale` only matters for `complete`.
[[nodiscard]] std::string describe_status(analyses::analysis_status status, bool is_stale);
/// A share in percent: "66.7 %"; "–" if `total` is 0.
[[nodiscard]] std::string format_percent(std::uint64_t part, std::uint64_t total);

/// Escapes text as one line of Markdown. Control characters become spaces, invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string escape_line(std::string_view text);
/// Formats text as a Markdown quotation: `> ` before each line, and a final line end. Does not escape Markdown in the text.
/// Control characters except tabs and line ends become U+FFFD, as does invalid UTF-8.
[[nodiscard]] std::string quote_block(std::string_view text);
/// Makes a Markdown link. `label`: Markdown. `uri`: must not contain `<`, `>` or line ends.
[[nodiscard]] std::string make_link(std::string_view label, std::string_view uri);

/// Returns the vote of a provider. `analysis`: parsed from `cache_entry::to_json`. Errors: resource_not_found, naming the
/// providers of the existing votes.
[[nodiscard]] result<value> extract_vote(const value& analysis, std::string_view provider);
/// Returns an object of the members id, status, rounds, flow and errors. `analysis`: as for `extract_vote`.
[[nodiscard]] value extract_flow(const value& analysis);
/// Returns the JSON of one element of the index (wallbounce://analyses).
[[nodiscard]] value to_value(const analyses::analysis_summary& summary, analyses::instant now);
/// Returns the JSON of a page of the index. `next_uri`: the URI of the next page; empty: this is the last page.
[[nodiscard]] value index_to_value(const std::vector<analyses::analysis_summary>& summaries, analyses::instant now,
                                   std::string_view next_uri);
[[nodiscard]] value to_value(const analyses::statistics& statistics, const analyses::store_info& info);

/// Parses `cache_entry::to_json` as a JSON value. Errors: internal.
[[nodiscard]] result<value> parse_stored(const std::string& json);
/// Decodes `cache_entry::to_json`, also after secrets were masked. Errors: internal.
[[nodiscard]] result<analyses::analysis> decode_stored(const std::string& json);

[[nodiscard]] std::string to_markdown(const analyses::analysis_summary& summary, const analyses::analysis& analysis,
                                      bool is_stale);
[[nodiscard]] std::string vote_to_markdown(const analyses::analysis_summary& summary, const analyses::vote& vote);
[[nodiscard]] std::string flow_to_markdown(const analyses::analysis_summary& summary, const analyses::analysis& analysis,
                                           bool is_stale);
/// `next_uri`: the URI of the next page; empty: this is the last page.
[[nodiscard]] std::string index_to_markdown(const std::vector<analyses::analysis_summary>& summaries, analyses::instant now,
                                            std::string_view next_uri);
[[nodiscard]] std::string to_markdown(const analyses::statistics& statistics, const analyses::store_info& info);

}  // namespace hondana::analyses_source

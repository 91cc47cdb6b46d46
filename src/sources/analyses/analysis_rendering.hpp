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
[[nodiscard]] std::string format_decimals(double number);
/// "1 round", "3 rounds".
[[nodiscard]] std::string pluralize(std::uint64_t count, std::string_view noun);
/// "840 ms", "84 s", "12 min".
[[nodiscard]] std::string format_duration(analyses::milliseconds duration);
/// "final", "stale", "below its thresholds", "being computed".
[[nodiscard]] std::string describe_status(analyses::analysis_status status, bool is_stale);
/// A share in percent: "66.7 %"; "–" if `total` is 0.
[[nodiscard]] std::string format_percent(std::uint64_t part, std::uint64_t total);

/// Escapes text as one line of Markdown. Control characters become spaces, invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string escape_line(std::string_view text);
/// Formats text as a Markdown quotation: `> ` before each line, and a final line end. Markdown in the text stays active.
/// Control characters except tabs and line ends become U+FFFD.
[[nodiscard]] std::string quote_block(std::string_view text);
/// A Markdown link to a URI of this source. `label`: Markdown.
[[nodiscard]] std::string make_link(std::string_view label, std::string_view uri);

/// Extracts one vote. `analysis`: as `cache_entry::to_json` makes it. No URIs are added to it, so that the JSON can be stored
/// again unchanged. Errors: resource_not_found, naming the existing providers; internal.
[[nodiscard]] result<value> extract_vote(const value& analysis, std::string_view provider);
/// Extracts rounds, flow and errors, with id and status.
[[nodiscard]] value extract_flow(const value& analysis);
[[nodiscard]] value to_value(const analyses::analysis_summary& summary, analyses::instant now);
/// `next_uri`: the URI of the next page; empty: this is the last.
[[nodiscard]] value index_to_value(const std::vector<analyses::analysis_summary>& summaries, analyses::instant now,
                                   std::string_view next_uri);
[[nodiscard]] value to_value(const analyses::statistics& statistics, const analyses::store_info& info);

/// Parses the JSON of an analysis, as a JSON value and as a struct. Errors: internal.
[[nodiscard]] result<value> parse_stored(const std::string& json);
[[nodiscard]] result<analyses::analysis> decode_stored(const std::string& json);

[[nodiscard]] std::string to_markdown(const analyses::analysis_summary& summary, const analyses::analysis& analysis,
                                      bool is_stale);
[[nodiscard]] std::string vote_to_markdown(const analyses::analysis_summary& summary, const analyses::vote& vote);
[[nodiscard]] std::string flow_to_markdown(const analyses::analysis_summary& summary, const analyses::analysis& analysis,
                                           bool is_stale);
/// `next_uri`: the URI of the next page; empty: this is the last.
[[nodiscard]] std::string index_to_markdown(const std::vector<analyses::analysis_summary>& summaries, analyses::instant now,
                                            std::string_view next_uri);
[[nodiscard]] std::string to_markdown(const analyses::statistics& statistics, const analyses::store_info& info);

}  // namespace hondana::analyses_source

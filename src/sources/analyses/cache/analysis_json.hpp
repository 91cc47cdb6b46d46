/// Decodes analyses from JSON, and encodes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/json/reader.hpp"
#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

// Input limits. Errors name the member and its limit.
inline constexpr std::size_t max_analysis_bytes = 16u << 20;  ///< Of the whole text.
inline constexpr std::size_t max_prompt_bytes = 1u << 20;
inline constexpr std::size_t max_text_bytes = 8u << 20;  ///< Of a content, reasoning, message or note.
inline constexpr std::size_t max_name_bytes = 128;       ///< Of the name of a provider, model, action or tag.
inline constexpr std::size_t max_session_bytes = 256;
inline constexpr std::size_t max_context_field_bytes = 8u << 10;  ///< Of a URI or a version.
inline constexpr std::size_t max_votes = 64;                      ///< In an analysis, and in a round.
inline constexpr std::size_t max_rounds = 64;
inline constexpr std::size_t max_flow_steps = 4096;  ///< Also the limit of errors.
inline constexpr std::size_t max_models = 64;
inline constexpr std::size_t max_context_resources = 1024;
inline constexpr std::size_t max_tags = 64;

/// Decodes an analysis, a JSON object of these members:
///
///   prompt (string, required), options {}, models [string], context [{uri, version}],
///   task ("basic" | "premium" | "critical"), thresholds {confidence, consensus, providers},
///   consensus {content, confidence, reasoning}, votes [vote], rounds [{number, votes, consensus, at, milliseconds}],
///   flow [{round, provider, action, at, milliseconds, note}], errors [{provider, round, message, at}],
///   totals {cost, tokens, milliseconds}, session, tags [string], id, status, created, expires
///
///   vote: {provider, model, content, confidence, reasoning, cost, tokens, agreement}
///
/// Also required: content and confidence of a consensus and of a vote, provider of a vote and of an error, uri, message,
/// action, number. Unknown and repeated members are rejected. Times are RFC 3339. Tags are returned sorted, without duplicates.
/// URIs are returned in canonical form.
///
/// Errors: response_too_large: beyond `max_analysis_bytes`. invalid_argument: malformed JSON, invalid UTF-8, a member of a
/// wrong type or out of range ("votes[2].confidence: …"). Also two votes of a provider, a repeated URI, round numbers that do
/// not increase, and numbers in options outside the signed 64-bit range. Threads: any.
[[nodiscard]] result<analysis> decode(std::string_view json);
/// Decodes `cache_entry::to_json`, also after secrets were masked. Unlike `decode`, allows 4 KiB more for the members that the
/// store adds, any numbers in options, and equal providers or URIs. Errors: invalid_argument.
[[nodiscard]] result<analysis> decode_stored(std::string_view json);
/// Decodes a parsed value, such as a tool's argument, without a limit of its total size. `path`: prefix of member names in
/// errors; may be empty. Errors: invalid_argument.
[[nodiscard]] result<analysis> decode(const value& input, std::string_view path);
/// Decodes an object of the members prompt, options, models and context. `path` and errors: as for `decode`.
[[nodiscard]] result<model_question> decode_question(const value& input, std::string_view path);

/// Encodes an analysis as the object that `decode` describes, without empty members. `decode(encode(x)) == x` for each `x` that
/// `decode` returned.
[[nodiscard]] std::string encode(const analysis& analysis);
/// Encodes an analysis without id, status, created and expires: the form that stores contain.
[[nodiscard]] std::string encode_body(const analysis& analysis);
/// Adds id, status, created and expires to a body from `encode_body`, without parsing the body.
[[nodiscard]] std::string encode(std::string_view body, std::string_view id, analysis_status status, instant created_at,
                                 instant expires_at);

}  // namespace hondana::analyses

/// Analyses decoded from JSON and encoded as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/json/reader.hpp"
#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

/// What is taken at most. Whatever is beyond is refused with its place and the cap.
inline constexpr std::size_t most_bytes = 16u << 20;  ///< Of the whole text.
inline constexpr std::size_t most_prompt = 1u << 20;
inline constexpr std::size_t most_text = 8u << 20;      ///< Of a content, a reasoning, a message, a note.
inline constexpr std::size_t longest_provider = 128;    ///< Bytes of the name of a provider or model, of an action or a tag.
inline constexpr std::size_t longest_session = 256;     ///< Bytes.
inline constexpr std::size_t longest_basis = 8u << 10;  ///< Bytes of a URI or a version.
inline constexpr std::size_t most_votes = 64;           ///< Of the whole, and of a round.
inline constexpr std::size_t most_rounds = 64;
inline constexpr std::size_t most_steps = 4096;  ///< Of the flow; and of errors.
inline constexpr std::size_t most_models = 64;
inline constexpr std::size_t most_bases = 1024;
inline constexpr std::size_t most_tags = 64;

/// Reads one. The object:
///
///   prompt (string, required), options {}, models [string], context [{uri, version}],
///   task ("basic" | "premium" | "critical"), thresholds {confidence, consensus, providers},
///   consensus {content, confidence, reasoning}, votes [vote], rounds [{number, votes, consensus, at, milliseconds}],
///   flow [{round, provider, action, at, milliseconds, note}], errors [{provider, round, message, at}],
///   totals {cost, tokens, milliseconds}, session, tags [string], id, status, created, expires
///
///   vote: {provider, model, content, confidence, reasoning, cost, tokens, agreement}
///
/// Required besides: content and confidence of a consensus and of a vote, provider of a vote and of an error, uri, message,
/// action, number. Members that are not named here are refused, as are those that occur twice. Times are RFC 3339. Tags come
/// out sorted, each once.
///
/// Errors: invalid_argument: malformed, ill-formed UTF-8, a member of a wrong type or beyond its range ("votes[2].confidence:
/// …"), a provider with two votes, a URI twice, rounds that do not rise, in options a number that is no integer of 64 bits with
/// a sign but as large; response_too_large: beyond `most_bytes`. Threads: any.
[[nodiscard]] result<analysis> decode(std::string_view json);
/// What a store keeps, with what it adds when it tells it: a little longer, with options as they were taken before, and, as
/// masks make them, providers and URIs that are alike.
[[nodiscard]] result<analysis> decode_kept(std::string_view json);
/// The same as `decode` of a value that was parsed already, such as a tool's argument. `path` is what errors call it; may be
/// empty.
[[nodiscard]] result<analysis> decode(const value& from, std::string_view path);
/// Reads a question alone: prompt, options, models, context.
[[nodiscard]] result<question> decode_question(const value& from, std::string_view path);

/// The same object. Members that say nothing are left out; `decode(encode(x)) == x` for all that `decode` makes.
[[nodiscard]] std::string encode(const analysis& what);
/// Without id, status, created and expires: what stores keep.
[[nodiscard]] std::string encode_body(const analysis& what);
/// `encode` of a body and what the store gives: nothing of the body is read.
[[nodiscard]] std::string encode(std::string_view body, std::string_view id, status how, instant created, instant expires);

}  // namespace hondana::analyses

/// Decodes parameters that all revisions share, and encodes capabilities and errors that all revisions share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// A URI of a client in canonical form, and in the spelling for answers.
struct uri_forms {
  std::string canonical;
  std::string requested;  ///< As spelled by the client; canonical if that contains raw non-ASCII characters.
};
/// Parses a URI. `path`: its path in errors.
[[nodiscard]] json::decoded<uri_forms> parse_uri(std::string_view uri, const std::string& path);
/// Reads the array of URIs `member`; empty if it is absent. Errors: also for more than `max_count` URIs.
/// `scope`: what `max_count` applies to, for the error "at most 5 URIs SCOPE".
[[nodiscard]] json::decoded<std::vector<uri_forms>> parse_uris(const json::object& object, std::string_view member,
                                                               std::size_t max_count, std::string_view scope);

/// -32602: "Invalid params for METHOD: ERROR".
[[nodiscard]] protocol_error invalid_params(std::string_view method, const json::member_error& error);
/// -32601: "Method not found: METHOD (revision REVISION)".
[[nodiscard]] protocol_error method_not_found(std::string_view method, std::string_view revision);

/// Reads the required member `uri`.
[[nodiscard]] json::decoded<uri_forms> require_uri(const json::object& params);
/// Reads the optional member `cursor`.
[[nodiscard]] json::decoded<std::optional<std::string>> find_cursor(const json::object& params);

// These functions decode the parameters of one operation. `method`: for errors, which are those of `invalid_params`.

/// `List`: an operation whose only parameter is `cursor`.
template <class List>
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  auto cursor = find_cursor(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  return model::operation{List{std::move(*cursor)}};
}
[[nodiscard]] decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_read(std::string_view method, const json::object& params);
/// Errors: for templates, also a value of more than 8192 bytes and more than 256 variables in the context.
[[nodiscard]] decoded<model::operation> decode_complete(std::string_view method, const json::object& params);
/// Like `decode_complete`, for revisions without `context`, which is ignored.
[[nodiscard]] decoded<model::operation> decode_complete_without_context(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params);

/// Reads the optional `_meta.progressToken`.
[[nodiscard]] json::decoded<std::optional<model::token>> parse_progress_token(const json::object& params);
/// Reads the optional `_meta["dev.hondana/mounts"]`, for `request_context::mounts` (docs/mounting.md).
/// Errors: also for more than 32 ids, and for ids of more than 64 bytes.
[[nodiscard]] json::decoded<std::vector<std::string>> parse_mounts(const json::object& params);
/// Reads `traceparent` (normalized to version 00), `tracestate` and `baggage` from `_meta`, in all revisions.
/// Omits values that are malformed or too long. Spec: 2026-07-28 basic#_meta; W3C Trace Context 3.2 and 3.3, W3C Baggage.
[[nodiscard]] trace_context parse_trace(const json::object& params);
/// The method of `operation` if it needs one of the capabilities `tools`, `prompts` and `logging` and `server` lacks it.
/// Otherwise empty.
[[nodiscard]] std::string_view undeclared_method(const model::operation& operation, const model::server_info& server);
/// Checks that the description of a client or server has a name and a version.
[[nodiscard]] json::decoded<void> validate_implementation(const json::object& object);

/// Writes the capability `resources`.
void write_resources_capability(json::writer& writer, const model::server_info& server);
/// Writes those of the capabilities `tools`, `prompts` and `logging` that the server has.
void write_handler_capabilities(json::writer& writer, const model::server_info& server);
/// Writes the member `completion` of a result, with at most 100 values.
void write(json::writer& writer, const complete_result& values);

/// Makes the error for a failure. For resource_not_found and access_denied, the codec must replace the message and data, and
/// possibly the code.
[[nodiscard]] protocol_error encode_common_failure(const failure& failure);
/// Writes `{"uri":URI}`.
[[nodiscard]] std::string uri_data(std::string_view uri);

}  // namespace hondana::wire

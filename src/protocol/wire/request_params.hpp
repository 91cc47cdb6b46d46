/// Decodes the parameters that all revisions share, and encodes the errors they cause.
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

/// A URI in canonical form, and in the spelling for answers.
struct uri_forms {
  std::string canonical;
  std::string requested;
};
[[nodiscard]] json::decoded<uri_forms> parse_uri(std::string_view uri, const std::string& path);
/// Reads the array of URIs `member`, which may be absent. Errors: also for more than `max_count` URIs.
/// `scope`: what the limit applies to, for the error text.
[[nodiscard]] json::decoded<std::vector<uri_forms>> parse_uris(const json::object& object, std::string_view member,
                                                               std::size_t max_count, std::string_view scope);

/// -32602: "Invalid params for METHOD: PATH: WHAT".
[[nodiscard]] protocol_error invalid_params(std::string_view method, const json::member_error& error);
/// -32601, with the name of the method.
[[nodiscard]] protocol_error method_not_found(std::string_view method, std::string_view revision);

/// Reads the required member `uri`.
[[nodiscard]] json::decoded<uri_forms> require_uri(const json::object& params);
/// Reads the optional member `cursor`.
[[nodiscard]] json::decoded<std::optional<std::string>> find_cursor(const json::object& params);
/// Decodes the parameters of any list request: `List{cursor}`.
template <class List>
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  auto cursor = find_cursor(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  return model::operation{List{std::move(*cursor)}};
}
[[nodiscard]] decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_read(std::string_view method, const json::object& params);
/// For templates: at most 8192 bytes per value and 256 variables in the context.
[[nodiscard]] decoded<model::operation> decode_complete(std::string_view method, const json::object& params);
/// For revisions without `context`, which is ignored there.
[[nodiscard]] decoded<model::operation> decode_complete_without_context(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params);

/// Reads the optional `_meta.progressToken`.
[[nodiscard]] json::decoded<std::optional<model::token>> parse_progress_token(const json::object& params);
/// Reads the optional `_meta["dev.hondana/mounts"]`: the mounts that the request has passed through (docs/mounting.md).
/// At most 32 ids of at most 64 bytes.
[[nodiscard]] json::decoded<std::vector<std::string>> parse_mounts(const json::object& params);
/// Reads `traceparent` (normalized to version 00), `tracestate` and `baggage` of `_meta`, in all revisions.
/// Values that are malformed or too long are omitted. Spec: 2026-07-28 basic#_meta; W3C Trace Context 3.2 and 3.3, W3C Baggage.
[[nodiscard]] trace_context parse_trace(const json::object& params);
/// The method of `operation` if it needs a capability that `server` does not declare; otherwise empty.
/// Completion is not checked, because the oldest revision has no capability for it.
[[nodiscard]] std::string_view undeclared_method(const model::operation& operation, const model::server_info& server);
/// Validates `{name, version}` of a client or server. The values are not used.
[[nodiscard]] json::decoded<void> validate_implementation(const json::object& object);

/// Writes the `resources` capability.
void write_resources_capability(json::writer& writer, const model::server_info& server);
/// Writes the capabilities `tools`, `prompts` and `logging` that the server has.
void write_handler_capabilities(json::writer& writer, const model::server_info& server);
/// Writes the members of a `completion` result, without braces.
void write(json::writer& writer, const complete_result& values);

/// Encodes errors that have the same code in every revision; not-found errors are not among them.
[[nodiscard]] protocol_error encode_common_failure(const failure& failure);
/// `{"uri":URI}`.
[[nodiscard]] std::string uri_data(std::string_view uri);

}  // namespace hondana::wire

/// Decodes requests of the stateless revision, checks the HTTP headers that repeat them, and writes stream acknowledgments.
/// Spec: 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire::modern {

/// Decodes the value of an HTTP header, which is plain or `=?base64?…?=`; nullopt if it is malformed.
/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::optional<std::string> header_value(std::string_view header);

// These functions return the error `codes::header_mismatch`, with HTTP 400, if a header contradicts the body; otherwise
// nullopt. `declared`: the revision in the body.

/// Checks the revision header, if there is one.
/// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
[[nodiscard]] std::optional<protocol_error> revision_mismatch(std::string_view declared, const rpc::http_headers& headers);

/// Checks the headers for revision, method, and name or URI. Missing ones are an error, too.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
[[nodiscard]] std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                                            const rpc::http_headers& headers);

/// Checks the headers for a tool's arguments. Missing ones are an error, too. So are headers of absent arguments.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
[[nodiscard]] std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored,
                                                              const value& arguments, const rpc::http_headers& headers);

/// Decodes `subscriptions/listen`. Errors: -32602 with the path of the member, also for lists of more than `max_stream_uris`.
[[nodiscard]] decoded<model::operation> decode_listen(std::string_view method, const json::object& params);

/// The maximum number of URIs in each list of `subscriptions/listen`.
inline constexpr std::size_t max_stream_uris = 10'000;

// `stream`: the id of the request that opened a stream of changes.

/// Returns the complete first message of a stream of changes.
[[nodiscard]] std::string acknowledge(const model::subscription_filter& accepted, const rpc::request_id& stream);
/// Writes the member of `_meta` that contains the id of the stream.
void write_stream_id(json::writer& writer, const rpc::request_id& stream);
/// Writes `_meta` with only the id of the stream.
void write_stream_tag(json::writer& writer, const rpc::request_id& stream);

inline constexpr std::string_view this_revision = "2026-07-28";

/// Decodes a request with the declarations about its client in `_meta`. Errors: as `codec::decode`.
[[nodiscard]] decoded<model::request> decode_request(const rpc::request& request, const rpc::request_info& request_info);
/// -32601 with HTTP 404, for a method that this revision or this server does not have.
[[nodiscard]] protocol_error unknown_method(std::string_view method);

}  // namespace hondana::wire::modern

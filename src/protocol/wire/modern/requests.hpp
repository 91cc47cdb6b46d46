/// Requests of stateless revisions: decoding, checks against the headers that repeat them, and stream acknowledgments.
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

/// Decodes a header value, which is plain or `=?base64?...?=`; nothing when it is malformed.
/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::optional<std::string> header_value(std::string_view header);

/// The error -32020 with HTTP 400 if the revision header contradicts the body; nothing when the header is absent.
/// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
[[nodiscard]] std::optional<protocol_error> revision_mismatch(std::string_view declared, const rpc::http_headers& headers);

/// The error -32020 with HTTP 400 for the first header that contradicts the body; otherwise nothing.
/// `declared`: the revision in the body.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
[[nodiscard]] std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                                            const rpc::http_headers& headers);

/// The error -32020 with HTTP 400 for the first header that does not repeat a tool's argument; otherwise nothing.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
[[nodiscard]] std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored,
                                                              const value& arguments, const rpc::http_headers& headers);

/// Decodes `subscriptions/listen`. Errors: -32602 with the member, also for more than `max_stream_uris` URIs.
[[nodiscard]] decoded<model::operation> decode_listen(std::string_view method, const json::object& params);

inline constexpr std::size_t max_stream_uris = 10'000;

/// The complete acknowledgment message of a stream.
[[nodiscard]] std::string acknowledge(const model::subscription_filter& accepted, const rpc::request_id& stream);
/// Writes the member of `_meta` that contains the id of the stream.
void write_stream_id(json::writer& writer, const rpc::request_id& stream);
/// Writes `"_meta"` with only that member.
void write_stream_tag(json::writer& writer, const rpc::request_id& stream);

inline constexpr std::string_view this_revision = "2026-07-28";

/// Decodes a request with its declarations. Errors: as `codec::decode`.
[[nodiscard]] decoded<model::request> decode_request(const rpc::request& request, const rpc::request_info& request_info);
/// The error for a method that this revision, or this server, does not have.
[[nodiscard]] protocol_error unknown_method(std::string_view method);

}  // namespace hondana::wire::modern

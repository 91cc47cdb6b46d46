/// Requests of the stateless era: decodes them, checks the headers that repeat them, and acknowledges streams.
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

/// The value a header stands for: itself, or what its `=?base64?...?=` form encodes; nothing when it is malformed.
/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::optional<std::string> header_value(std::string_view header);

/// A revision header that says something else than the body declares, as -32020 with HTTP 400; nothing when it is absent.
/// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
[[nodiscard]] std::optional<protocol_error> revision_mismatch(std::string_view declared, const rpc::http_headers& headers);

/// The first disagreement between headers and body as -32020 with HTTP 400, or nothing. `declared` is the body's revision.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
[[nodiscard]] std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                                            const rpc::http_headers& headers);

/// The first header that does not repeat a tool's argument, as -32020 with HTTP 400, or nothing.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
[[nodiscard]] std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored,
                                                              const value& arguments, const rpc::http_headers& headers);

/// Decodes `subscriptions/listen`. Errors: -32602 naming the member; more URIs than `most_listened` are one.
[[nodiscard]] decoded<model::operation> decode_listen(std::string_view method, const json::object& params);

inline constexpr std::size_t most_listened = 10'000;  ///< URIs of one stream.

/// The acknowledgment, as a whole message.
[[nodiscard]] std::string acknowledge(const model::interests& honoured, const rpc::request_id& stream);
/// The member that names the stream, inside `_meta`.
void write_stream_id(json::writer& to, const rpc::request_id& stream);
/// `"_meta"` with that member alone.
void write_stream_tag(json::writer& to, const rpc::request_id& stream);

inline constexpr std::string_view this_revision = "2026-07-28";

/// The operation a request asks for, with what it declares of itself. Errors: as `codec::decode`.
[[nodiscard]] decoded<model::request> decode_request(const rpc::request& from, const rpc::facts& facts);
/// The error for a method that this revision, or this server, does not have.
[[nodiscard]] protocol_error unknown(std::string_view method);

}  // namespace hondana::wire::modern

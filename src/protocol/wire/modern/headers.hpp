/// Compares mirrored HTTP headers with the body they mirror.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rpc/envelope.hpp"
#include "protocol/rpc/facts.hpp"
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

}  // namespace hondana::wire::modern

/// Compares mirrored HTTP headers with the body they mirror.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rpc/envelope.hpp"
#include "rpc/facts.hpp"
#include "wire/codec.hpp"

namespace hondana::wire::modern {

/// The value a header stands for: itself, or what its `=?base64?...?=` form encodes; nothing when it is malformed.
/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::optional<std::string> header_value(std::string_view header);

/// The first disagreement between headers and body as -32020 with HTTP 400, or nothing. `declared` is the body's revision.
/// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
[[nodiscard]] std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                                            const rpc::http_headers& headers);

}  // namespace hondana::wire::modern

/// Refusals of HTTP requests that no conversation gets to see.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "protocol/rpc/facts.hpp"
#include "protocol/rpc/outlet.hpp"

namespace hondana::session {

/// The text of an error response to something that has no id: without one, or as peers of the revision in `headers` want it.
/// Spec: basic/transports#sending-messages-to-the-server (4).
[[nodiscard]] std::string error_text(int http_status, std::string_view why,
                                     const std::optional<rpc::http_headers>& headers = std::nullopt);
/// The same of a failure, with what it says of trying again.
[[nodiscard]] std::string error_text(const failure& why, const std::optional<rpc::http_headers>& headers);
/// The first as a delivery, written as peers of the revision in `headers` want it.
[[nodiscard]] rpc::delivery refuse(int http_status, std::string_view why, const rpc::http_headers& headers);

/// Why a request of any kind cannot be taken: its version header names no revision of ours.
[[nodiscard]] std::optional<rpc::delivery> refuse_version(const rpc::http_headers& headers);
/// Whether a message stands for itself, whatever session its headers name.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;

}  // namespace hondana::session

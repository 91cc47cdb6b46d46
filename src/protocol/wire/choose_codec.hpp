/// Chooses the protocol revision for each message. Only this file handles both legacy and stateless revisions.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// The negotiated revision. Legacy clients set it by `initialize`; stateless clients never do.
struct negotiation {
  const codec* revision = nullptr;
};

/// The codec for a request, or the error if there is none.
[[nodiscard]] decoded<const codec*> choose_codec(const rpc::request& request, const rpc::request_info& request_info,
                                                 const negotiation& negotiation);
/// The codec for a notification. Notifications get no error answers, so an uncertain revision is guessed.
/// An HTTP request is only rejected when its header names an unknown revision, or when it needs a session and has none.
[[nodiscard]] decoded<const codec*> choose_codec(const rpc::notification& notification, const rpc::request_info& request_info,
                                                 const negotiation& negotiation);
/// The error for an HTTP message whose version header names an unknown revision or which lacks a required session.
[[nodiscard]] std::optional<protocol_error> reject_header(const rpc::request_info& request_info,
                                                          const negotiation& negotiation);
/// The error for an HTTP request whose version header names an unknown revision.
[[nodiscard]] std::optional<protocol_error> reject_version(const rpc::http_headers& headers);
/// Whether a message needs no session, even if its headers name one.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;
/// The codec that decides how errors about an unreadable message are written.
[[nodiscard]] const codec& choose_for_unreadable(const rpc::request_info& request_info, const negotiation& negotiation);

/// Records the revision that a successful `initialize` has negotiated.
void record_negotiation(negotiation& negotiation, const codec& revision) noexcept;

/// `{"jsonrpc":"2.0","id":ID,"result":` + result + `}`.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, rpc::body result);
/// The same for a result that is text.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, std::string_view result);
/// An error response. `codec` determines how it is written without an id.
[[nodiscard]] std::string wrap_error(const std::optional<rpc::request_id>& id, const protocol_error& error, const codec& codec);
/// A `notifications/progress`.
[[nodiscard]] std::string progress_notification(const model::token& token, const progress& progress);

/// Cancels a request. In stateless revisions over stdio, the server uses it to end a client's stream of changes.
[[nodiscard]] std::string cancelled_notification(const rpc::request_id& id, std::string_view reason);

/// The supported revisions without and with sessions, newest first.
[[nodiscard]] std::span<const std::string_view> modern_revisions() noexcept;
[[nodiscard]] std::span<const std::string_view> session_revisions() noexcept;

}  // namespace hondana::wire

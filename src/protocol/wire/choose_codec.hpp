/// Chooses the codec for each message, and adds the parts of messages that are the same in all revisions.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// The revision that a session has negotiated by `initialize`. `revision`: null before that, and always for stateless clients.
struct negotiation {
  const codec* revision = nullptr;
};

/// Chooses the codec for a request. Errors: its revision is malformed, unknown, or contradicted by a header. Also a repeated
/// `initialize`, and an HTTP request that needs a session and has none.
[[nodiscard]] decoded<const codec*> choose_codec(const rpc::request& request, const rpc::request_info& request_info,
                                                 const negotiation& negotiation);
/// Chooses the codec for a notification, and guesses if the revision is uncertain.
/// Errors, only over HTTP: the version header names an unknown revision, or the notification needs a session and has none.
[[nodiscard]] decoded<const codec*> choose_codec(const rpc::notification& notification, const rpc::request_info& request_info,
                                                 const negotiation& negotiation);
/// Returns an error for an HTTP message whose version header names an unknown revision, or which needs a session and has none.
/// Otherwise nullopt. For messages that cannot declare a revision in the body, such as answers.
[[nodiscard]] std::optional<protocol_error> reject_header(const rpc::request_info& request_info,
                                                          const negotiation& negotiation);
/// Returns an error for an HTTP request whose version header names an unknown revision; otherwise nullopt.
[[nodiscard]] std::optional<protocol_error> reject_version(const rpc::http_headers& headers);
/// Whether the version header names a stateless revision. The message then needs no session, even if its headers name one.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;
/// Chooses the codec for `wrap_error` about a message that is unreadable or has no codec.
[[nodiscard]] const codec& choose_for_unreadable(const rpc::request_info& request_info, const negotiation& negotiation);

/// Records the revision that a successful `initialize` has negotiated.
void record_negotiation(negotiation& negotiation, const codec& revision) noexcept;

/// Makes the complete answer `{"jsonrpc":"2.0","id":ID,"result":RESULT}`.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, rpc::body result);
/// Makes the complete answer `{"jsonrpc":"2.0","id":ID,"result":RESULT}`. `result`: JSON.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, std::string_view result);
/// Makes a complete error answer. `id`: nullopt: unknown; `codec::writes_null_ids` then decides how the answer begins.
[[nodiscard]] std::string wrap_error(const std::optional<rpc::request_id>& id, const protocol_error& error, const codec& codec);
/// Makes a complete `notifications/progress`.
[[nodiscard]] std::string progress_notification(const model::token& token, const progress& progress);

/// Makes a complete `notifications/cancelled`, with which a client cancels its request.
/// A server sends it to end a client's stream of changes, except over HTTP.
[[nodiscard]] std::string cancelled_notification(const rpc::request_id& id, std::string_view reason);

/// The supported stateless revisions, newest first.
[[nodiscard]] std::span<const std::string_view> modern_revisions() noexcept;
/// The supported legacy revisions, newest first.
[[nodiscard]] std::span<const std::string_view> session_revisions() noexcept;

}  // namespace hondana::wire

/// Chooses the era and revision of each message. Only this file knows both eras.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// What a peer has settled so far. Legacy peers settle a revision by `initialize`; modern ones never settle anything.
struct conversation {
  const codec* settled = nullptr;
};

/// The codec for one request, or why there is none.
[[nodiscard]] decoded<const codec*> choose(const rpc::request& request, const rpc::facts& facts, const conversation& with);
/// The codec for a notification. A notification has no error answer, so the best guess is taken; only an HTTP request is
/// refused, whatever it carries, when its header names a revision that nobody has or it needs a session and has none.
[[nodiscard]] decoded<const codec*> choose(const rpc::notification& notification, const rpc::facts& facts,
                                           const conversation& with);
/// Why a message of any shape cannot be taken: its version header names no revision of ours, or it needs a session.
[[nodiscard]] std::optional<protocol_error> refuse_header(const rpc::facts& facts, const conversation& with);
/// Why a request of any kind cannot be taken: its version header names no revision of ours.
[[nodiscard]] std::optional<protocol_error> refuse_version(const rpc::http_headers& headers);
/// Whether a message stands for itself, whatever session its headers name.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;
/// The codec whose manners apply to a message that could not be read.
[[nodiscard]] const codec& choose_for_unreadable(const rpc::facts& facts, const conversation& with);

/// Records what an accepted `initialize` settled.
void settle(conversation& with, const codec& revision) noexcept;

/// `{"jsonrpc":"2.0","id":ID,"result":` + result + `}`.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, rpc::body result);
/// The same of a result that is written.
[[nodiscard]] rpc::body wrap_result(const rpc::request_id& id, std::string_view result);
/// An error response; without an id it is written as `manners` wants.
[[nodiscard]] std::string wrap_error(const std::optional<rpc::request_id>& id, const protocol_error& error,
                                     const codec& manners);
/// A `notifications/progress`.
[[nodiscard]] std::string progress_notification(const model::token& token, const progress& now);

/// Our withdrawal of a request of the peer's, which in the stateless era ends a stream of changes over stdio.
[[nodiscard]] std::string cancelled_notification(const rpc::request_id& id, std::string_view reason);

/// Revisions of ours, the newest first: those without sessions, and those with.
[[nodiscard]] std::span<const std::string_view> modern_revisions() noexcept;
[[nodiscard]] std::span<const std::string_view> session_revisions() noexcept;

}  // namespace hondana::wire

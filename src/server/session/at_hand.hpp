/// Reads and pages that are answered in the call that asks for them.
#pragma once

#include <optional>

#include <hondana/provider.hpp>

#include "protocol/model/operation.hpp"
#include "protocol/rpc/envelope.hpp"
#include "protocol/rpc/outlet.hpp"
#include "protocol/wire/codec.hpp"
#include "server/session/kept_pages.hpp"
#include "server/session/known_requests.hpp"

namespace hondana::session {

struct context;

/// The answer to a request that has been admitted, when it is a read and nothing has to be waited for; nothing: it goes the
/// long way. `who` has its view by the present rules. `known` (null: nowhere) is where what is written may be found again, and
/// is kept. What is thrown on the way, such as no memory for it, is an internal error.
[[nodiscard]] std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                                          const rpc::request_id& id, const wire::codec& codec,
                                                          const known_requests::found& known);

/// The same of a page that is kept; nothing when there is none that holds.
[[nodiscard]] std::optional<rpc::delivery> page_at_hand(const page_key& wanted, const context& with, const rpc::request_id& id);

}  // namespace hondana::session

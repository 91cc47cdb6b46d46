/// Reads that are answered in the call that brings them.
#pragma once

#include <optional>

#include <hondana/provider.hpp>

#include "model/operation.hpp"
#include "rpc/envelope.hpp"
#include "rpc/outlet.hpp"
#include "wire/codec.hpp"

namespace hondana::session {

struct context;

/// The answer to a request that has been admitted, when it is a read and nothing has to be waited for; nothing: it goes the
/// long way. `who` has its view by the present rules. What is thrown on the way, such as no memory for it, is an internal
/// error.
[[nodiscard]] std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                                          const rpc::request_id& id, const wire::codec& codec);

}  // namespace hondana::session

/// Hands decoded operations to whoever does them.
#pragma once

#include <memory>

#include "server/session/pending.hpp"
#include "server/session/rounds.hpp"

namespace hondana::session {

/// Does `what` and answers through `of`, exactly once, now or later.
void perform(std::shared_ptr<pending> of, const call& by, const rpc::facts& facts, model::operation what,
             const surroundings& around);

}  // namespace hondana::session

/// One message on its way through a session.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "session/exchange.hpp"
#include "session/session.hpp"

namespace hondana::session {

struct session::incoming {
  const rpc::facts& facts;
  std::shared_ptr<exchange> answers;
  std::size_t slot;
  bool in_batch;

  void answer(rpc::delivery what) const { answers->fill(slot, std::move(what)); }
};

}  // namespace hondana::session

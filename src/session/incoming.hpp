/// One message on its way through a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "session/ending.hpp"
#include "session/exchange.hpp"
#include "session/known_requests.hpp"
#include "session/session.hpp"

namespace hondana::session {

struct session::incoming {
  const rpc::facts& facts;
  std::shared_ptr<exchange> answers;
  std::size_t slot;
  bool in_batch;
  std::string_view text{};  // of a message by itself

  void answer(rpc::delivery what) const { answers->fill(slot, std::move(what)); }
};

struct session::admission {
  std::shared_ptr<const context> with;
  caller who;                   // with its view by the present rules
  std::shared_ptr<ending> end;  // null: nobody wants to know
  result<void> outcome;
};

/// A read that came before and was decided about, but is not at hand.
struct known_read {
  std::shared_ptr<const decoded_read> meaning;
  std::int64_t id;
  const wire::codec& manners;
  session::admission granted;
};

}  // namespace hondana::session

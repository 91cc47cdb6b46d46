/// One message on its way through a session.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/tracing/tracer.hpp"
#include "server/session/ending.hpp"
#include "server/session/exchange.hpp"
#include "server/session/known_requests.hpp"
#include "server/session/session.hpp"

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
  std::shared_ptr<tracing::live_span> span{};  // null: it is not traced
  std::chrono::steady_clock::time_point since = monotonic_clock::now();
};

/// A request that came before and was decided about, but whose answer is not at hand.
struct known_request {
  std::shared_ptr<const decoded_request> meaning;
  std::int64_t id;
  const wire::codec& manners;
  session::admission granted;
  std::optional<page_key> page{};
};

}  // namespace hondana::session

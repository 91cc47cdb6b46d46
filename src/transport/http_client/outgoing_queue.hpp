/// How messages get from any thread to the loop, as far as there is room.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "protocol/channel/channel.hpp"
#include "transport/http_client/conversation.hpp"
#include "transport/http_client/loop.hpp"

namespace hondana::transport::http_client {

/// Calls `start` with `message` on the loop's thread; its bytes count as queued until somebody takes them off
/// `conversation::queued_bytes`. Where there is no room for them, the call ends as overloaded. Threads: any.
template <class Start>
void enqueue(loop& within, conversation& in, channel::outgoing message, Start start) {
  if (in.is_closed) return;
  const auto size = message.text.size();
  if (in.queued_bytes.fetch_add(size) + size > in.most.queued_bytes) {
    in.queued_bytes -= size;
    within.post([&in, call = message.call] {
      channel::ending how;
      how.why = {errc::overloaded,
                 "more than " + std::to_string(in.most.queued_bytes) +
                     " bytes are waiting to be sent to the server; send less at once or retry later",
                 {},
                 nullptr};
      if (call == 0) in.log("a message was lost: " + how.why.public_text);
      if (call != 0) in.ended(call, std::move(how));
    });
    return;
  }
  // A std::function must be copyable, a message need not be copied.
  auto held = std::make_shared<channel::outgoing>(std::move(message));
  if (!within.post([held, start = std::move(start)] { start(std::move(*held)); })) in.queued_bytes -= size;
}

}  // namespace hondana::transport::http_client

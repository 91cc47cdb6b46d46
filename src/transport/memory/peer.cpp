/// The in-process peer: whole messages.
#include <hondana/server.hpp>

#include <utility>

#include "protocol/rpc/blocking_pull.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "transport/memory/mailbox.hpp"

namespace hondana::inline v0 {

struct memory_peer::state {
  std::shared_ptr<session::session> conversation;
  std::shared_ptr<transport::mailbox> inbox = std::make_shared<transport::mailbox>();
  rpc::facts facts;
};

memory_peer::memory_peer(server& server) : state_(std::make_unique<state>()) {
  state_->conversation = session::session::open(server.engine());
  state_->facts.who.identity = "local";
  state_->inbox->follow(state_->conversation->standing());
}

memory_peer::~memory_peer() { state_->conversation->close(); }

void memory_peer::send(std::string_view message) { state_->conversation->receive(message, state_->facts, state_->inbox); }

std::optional<std::string> memory_peer::receive(std::chrono::steady_clock::time_point deadline) {
  const auto message = state_->inbox->take(deadline);
  if (!message) return {};
  std::string text;
  for (;;) {
    const auto more = rpc::pull_until(message, text, deadline);
    if (!more) {  // cut off, as every transport does with a message it cannot complete
      message->sent_for().tell(rpc::departure::cut);
      return {};
    }
    if (!*more) {
      message->sent_for().tell(rpc::departure::sent);
      return text;
    }
  }
}

}  // namespace hondana::inline v0

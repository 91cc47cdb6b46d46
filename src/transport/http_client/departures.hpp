/// Which messages go to the server now, and which wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>

#include "protocol/channel/channel.hpp"
#include "transport/http_client/conversation.hpp"
#include "transport/http_client/loop.hpp"

namespace hondana::transport::http_client {

/// At most 32 requests are with the server at once, subscriptions not counted. Notifications and answers never wait, since a
/// request under way may be waiting for them; but requests do wait until the server has taken the first notification after
/// the opening, without which some servers refuse them. Threads: the loop's.
class departures {
 public:
  /// Names a message that has gone: a call's is its number, the others' are above all calls.
  using name = std::uint64_t;
  static constexpr name first_other = name{1} << 63U;
  /// A server that does not answer a notification holds nobody up for longer.
  static constexpr std::chrono::milliseconds longest_notice{2'000};

  /// `go` begins a message; not called from inside a transfer.
  departures(loop& within, conversation& in, std::function<void(name, channel::outgoing)> go);
  ~departures();
  departures(const departures&) = delete;
  departures& operator=(const departures&) = delete;

  /// Lets it go, now or later.
  void add(channel::outgoing message);
  /// The server has no more to do with it. May be called from inside a transfer.
  void answered(name of);
  /// True when it was the notification that others wait for.
  bool over(name of);
  /// Forgets one that waits.
  void drop(channel::call_id call);
  /// Forgets all that wait, and those that have gone.
  void clear();
  /// The server has taken a notification since the last opening.
  [[nodiscard]] bool has_notified() const noexcept { return state_ == notice_state::taken; }

 private:
  enum class notice_state : std::uint8_t { none, opening, taken };

  void let_go(channel::outgoing message);
  void let_waiting_go();
  void soon();

  loop& loop_;
  conversation& in_;
  std::function<void(name, channel::outgoing)> go_;
  std::deque<channel::outgoing> waiting_;
  std::unordered_set<name> busy_;
  name others_ = 0;
  notice_state state_ = notice_state::none;
  std::optional<name> notice_;  // under way, and others wait for it
  std::optional<loop::timer> patience_;
  std::optional<loop::timer> soon_;
};

}  // namespace hondana::transport::http_client

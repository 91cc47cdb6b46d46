/// Where messages to a peer go, and how a transport is to send them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor/batching.hpp"
#include "protocol/rpc/message_body.hpp"

namespace hondana::rpc {

/// What a transport is to do with the answer to one message it handed in.
struct delivery {
  int http_status = 200;        ///< Obeyed by HTTP, ignored elsewhere.
  std::optional<body> content;  ///< Absent: nothing is sent (HTTP: an empty body).
  /// This answers the accepted handshake of a peer that keeps a session: a transport without lasting connections mints an id,
  /// sends it with the answer, and hands the peer's further messages to the same session.
  bool opens_session = false;
  /// With `opens_session`: peers of this session take an event without data, and come back for the rest of a stream whose
  /// connection is closed on purpose. Spec: 2025-11-25 basic/transports#sending-messages-to-the-server.
  bool may_poll = false;
  /// What was asked needs these scopes, which the caller has not proved. HTTP adds a challenge that names them. Null: no matter
  /// of scopes. Spec: basic/authorization#runtime-insufficient-scope-errors.
  std::shared_ptr<const std::vector<std::string>> scopes{};
  /// After how long asking again may succeed. HTTP says so in a header, unless the answer is an event.
  std::optional<std::chrono::milliseconds> retry{};
  /// The code of the JSON-RPC error that this is; 0: a result, a batch, or nothing.
  int error = 0;
};

/// What a transport has done with a message that is no answer.
enum class sending {
  taken,    ///< It goes out, unless the peer leaves first.
  no_way,   ///< This peer takes an answer here and nothing before it.
  no_room,  ///< Dropped: too much waits for this peer or for all of them, or the message alone is too long.
  gone,     ///< Nobody is there any more to take it.
};

/// Who sends what a source has. Threads: any.
class follower {
 public:
  follower() = default;
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;
  virtual ~follower() = default;
  /// There is something to send. Takes a note and returns: nothing is asked of whoever calls.
  virtual void wake() = 0;
};

/// Begins to bring a follower into the cache, which may have gone.
inline void fetch(const follower* who) noexcept {
  struct memory {
    char bytes[512];
  };
  executor::fetch(reinterpret_cast<const memory*>(who));
}

/// Messages that are made when there is room for them; until then whoever makes them keeps coalesced state, not a queue.
///
/// Threads: any. One transport stream follows a source at a time.
class message_source {
 public:
  message_source() = default;
  message_source(const message_source&) = delete;
  message_source& operator=(const message_source&) = delete;
  virtual ~message_source() = default;

  /// The next message, without its framing. Nothing: there is none now, and the follower is woken once there is one again.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// The same, telling also whether asking again may bring another; when not, that counts as having had nothing.
  [[nodiscard]] virtual std::optional<std::string> next_of(bool& has_more) {
    auto made = next();
    has_more = made.has_value();
    return made;
  }
  /// From now on `who` is woken, from any thread and once, when `next` has something again after it had nothing; at once when
  /// it has something now. Empty: nobody follows any more. Replaces the follower before.
  virtual void follow(std::weak_ptr<follower> who) = 0;
  /// Nothing will come any more: whoever follows may let go.
  [[nodiscard]] virtual bool has_ended() const = 0;
};

/// Where the messages about one received message go; made by a transport.
///
/// Threads: any, also several at once. Messages are sent in the order of the calls.
class outlet {
 public:
  outlet() = default;
  outlet(const outlet&) = delete;
  outlet& operator=(const outlet&) = delete;
  virtual ~outlet() = default;

  /// Called exactly once for every message received with this outlet, last.
  virtual void answer(delivery what) = 0;
  /// A notification or a request of ours that belongs to a request under way. Anything but `taken`: it has been dropped, which
  /// matters to whoever waits for a response to it.
  virtual sending send(std::string message) = 0;
  /// Sends what `from` has, whenever there is room, until it has ended or the peer has gone. Over HTTP the answer is an event
  /// stream from here on.
  virtual void follow(std::shared_ptr<message_source> from) = 0;
  /// Where sources that are followed here had best make their messages: the thread that sends them. Empty: anywhere.
  [[nodiscard]] virtual std::shared_ptr<executor::turns> place() const { return nullptr; }
  /// Closes the connection that waits for this answer, where the peer knows to come back for it after `retry`; does nothing
  /// anywhere else.
  virtual void release(std::chrono::milliseconds retry) { (void)retry; }
};

}  // namespace hondana::rpc

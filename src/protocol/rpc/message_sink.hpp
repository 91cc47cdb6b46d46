/// Where messages to a client go, and how a transport sends them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor/batching.hpp"
#include "protocol/rpc/message_body.hpp"

namespace hondana::rpc {

/// What a transport must do with the answer to one received message.
struct delivery {
  int http_status = 200;        ///< Used by HTTP, ignored by other transports.
  std::optional<body> content;  ///< Absent: nothing is sent (HTTP: an empty body).
  /// This answers a successful handshake that opens a session.
  /// A transport without lasting connections creates a session id, sends it with the answer, and routes later messages with
  /// that id to the same session.
  bool opens_session = false;
  /// With `opens_session`: clients of this session support polling.
  /// They accept an event without data, and reconnect for the rest of a stream whose connection was closed on purpose.
  /// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server.
  bool may_poll = false;
  /// The request needs these scopes, which the caller lacks. HTTP adds a challenge that names them. Null: not a matter of
  /// scopes.
  /// Spec: basic/authorization#runtime-insufficient-scope-errors.
  std::shared_ptr<const std::vector<std::string>> scopes{};
  /// When a retry may succeed. HTTP sends it in a header, unless the answer is an event.
  std::optional<std::chrono::milliseconds> retry{};
  /// The code of the JSON-RPC error; 0: a result, a batch, or nothing.
  int error = 0;
};

/// What a transport has done with a message that is not an answer.
enum class sending {
  taken,    ///< It will be sent, unless the client disconnects first.
  no_way,   ///< This client accepts only an answer here, and no other message.
  no_room,  ///< Dropped: too much data waits for this client or for all clients, or the message is too long.
  gone,     ///< The client is disconnected.
};

/// The sender of a source's messages. Threads: any.
class follower {
 public:
  follower() = default;
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;
  virtual ~follower() = default;
  /// The source has a message to send. Must only record this and return.
  virtual void wake() = 0;
};

/// Prefetches a follower into the CPU cache. The pointer may be dangling.
inline void fetch(const follower* who) noexcept {
  struct memory {
    char bytes[512];
  };
  executor::fetch(reinterpret_cast<const memory*>(who));
}

/// Creates messages when the transport can send them. Until then it stores coalesced state and not a queue.
///
/// Threads: any. One transport stream follows a source at a time.
class message_source {
 public:
  message_source() = default;
  message_source(const message_source&) = delete;
  message_source& operator=(const message_source&) = delete;
  virtual ~message_source() = default;

  /// The next message, without framing. Nothing: there is none now, and the follower is woken when there is one.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// The same. `has_more`: whether another call may return a message. If false, the source counts as empty, as after nothing.
  [[nodiscard]] virtual std::optional<std::string> next_of(bool& has_more) {
    auto made = next();
    has_more = made.has_value();
    return made;
  }
  /// Registers the follower, which replaces the previous one. Empty: none.
  /// The follower is woken once, from any thread, when an empty source has a message again; immediately if it has one now.
  virtual void follow(std::weak_ptr<follower> who) = 0;
  /// Whether the source will never have messages again, so that the follower can release it.
  [[nodiscard]] virtual bool has_ended() const = 0;
};

/// Receives the messages that belong to one received message. Implemented by transports.
///
/// Threads: any, also several at once. Messages are sent in the order of the calls.
class outlet {
 public:
  outlet() = default;
  outlet(const outlet&) = delete;
  outlet& operator=(const outlet&) = delete;
  virtual ~outlet() = default;

  /// Sends the answer. Must be called exactly once for each received message, as the last call.
  virtual void answer(delivery what) = 0;
  /// Sends a notification or request that belongs to a pending request.
  /// Any result but `taken` means that it was dropped; a caller that expects a response to it must handle that.
  virtual sending send(std::string message) = 0;
  /// Sends the messages of `from` until it ends or the client disconnects. Over HTTP, the answer becomes an event stream.
  virtual void follow(std::shared_ptr<message_source> from) = 0;
  /// The thread on which followed sources should create their messages, which also sends them. Null: any thread.
  [[nodiscard]] virtual std::shared_ptr<executor::turns> place() const { return nullptr; }
  /// Closes the connection that waits for this answer, if the client supports reconnecting for it after `retry`. Otherwise does
  /// nothing.
  virtual void release(std::chrono::milliseconds retry) { (void)retry; }
};

}  // namespace hondana::rpc

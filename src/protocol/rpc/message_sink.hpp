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
struct outgoing_response {
  int http_status = 200;        ///< Used by HTTP, ignored by other transports.
  std::optional<body> content;  ///< Absent: nothing is sent (HTTP: an empty body).
  /// This answers a successful handshake that opens a session.
  /// A transport without lasting connections creates a session id, sends it with the answer, and routes later messages with
  /// that id to the same session.
  bool opens_session = false;
  /// With `opens_session`: clients of this session support polling.
  /// They accept an event without data, and reconnect for the rest of a stream whose connection was closed on purpose.
  /// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server.
  bool supports_polling = false;
  /// The request needs these scopes, which the caller lacks. HTTP adds a challenge that names them. Null: not a matter of
  /// scopes.
  /// Spec: basic/authorization#runtime-insufficient-scope-errors.
  std::shared_ptr<const std::vector<std::string>> required_scopes{};
  /// When a retry may succeed. HTTP sends it in a header, unless the answer is an event.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// The code of the JSON-RPC error; 0: a result, a batch, or nothing.
  int error_code = 0;
};

/// What a transport has done with a message that is not an answer.
enum class send_outcome {
  accepted,      ///< It will be sent, unless the client disconnects first.
  unsupported,   ///< This client accepts only an answer here, and no other message.
  no_capacity,   ///< Dropped: too much data waits for this client or for all clients, or the message is too long.
  disconnected,  ///< The client is disconnected.
};

/// The sender of a source's messages. Threads: any.
class source_listener {
 public:
  source_listener() = default;
  source_listener(const source_listener&) = delete;
  source_listener& operator=(const source_listener&) = delete;
  virtual ~source_listener() = default;
  /// The source has a message to send. Must only record this and return.
  virtual void notify() = 0;
};

/// Prefetches a listener into the CPU cache. The pointer may be dangling.
inline void prefetch(const source_listener* listener) noexcept {
  struct memory {
    char bytes[512];
  };
  executor::prefetch(reinterpret_cast<const memory*>(listener));
}

/// Creates messages when the transport can send them. Until then it stores coalesced state and not a queue.
///
/// Threads: any. One transport stream sends the messages of a source at a time.
class message_source {
 public:
  message_source() = default;
  message_source(const message_source&) = delete;
  message_source& operator=(const message_source&) = delete;
  virtual ~message_source() = default;

  /// The next message, without framing. Nothing: there is none now, and the listener is notified when there is one.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// The same. `has_more`: whether another call may return a message. If false, the source counts as empty, as after nothing.
  [[nodiscard]] virtual std::optional<std::string> take_next(bool& has_more) {
    auto next_message = next();
    has_more = next_message.has_value();
    return next_message;
  }
  /// Registers the listener, which replaces the previous one. Empty: none.
  /// The listener is notified once, from any thread, when an empty source has a message again; immediately if it has one now.
  virtual void set_listener(std::weak_ptr<source_listener> listener) = 0;
  /// Whether the source will never have messages again, so that the listener can release it.
  [[nodiscard]] virtual bool is_finished() const = 0;
};

/// Receives the messages that belong to one received message. Implemented by transports.
///
/// Threads: any, also several at once. Messages are sent in the order of the calls.
class response_writer {
 public:
  response_writer() = default;
  response_writer(const response_writer&) = delete;
  response_writer& operator=(const response_writer&) = delete;
  virtual ~response_writer() = default;

  /// Sends the answer. Must be called exactly once for each received message, as the last call.
  virtual void answer(outgoing_response response) = 0;
  /// Sends a notification or request that belongs to a pending request.
  /// Any result but `accepted` means that it was dropped; a caller that expects a response to it must handle that.
  virtual send_outcome send(std::string message) = 0;
  /// Sends the messages of `source` until it ends or the client disconnects. Over HTTP, the answer becomes an event stream.
  virtual void stream(std::shared_ptr<message_source> source) = 0;
  /// The thread on which streamed sources should create their messages, which also sends them. Null: any thread.
  [[nodiscard]] virtual std::shared_ptr<executor::step_executor> preferred_executor() const { return nullptr; }
  /// Closes the connection that waits for this answer, if the client supports reconnecting for it after `retry_after`.
  /// Otherwise does nothing.
  virtual void release(std::chrono::milliseconds retry_after) { (void)retry_after; }
};

}  // namespace hondana::rpc

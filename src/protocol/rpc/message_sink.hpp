/// The interfaces through which a session sends messages to its client. Transports implement them.
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
  /// The request was rejected because it needs these scopes. HTTP adds a challenge that names them. Null: not rejected for
  /// that. Spec: basic/authorization#runtime-insufficient-scope-errors.
  std::shared_ptr<const std::vector<std::string>> required_scopes{};
  /// When a retry may succeed. HTTP sends it in a header, unless the answer is an event.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// The code of the JSON-RPC error; 0: a result, a batch, or nothing.
  int error_code = 0;
};

/// What a transport has done with a message that is not an answer.
enum class send_outcome {
  accepted,      ///< It will be sent, unless the client disconnects first.
  unsupported,   ///< Dropped: this client accepts only an answer here, and no other message.
  no_capacity,   ///< Dropped: too much data waits for this client or for all clients, or the message is too long.
  disconnected,  ///< Dropped: the client is disconnected.
};

/// Is notified when a `message_source` has messages. Implemented by the object that sends them. Threads: any.
class source_listener {
 public:
  source_listener() = default;
  source_listener(const source_listener&) = delete;
  source_listener& operator=(const source_listener&) = delete;
  virtual ~source_listener() = default;
  /// The source has a message to send. Implementations must only record this and return.
  virtual void notify() = 0;
};

/// Prefetches a listener into the CPU cache. The pointer may be dangling.
inline void prefetch(const source_listener* listener) noexcept {
  struct memory {
    char bytes[512];
  };
  executor::prefetch(reinterpret_cast<const memory*>(listener));
}

/// Creates messages when the transport can send them. Until then, it records what has changed, and does not queue messages.
///
/// Threads: any. Only one sender at a time takes the messages of a source.
class message_source {
 public:
  message_source() = default;
  message_source(const message_source&) = delete;
  message_source& operator=(const message_source&) = delete;
  virtual ~message_source() = default;

  /// Takes the next message, a JSON text. nullopt: the source is empty, and notifies its listener when it has a message again.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// Takes the next message, like `next`. Sets `has_more` to false if the source is empty after it, even if it returns a
  /// message; the source then notifies its listener.
  [[nodiscard]] virtual std::optional<std::string> take_next(bool& has_more) {
    auto next_message = next();
    has_more = next_message.has_value();
    return next_message;
  }
  /// Sets the listener, which replaces the previous one. Empty: none.
  /// The listener is notified once, from any thread, when an empty source has a message again; immediately if it has one now.
  virtual void set_listener(std::weak_ptr<source_listener> listener) = 0;
  /// Whether the source will never have messages again, so that the sender can release it.
  [[nodiscard]] virtual bool is_finished() const = 0;
};

/// Sends the answer to one received message, and other messages that belong to it. Implemented by transports.
///
/// Threads: any, also several at once. Messages are sent in the order of the calls.
class response_writer {
 public:
  response_writer() = default;
  response_writer(const response_writer&) = delete;
  response_writer& operator=(const response_writer&) = delete;
  virtual ~response_writer() = default;

  /// Sends the answer. The session must call it exactly once for each received message, as the last call.
  virtual void answer(outgoing_response response) = 0;
  /// Sends a notification or request that belongs to the received request, before its answer.
  virtual send_outcome send(std::string message) = 0;
  /// Sends the messages of `source` until it is finished or the client disconnects. Over HTTP, in an event stream.
  virtual void stream(std::shared_ptr<message_source> source) = 0;
  /// The thread that sends the messages of streamed sources, on which the sources should also create them. Null: any thread.
  [[nodiscard]] virtual std::shared_ptr<executor::step_executor> preferred_executor() const { return nullptr; }
  /// Closes the connection that waits for the answer, if the client can reconnect for it after `retry_after`.
  /// Otherwise does nothing.
  virtual void release(std::chrono::milliseconds retry_after) { (void)retry_after; }
};

}  // namespace hondana::rpc

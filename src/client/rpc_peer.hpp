/// Sends requests over a channel, and matches the answers to them, with timeouts and cancellation.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "base/json/reader.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/wire/asking/server_messages.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;
using clock = monotonic_clock;

/// The result of a request, with the JSON document that owns it.
struct rpc_response {
  json::document document;
  json::value result;
  std::size_t bytes = 0;  ///< Size of the message.
};

/// Receives messages that are not answers, and changes of the connection. Threads: the channel's, one call at a time; must not
/// block.
class peer_listener {
 public:
  peer_listener() = default;
  peer_listener(const peer_listener&) = delete;
  peer_listener& operator=(const peer_listener&) = delete;
  virtual ~peer_listener() = default;
  /// A notification arrived, except progress. `bytes`: size of the message.
  virtual void on_notification(asking::server_notification notification, std::size_t bytes) = 0;
  /// A request of the server arrived. Only legacy servers may send them. `bytes`: size of the message.
  virtual void on_request(const rpc::request& request, std::size_t bytes) = 0;
  /// A subscription ended that `rpc_peer::subscribe` started. `reason`: nullopt if the server answered it normally.
  virtual void on_subscription_end(channel::call_id id, std::optional<failure> reason) = 0;
  /// The connection broke, or the server ended the session.
  virtual void on_disconnect(const failure& reason) = 0;
  /// The stream of notifications was interrupted, so some may have been missed. The session continues.
  virtual void on_interruption() = 0;
  /// Receives one line for the application's log.
  virtual void log_line(const std::string& line) = 0;
};

/// How to send one request, besides its text.
struct outgoing_request {
  std::string method{};  ///< For error messages.
  std::string target{};  ///< The requested URI or name, for error messages; may be empty.
  std::vector<std::pair<std::string, std::string>> headers{};
  channel::content_sink content{};  ///< Receives contents as they arrive. Empty: they are in the result.
  bool is_opening = false;          ///< The request is `initialize`.
  /// Send `notifications/cancelled` after a timeout or cancellation.
  bool notifies_cancellation = true;
  std::chrono::milliseconds timeout{30'000};  ///< Used if `call_options::timeout` is not set.
};

/// Sends requests over a channel, and waits for their answers. Threads: any.
class rpc_peer final : public channel::channel_listener {
 public:
  /// `listener` must outlive this object. `max_calls`: limit of pending calls and subscriptions. `on_message`: see
  /// `client_options`; may be empty.
  rpc_peer(peer_listener& listener, std::size_t max_calls, std::function<void(message_direction, std::string_view)> on_message);
  ~rpc_peer() override;

  /// Sets the channel, and closes the previous one. Must be called before any function that sends.
  void set_channel(std::unique_ptr<channel::channel> replacement);
  /// Returns the channel. Null before the first `set_channel`.
  [[nodiscard]] std::shared_ptr<channel::channel> current_channel() const;

  /// Returns a new id for a request.
  [[nodiscard]] channel::call_id next_id();
  /// Sends a request and waits for its answer. `text`: the message, with this `id`. Errors: those of `client`.
  [[nodiscard]] result<rpc_response> send_request(channel::call_id id, std::string text, const outgoing_request& outgoing,
                                                  const call_options& options);
  /// Sends the request of a subscription, without waiting for an answer. `peer_listener::on_subscription_end` is called when it
  /// ends. Errors: overloaded; cancelled after `close`.
  result<void> subscribe(channel::call_id id, std::string text, const outgoing_request& outgoing);
  /// Ends a subscription without further callbacks. Sends `notifications/cancelled` if the channel has no stream of its own for
  /// each call (`channel::has_exchanges`).
  void unsubscribe(channel::call_id id);
  /// Sends a notification or an answer. Does nothing after `close`.
  void send(std::string text, std::vector<std::pair<std::string, std::string>> headers = {});

  /// Suspends the timeouts of all calls until `input_ended`, but of each call at most for the input timeout. Call it when a
  /// question of the server arrives that a user answers.
  void input_began();
  /// Ends an `input_began`. Call it when the question is answered.
  void input_ended();
  /// Sets the input timeout: `client_options::input_timeout`.
  void set_input_timeout(std::chrono::milliseconds timeout);

  /// Fails all pending and all later calls as cancelled. `timeout`: how long the channel may take to close.
  void close(std::chrono::milliseconds timeout);

  void on_message(channel::call_id call, std::string text) override;
  void on_progress(channel::call_id call) override;
  void on_call_finished(channel::call_id call, channel::termination ending) override;
  void on_stream_interrupted() override;
  void on_connection_lost(failure reason) override;

 private:
  struct pending;
  /// Ends a pending call or subscription; does nothing if there is none.
  void complete(channel::call_id id, result<rpc_response> outcome);
  void handle_response(channel::call_id call, json::document document, const rpc::response& response, std::size_t bytes);
  /// Calls the application's `client_options::on_message` and logs its exceptions.
  void trace(message_direction direction, std::string_view message);
  void handle_progress(const asking::call_progress& update);
  void abandon(channel::call_id id, const outgoing_request& outgoing, std::string_view reason);
  void cancel(channel::call_id id, std::string_view reason, std::vector<std::pair<std::string, std::string>> headers);
  [[nodiscard]] clock::duration input_duration() const;  // how long timeouts have been suspended in total; with the mutex held

  peer_listener& listener_;
  const std::size_t max_calls_;
  const std::function<void(message_direction, std::string_view)> on_message_;
  std::shared_ptr<channel::channel> channel_;
  mutable std::mutex mutex_;
  std::map<channel::call_id, std::shared_ptr<pending>> pending_;
  channel::call_id last_id_ = 0;
  bool is_closed_ = false;
  std::size_t open_inputs_ = 0;      // questions between `input_began` and `input_ended`
  clock::time_point input_start_{};  // when `open_inputs_` became 1
  clock::duration input_total_{};    // earlier suspensions
  std::chrono::milliseconds input_timeout_{600'000};
};

/// Converts the end of a call without a JSON-RPC answer into a failure, with the scopes that a 403 requires. `method`: for the
/// text; may be empty.
[[nodiscard]] failure to_failure(const channel::termination& ending, const std::string& method);
/// Appends `failure::scopes` to the public text unless it contains them.
void append_scopes(failure& error);

}  // namespace hondana::outbound

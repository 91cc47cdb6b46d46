/// Pending requests on one channel: matches answers to calls, with deadlines and cancellation.
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

/// Callbacks for messages that the server sends by itself, and for the state of the connection. Threads: the channel's, one
/// call at a time; must not block.
class peer_listener {
 public:
  peer_listener() = default;
  peer_listener(const peer_listener&) = delete;
  peer_listener& operator=(const peer_listener&) = delete;
  virtual ~peer_listener() = default;
  /// A notification arrived. `bytes`: size of the message.
  virtual void on_notification(asking::server_notification notification, std::size_t bytes) = 0;
  /// A request from the server arrived (revisions with sessions only).
  virtual void on_request(const rpc::request& request, std::size_t bytes) = 0;
  /// The stream of a subscription ended. `reason` is empty if the server ended it as the protocol specifies.
  virtual void on_subscription_end(channel::call_id id, std::optional<failure> reason) = 0;
  /// The connection broke, or the server ended the session.
  virtual void on_disconnect(const failure& reason) = 0;
  /// Notifications from the server may have been missed.
  virtual void on_interruption() = 0;
  virtual void log_line(const std::string& line) = 0;
};

/// How to send one request, besides its text.
struct outgoing_request {
  std::string method{};  ///< For error messages.
  std::string target{};  ///< The requested URI or name, for error messages; may be empty.
  std::vector<std::pair<std::string, std::string>> headers{};
  channel::content_sink content{};
  bool is_opening = false;
  /// Whether to notify the server when the client abandons the call.
  bool notifies_cancellation = true;
  std::chrono::milliseconds timeout{30'000};
};

/// Sends requests over a channel and waits for their answers. Threads: any.
class rpc_peer final : public channel::channel_listener {
 public:
  /// `listener` must outlive this object. `on_message` may be empty.
  rpc_peer(peer_listener& listener, std::size_t max_calls, std::function<void(message_direction, std::string_view)> on_message);
  ~rpc_peer() override;

  /// Sets the channel; call this before any other function. A later call replaces the channel and closes the old one.
  void set_channel(std::unique_ptr<channel::channel> replacement);
  /// Null only before the first `set_channel`.
  [[nodiscard]] std::shared_ptr<channel::channel> current_channel() const;

  /// Returns the id for the next request.
  [[nodiscard]] channel::call_id next_id();
  /// Sends a request and waits for its answer. `text` contains `id`. Errors: those of `client`.
  [[nodiscard]] result<rpc_response> send_request(channel::call_id id, std::string text, const outgoing_request& outgoing,
                                                  const call_options& options);
  /// Sends a subscription request. `peer_listener::on_subscription_end` reports its end. Errors: overloaded, cancelled after
  /// `close`.
  result<void> subscribe(channel::call_id id, std::string text, const outgoing_request& outgoing);
  /// Ends a subscription without further callbacks. Without exchanges per call, sends `notifications/cancelled`.
  void unsubscribe(channel::call_id id);
  /// Sends a notification or an answer. Does nothing after `close`.
  void send(std::string text, std::vector<std::pair<std::string, std::string>> headers = {});

  /// While a question of the server waits for its answer, the timeouts of calls are suspended. The suspension of one call is
  /// limited to the input timeout.
  void input_began();
  void input_ended();
  /// Sets the input timeout: how long one question may take.
  void set_input_timeout(std::chrono::milliseconds timeout);

  /// Fails all pending and all later calls as cancelled. The channel gets `timeout` to close.
  void close(std::chrono::milliseconds timeout);

  void on_message(channel::call_id call, std::string text) override;
  void on_progress(channel::call_id call) override;
  void on_call_finished(channel::call_id call, channel::termination ending) override;
  void on_stream_interrupted() override;
  void on_connection_lost(failure reason) override;

 private:
  struct pending;
  void complete(channel::call_id id, result<rpc_response> outcome);
  void handle_response(channel::call_id call, json::document document, const rpc::response& response, std::size_t bytes);
  /// Calls the application's `client_options::on_message` and logs its exceptions.
  void trace(message_direction direction, std::string_view message);
  void handle_progress(const asking::call_progress& update);
  void abandon(channel::call_id id, const outgoing_request& outgoing, std::string_view reason);
  void cancel(channel::call_id id, std::string_view reason, std::vector<std::pair<std::string, std::string>> headers);
  [[nodiscard]] clock::duration input_duration() const;  // with the mutex held

  peer_listener& listener_;
  const std::size_t max_calls_;
  const std::function<void(message_direction, std::string_view)> on_message_;
  std::shared_ptr<channel::channel> channel_;
  mutable std::mutex mutex_;
  std::map<channel::call_id, std::shared_ptr<pending>> pending_;
  channel::call_id last_id_ = 0;
  bool is_closed_ = false;
  std::size_t open_inputs_ = 0;
  clock::time_point input_start_{};
  clock::duration input_total_{};
  std::chrono::milliseconds input_timeout_{600'000};
};

/// Converts the end of an exchange without a JSON-RPC error into a failure, with the scopes that a 403 requires.
[[nodiscard]] failure to_failure(const channel::termination& ending, const std::string& method);
/// Appends the required scopes to the text of the failure unless it names them already.
void append_scopes(failure& error);

}  // namespace hondana::outbound

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
struct answer {
  json::document document;
  json::value result;
  std::size_t bytes = 0;  ///< Size of the message.
};

/// Callbacks for messages that the server sends by itself, and for the state of the connection. Threads: the channel's, one
/// call at a time; must not block.
class hearer {
 public:
  hearer() = default;
  hearer(const hearer&) = delete;
  hearer& operator=(const hearer&) = delete;
  virtual ~hearer() = default;
  /// A notification arrived. `bytes`: size of the message.
  virtual void told(asking::news what, std::size_t bytes) = 0;
  /// A request from the server arrived (revisions with sessions only).
  virtual void asked(const rpc::request& what, std::size_t bytes) = 0;
  /// The stream of a subscription ended. `why` is empty if the server ended it as the protocol specifies.
  virtual void subscription_ended(channel::call_id id, std::optional<failure> why) = 0;
  /// The connection broke, or the server ended the session.
  virtual void lost(const failure& why) = 0;
  /// Notifications from the server may have been missed.
  virtual void interrupted() = 0;
  /// A line for the log.
  virtual void noticed(const std::string& line) = 0;
};

/// How to send one request, besides its text.
struct sending {
  std::string method{};  ///< For error messages.
  std::string target{};  ///< The requested URI or name, for error messages; may be empty.
  std::vector<std::pair<std::string, std::string>> headers{};
  channel::content_sink content{};
  bool is_opening = false;
  /// Whether to notify the server when the client gives up the call.
  bool tells_cancellation = true;
  std::chrono::milliseconds time{30'000};
};

/// Sends requests over a channel and waits for their answers. Threads: any.
class conversation final : public channel::listener {
 public:
  /// `heard` must outlive this object. `trace` may be empty.
  conversation(hearer& heard, std::size_t max_calls, std::function<void(message_direction, std::string_view)> trace);
  ~conversation() override;

  /// Sets the channel; call this before any other function. A later call replaces the channel and closes the old one.
  void use(std::unique_ptr<channel::channel> through);
  /// Null only before the first `use`.
  [[nodiscard]] std::shared_ptr<channel::channel> through() const;

  /// Returns the id for the next request.
  [[nodiscard]] channel::call_id next_id();
  /// Sends a request and waits for its answer. `text` contains `id`. Errors: those of `client`.
  [[nodiscard]] result<answer> ask(channel::call_id id, std::string text, const sending& how, const call_options& options);
  /// Sends a subscription request. `hearer::subscription_ended` reports its end. Errors: overloaded, cancelled after `close`.
  result<void> subscribe(channel::call_id id, std::string text, const sending& how);
  /// Ends a subscription without further callbacks. Without exchanges per call, sends `notifications/cancelled`.
  void drop(channel::call_id id);
  /// Sends a notification or an answer. Does nothing after `close`.
  void tell(std::string text, std::vector<std::pair<std::string, std::string>> headers = {});

  /// While a question of the server waits for its answer, the timeouts of calls are suspended. The suspension of one call is
  /// limited to the time limit of one question.
  void question_began();
  void question_ended();
  /// Sets the time limit of a question.
  void set_question_time(std::chrono::milliseconds most);

  /// Fails all pending and all later calls as cancelled. The channel gets `time` to close.
  void close(std::chrono::milliseconds time);

  void received(channel::call_id call, std::string text) override;
  void progressed(channel::call_id call) override;
  void ended(channel::call_id call, channel::ending how) override;
  void interrupted() override;
  void broken(failure why) override;

 private:
  struct pending;
  void settle(channel::call_id id, result<answer> with);
  void answered(channel::call_id call, json::document document, const rpc::response& what, std::size_t bytes);
  /// Calls the trace callback and logs its exceptions.
  void traced(message_direction way, std::string_view message);
  void reported(const asking::call_progress& what);
  void give_up(channel::call_id id, const sending& how, std::string_view reason);
  void cancel(channel::call_id id, std::string_view reason, std::vector<std::pair<std::string, std::string>> headers);
  [[nodiscard]] clock::duration paused() const;  // with the mutex held

  hearer& heard_;
  const std::size_t max_calls_;
  const std::function<void(message_direction, std::string_view)> trace_;
  std::shared_ptr<channel::channel> channel_;
  mutable std::mutex mutex_;
  std::map<channel::call_id, std::shared_ptr<pending>> pending_;
  channel::call_id last_id_ = 0;
  bool is_closed_ = false;
  std::size_t questions_ = 0;
  clock::time_point question_since_{};
  clock::duration question_total_{};
  std::chrono::milliseconds question_time_{600'000};
};

/// Converts the end of an exchange without a JSON-RPC error into a failure, with the scopes that a 403 requires.
[[nodiscard]] failure failure_of(const channel::ending& how, const std::string& method);
/// Appends the required scopes to the text of the failure unless it names them already.
void name_scopes(failure& why);

}  // namespace hondana::outbound

/// Requests under way on one channel: matches answers to calls, with deadlines and cancellation.
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

/// The answer to a request: a result, in the document it lives in.
struct answer {
  json::document document;
  json::value result;
  std::size_t bytes = 0;  ///< Of the message.
};

/// How the server's side of a conversation is heard. Threads: the channel's, one call at a time; must not block.
class hearer {
 public:
  hearer() = default;
  hearer(const hearer&) = delete;
  hearer& operator=(const hearer&) = delete;
  virtual ~hearer() = default;
  /// `bytes`: of the message.
  virtual void told(asking::news what, std::size_t bytes) = 0;
  /// A request of the server's (older revisions).
  virtual void asked(const rpc::request& what, std::size_t bytes) = 0;
  /// A subscription's stream has ended; `why` is set unless the server ended it as the protocol has it.
  virtual void subscription_ended(channel::call_id id, std::optional<failure> why) = 0;
  /// The connection is gone, or the server has ended the session.
  virtual void lost(const failure& why) = 0;
  /// Something that the server sent by itself may have been missed.
  virtual void interrupted() = 0;
  /// For the log.
  virtual void noticed(const std::string& line) = 0;
};

/// How one request is sent, besides its text.
struct sending {
  std::string method{};  ///< For errors.
  std::string target{};  ///< The URI or name asked for, for errors; may be empty.
  std::vector<std::pair<std::string, std::string>> headers{};
  channel::content_sink content{};
  bool is_opening = false;
  /// Whether the server is to be told when the call is given up.
  bool tells_cancellation = true;
  std::chrono::milliseconds time{30'000};
};

/// Threads: any.
class conversation final : public channel::listener {
 public:
  /// `heard` outlives it. `trace` may be empty.
  conversation(hearer& heard, std::size_t max_calls, std::function<void(message_direction, std::string_view)> trace);
  ~conversation() override;

  /// Before anything else, and again to talk through another one. The old one is closed.
  void use(std::unique_ptr<channel::channel> through);
  /// Never null once there was a `use`.
  [[nodiscard]] std::shared_ptr<channel::channel> through() const;

  /// An id for the next request.
  [[nodiscard]] channel::call_id next_id();
  /// Sends a request and waits for its answer. `text` holds `id`. Errors: those of `client`.
  [[nodiscard]] result<answer> ask(channel::call_id id, std::string text, const sending& how, const call_options& options);
  /// Sends a request whose answer is told by `hearer::subscription_ended`. Errors: overloaded.
  result<void> subscribe(channel::call_id id, std::string text, const sending& how);
  /// Gives a subscription up; nothing is told of it any more. The server is told where only that tells it.
  void drop(channel::call_id id);
  /// Sends a notification or an answer; nothing once it is closed.
  void tell(std::string text, std::vector<std::pair<std::string, std::string>> headers = {});

  /// While somebody is answering a question of the server's, the time of calls stands still; of one call for no longer than
  /// one question may take.
  void question_began();
  void question_ended();
  /// The most time a question may take.
  void set_question_time(std::chrono::milliseconds most);

  /// Fails everything under way, and whatever comes.
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

/// The failure that an HTTP answer without a JSON-RPC error is; with the scopes that a 403 says are needed.
[[nodiscard]] failure failure_of(const channel::ending& how, const std::string& method);
/// Has the text say which scopes those are, if it does not yet.
void name_scopes(failure& why);

}  // namespace hondana::outbound

/// A stream of messages that answers one POST, or the GET of a session. A connection takes and sends the messages.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>

#include "protocol/rpc/message_sink.hpp"
#include "transport/http_server/event_replay.hpp"
#include "transport/http_server/limits.hpp"

namespace hondana::transport::http_server {

/// One step of sending a stream.
struct portion {
  enum class kind {
    opening,  ///< The answer is an event stream from here on.
    message,  ///< One event.
    answer,   ///< The last message. Without an `opening` before it, it is the whole answer.
    retry,    ///< Close the connection; the client reconnects after `delay`.
    end,      ///< The stream ended without an answer, or another connection has it now.
  };
  kind type = kind::end;
  rpc::outgoing_response content;
  std::string id;                      ///< The event's id; an `opening` with an id sends an event without data. Empty: none.
  std::string event;                   ///< The event's name; empty: none.
  std::chrono::milliseconds delay{0};  ///< For `retry`.
};

/// One stream of messages. Any thread adds messages; one connection at a time, the carrier, takes them when it can send.
/// Threads: any.
///
/// Waiting messages count in a budget. If that is exhausted, notifications are dropped, and so is the answer of a stream
/// without a carrier. An answer with content that is read while it is sent holds an open file; without a carrier it is dropped
/// at once, and the client must repeat the request. Without a carrier, the sources of `stream` are not called.
class message_stream final : public rpc::response_writer,
                             public rpc::source_listener,
                             public std::enable_shared_from_this<message_stream> {
 public:
  /// The answer formats that the client accepts: `json` allows only an answer, and no other messages.
  enum class response_format { json, either, events };
  struct traits {
    response_format format = response_format::either;
    bool has_answer = true;       ///< It answers a POST. False: it continues until `end`.
    std::string_view event_name;  ///< The name of its events, a string literal; empty: none.
    std::uint64_t number = 0;     ///< Unique in its session.
    /// Stores sent events, so that the stream outlives its connection. Null: it ends with the connection.
    std::shared_ptr<replay_buffer> replay;
    std::weak_ptr<executor::step_executor> home_executor;  ///< See `preferred_executor`: the event loop of its first carrier.
    /// The caller that its contents were filtered for; see `stored_session::find_stream`. Null: not used.
    std::shared_ptr<const caller_info> filtered_for;
    bool supports_polling = false;  ///< Begins with an event without data, and `release` may close its connection.
    /// Called once, when the stream becomes an event stream; may be null.
    std::function<void(const std::shared_ptr<message_stream>&)> on_opened;
    std::function<void()> on_dropped;  ///< Called once, when a message is dropped for the first time; may be null.
  };
  /// Identifies a carrier of the stream.
  using attachment_id = std::uint64_t;

  /// `budget`: for the bytes of waiting messages.
  message_stream(traits stream_traits, std::shared_ptr<byte_budget> budget);
  ~message_stream() override;

  void answer(rpc::outgoing_response response) override;
  rpc::send_outcome send(std::string message) override;
  void stream(std::shared_ptr<rpc::message_source> source) override;
  [[nodiscard]] std::shared_ptr<executor::step_executor> preferred_executor() const override {
    return traits_.home_executor.lock();
  }
  void release(std::chrono::milliseconds retry) override;
  /// Called by a source of `stream` that has a message.
  void notify() override;
  /// Adds one of many answers that share this stream. If the budget has no space for it, the stream ends, unless nothing waits.
  void add_answer(rpc::body message);
  /// Adds an event before all waiting messages: its name and data. Call it before `attach`.
  void prepend_event(std::string event, std::string data);
  /// Ends the stream: drops waiting messages and notifies the carrier.
  void end();

  /// Makes the caller the carrier, in place of an earlier one. The carrier then calls `next`. After `next` returned nothing,
  /// `follower` is notified once, from any thread, when there is a message again. With `last_seen`, the stored events after
  /// that one are sent again.
  [[nodiscard]] attachment_id attach(std::weak_ptr<rpc::source_listener> follower, std::optional<event_id> last_seen = {});
  /// Deletes the sent events, so that they are not replayed. Waits for a carrier that is taking one.
  void discard_sent();
  /// Returns the next portion; empty if there is none now. `end` if `attachment` is no longer the carrier.
  [[nodiscard]] std::optional<portion> next(attachment_id attachment);
  /// Result of `next_events`.
  enum class remainder {
    none,  ///< There are no more events now; the carrier will be notified.
    some,  ///< Call `next` for the rest.
  };
  /// A faster `next` for one change that many streams report. If only one source has messages, appends its events to `output`,
  /// ready to be sent. Otherwise appends nothing and returns `some`.
  [[nodiscard]] remainder next_events(attachment_id attachment, std::string& output);
  /// Call this when the carrier's connection has ended. A stream without stored events ends. Does nothing if `attachment` is no
  /// longer the carrier.
  void detach(attachment_id attachment);

  [[nodiscard]] std::uint64_t number() const noexcept { return traits_.number; }
  [[nodiscard]] const std::shared_ptr<const caller_info>& filtered_for() const noexcept { return traits_.filtered_for; }
  /// Whether it has a carrier.
  [[nodiscard]] bool is_attached() const;
  /// Whether it may continue for any time, because it answers no request, or has sources.
  [[nodiscard]] bool is_long_lived() const;
  /// Whether it has no carrier and gets no more messages, so that only a client that reconnects needs it.
  [[nodiscard]] bool is_finished() const;
  /// The bytes of waiting messages.
  [[nodiscard]] std::size_t waiting_bytes() const;

 private:
  struct entry {
    portion part;
    std::size_t bytes = 0;  // reserved in `budget_`
  };
  using sources = std::vector<std::shared_ptr<rpc::message_source>>;

  [[nodiscard]] bool enqueue(portion part, std::size_t bytes, bool is_forced);
  /// Notifies the carrier, if it waits after `next`.
  void notify_carrier();
  [[nodiscard]] std::optional<portion> pop(bool includes_answer);
  [[nodiscard]] std::optional<portion> pull(attachment_id attachment);
  [[nodiscard]] bool must_open() const;
  [[nodiscard]] bool has_pending() const;
  [[nodiscard]] portion number_event(portion part);
  [[nodiscard]] std::string store_event(std::string_view message);
  void clear_waiting();
  [[nodiscard]] bool retain_waiting();
  [[nodiscard]] sources finish();
  void report_dropped();

  const traits traits_;
  const std::shared_ptr<byte_budget> budget_;
  std::mutex carrier_mutex_;  // held by a carrier that takes the next portion; locked before `mutex_`
  mutable std::mutex mutex_;
  std::size_t reserved_bytes_ = 0;      // bytes reserved in `budget_`
  std::size_t notification_bytes_ = 0;  // those of notifications and requests since the queue was last empty
  // A list, because it is usually empty.
  std::list<entry> waiting_;
  std::unique_ptr<std::list<replay_buffer::event>> replayed_;  // events to replay; null: none
  sources sources_;
  attachment_id attachment_ = 0;
  std::uint64_t last_number_ = 0;
  bool is_attached_ = false;
  bool needs_priming_ = false;        // the opening must have an id
  bool is_opened_ = false;            // has become an event stream
  bool is_open_for_carrier_ = false;  // the current carrier has received the opening
  bool is_closed_ = false;
  std::atomic<bool> has_dropped_{false};
  std::atomic<bool> has_ready_source_{false};  // one of the sources has a message

  std::mutex notify_mutex_;  // the innermost lock: no lock is taken and no function called while it is held
  std::weak_ptr<rpc::source_listener> carrier_;
  std::atomic<bool> is_armed_{false};  // the carrier must be notified of the next message
};

}  // namespace hondana::transport::http_server

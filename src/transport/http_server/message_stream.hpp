/// A stream of messages, for one POST or for the GET of a session, on its way to a connection.
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

/// The next part of a stream for its connection.
struct portion {
  enum class kind {
    opening,  ///< The answer is an event stream from here on.
    message,  ///< One event.
    answer,   ///< The last message. Without an `opening` before it, it is the whole answer.
    retry,    ///< Close the connection; the client reconnects after `after`.
    end,      ///< The stream ended without an answer, or another connection has it now.
  };
  kind what = kind::end;
  rpc::delivery content;
  std::string id;     ///< The event's id; an `opening` with an id sends an event without data. Empty: none.
  std::string event;  ///< The event's name; empty: none.
  std::chrono::milliseconds after{0};
};

/// One stream of messages. Any thread adds messages; one connection at a time, the carrier, takes them when it can send.
///
/// Waiting messages count in the budget `room`. Beyond it, notifications are dropped, and so is the answer of a stream without
/// carrier. An answer that is read while it is sent holds an open file. Without a carrier it is dropped at once, and the client
/// must repeat the request. Without carrier, the sources that it follows are not called.
class message_stream final : public rpc::outlet, public rpc::follower, public std::enable_shared_from_this<message_stream> {
 public:
  /// The answer formats that the client accepts.
  enum class form { json, either, events };
  struct traits {
    form takes = form::either;
    bool has_answer = true;    ///< It answers a POST; otherwise it continues until it is ended.
    std::string_view event;    ///< The name of its events, a string literal.
    std::uint64_t number = 0;  ///< Unique in its session.
    std::shared_ptr<replay>
        kept;  ///< Stores sent events, so that the stream outlives its connection. Null: it ends with the connection.
    std::weak_ptr<executor::turns> place;  ///< The event loop of its first carrier.
    /// The caller that its contents were filtered for; see `kept_session::stream_of`. Null: not used.
    std::shared_ptr<const caller> shown;
    bool may_poll = false;  ///< Begins with an event without data, and may be released.
    /// Called once, when it becomes an event stream.
    std::function<void(const std::shared_ptr<message_stream>&)> when_opened;
    std::function<void()> when_dropped;  ///< Called once, when a message is dropped for the first time.
  };
  /// Identifies the carrier; a later one replaces an earlier one.
  using carriage = std::uint64_t;

  message_stream(traits is, std::shared_ptr<byte_budget> room);
  ~message_stream() override;

  void answer(rpc::delivery what) override;
  rpc::sending send(std::string message) override;
  void follow(std::shared_ptr<rpc::message_source> from) override;
  [[nodiscard]] std::shared_ptr<executor::turns> place() const override { return is_.place.lock(); }
  void release(std::chrono::milliseconds retry) override;
  /// A followed source has a message.
  void wake() override;
  /// Adds one of many answers that share this stream.
  void put(rpc::body message);
  /// Adds the first event, before any other message: its name and data.
  void greet(std::string event, std::string data);
  /// Ends the stream: drops waiting messages and notifies the carrier.
  void end();

  /// Makes the caller the carrier, which then calls `next`. After `next` returned nothing, `who` is woken, from any thread,
  /// when there is a message again. With `seen`, events after that one are sent again.
  [[nodiscard]] carriage carry(std::weak_ptr<rpc::follower> who, std::optional<event_id> seen = {});
  /// Deletes the sent events, so that they are not replayed. Waits for a carrier that is taking one.
  void forget_sent();
  /// The next portion, if there is one now.
  [[nodiscard]] std::optional<portion> next(carriage mine);
  /// Result of `next_events`.
  enum class rest {
    none,  ///< No more events now; the carrier will be woken.
    some,  ///< Call `next` for the rest.
  };
  /// Fast path for one change that many streams report: appends the events of a source, ready to be sent, if that is the only
  /// one with messages. Everything else is left to `next`.
  [[nodiscard]] rest next_events(carriage mine, std::string& to);
  /// The carrier's client is gone. A stream without stored events ends.
  void let_go(carriage mine);

  [[nodiscard]] std::uint64_t number() const noexcept { return is_.number; }
  [[nodiscard]] const std::shared_ptr<const caller>& shown() const noexcept { return is_.shown; }
  [[nodiscard]] bool is_carried() const;
  /// It continues until it is ended: it answers no request, or reports changes.
  [[nodiscard]] bool is_lasting() const;
  /// It has no carrier and gets no more messages, so only a client that reconnects needs it.
  [[nodiscard]] bool is_finished() const;
  /// Bytes of waiting messages.
  [[nodiscard]] std::size_t bytes_waiting() const;

 private:
  struct entry {
    portion what;
    std::size_t bytes = 0;  // taken from `room_`
  };
  using sources = std::vector<std::shared_ptr<rpc::message_source>>;

  [[nodiscard]] bool admit(portion what, std::size_t bytes, bool must);
  void ring();
  [[nodiscard]] std::optional<portion> take(bool even_answer);
  [[nodiscard]] std::optional<portion> pull(carriage mine);
  [[nodiscard]] bool opens_now() const;
  [[nodiscard]] bool has_something() const;
  [[nodiscard]] portion hand_out(portion what);
  [[nodiscard]] std::string keep(std::string_view message);
  void forget_waiting();
  [[nodiscard]] bool keep_waiting();
  [[nodiscard]] sources finish();
  void tell_dropped();

  const traits is_;
  const std::shared_ptr<byte_budget> room_;
  std::mutex carrying_;  // held by a carrier that takes the next portion; locked before `mutex_`
  mutable std::mutex mutex_;
  std::size_t held_ = 0;   // bytes taken from `room_`
  std::size_t noted_ = 0;  // those of notifications and requests since the queue was last empty
  // A list, because it is usually empty.
  std::list<entry> waiting_;
  std::unique_ptr<std::list<replay::event>> again_;  // events to replay; null: none
  sources sources_;
  carriage carriage_ = 0;
  std::uint64_t last_number_ = 0;
  bool is_carried_ = false;
  bool primes_ = false;
  bool is_opened_ = false;     // has become an event stream
  bool is_open_here_ = false;  // the current carrier knows
  bool is_over_ = false;
  std::atomic<bool> has_dropped_{false};
  std::atomic<bool> any_ready_{false};  // one of the sources has a message

  std::mutex bell_;  // the innermost lock: no lock is taken and no function called while it is held
  std::weak_ptr<rpc::follower> carrier_;
  std::atomic<bool> is_armed_{false};
};

}  // namespace hondana::transport::http_server

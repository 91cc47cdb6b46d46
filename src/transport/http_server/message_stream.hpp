/// The messages of one POST, or of none, on their way to the connection that carries them.
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

/// What a stream has for its connection.
struct portion {
  enum class kind {
    opening,  ///< From here on the answer is an event stream.
    message,  ///< One event.
    answer,   ///< The last message. Without an opening before it, it is the whole answer.
    retry,    ///< The connection is to be closed; the client comes back after `after`.
    end,      ///< The stream is over without an answer, or another connection has it now.
  };
  kind what = kind::end;
  rpc::delivery content;
  std::string id;     ///< The event's; an opening with one sends an event without data. Empty: none.
  std::string event;  ///< Its name; empty: none.
  std::chrono::milliseconds after{0};
};

/// One stream: filled from any thread, emptied by one connection at a time, which pulls when it has room.
///
/// Bounds: what waits counts against `room`; beyond it notifications are dropped, and the answer of a stream that nobody
/// carries. An answer that is read while it is sent holds an open file, so without a carrier it is dropped at once: who comes
/// back asks again. Followed sources are asked only when somebody carries.
class message_stream final : public rpc::outlet, public rpc::follower, public std::enable_shared_from_this<message_stream> {
 public:
  /// What the client takes.
  enum class form { json, either, events };
  struct traits {
    form takes = form::either;
    bool has_answer = true;                ///< It answers a POST; otherwise it goes on until it is ended.
    std::string_view event;                ///< The name of its events, as a literal.
    std::uint64_t number = 0;              ///< In its session.
    std::shared_ptr<replay> kept;          ///< Outlives its connection, and keeps what it has sent here. Null: it does not.
    std::weak_ptr<executor::turns> place;  ///< Where its first carrier is.
    /// Who is answered here, or for whom it is open, as seen then; see `kept_session::stream_of`. Null: it is not asked for.
    std::shared_ptr<const caller> shown;
    bool may_poll = false;  ///< Opens with an event without data, and may be released.
    /// Called once, when it has become an event stream.
    std::function<void(const std::shared_ptr<message_stream>&)> when_opened;
    std::function<void()> when_dropped;  ///< Called once, when a message had to be dropped.
  };
  /// Which connection carries a stream; a later one takes over from an earlier one.
  using carriage = std::uint64_t;

  message_stream(traits is, std::shared_ptr<byte_budget> room);
  ~message_stream() override;

  void answer(rpc::delivery what) override;
  rpc::sending send(std::string message) override;
  void follow(std::shared_ptr<rpc::message_source> from) override;
  [[nodiscard]] std::shared_ptr<executor::turns> place() const override { return is_.place.lock(); }
  void release(std::chrono::milliseconds retry) override;
  /// A followed source has something.
  void wake() override;
  /// One message of many answers that share this stream.
  void put(rpc::body message);
  /// The first event, before anything else is put: its name and data.
  void greet(std::string event, std::string data);
  /// Whatever waits is dropped, and whoever carries is told.
  void end();

  /// From now on the caller carries, and asks `next`; once that had nothing, `who` is woken, from any thread, when it has
  /// something again. With `seen`, what was sent after that event comes again.
  [[nodiscard]] carriage carry(std::weak_ptr<rpc::follower> who, std::optional<event_id> seen = {});
  /// What was sent so far is not sent again, nor what somebody takes right now.
  void forget_sent();
  /// The next portion, when there is one now.
  [[nodiscard]] std::optional<portion> next(carriage mine);
  /// What `next_events` has left to do.
  enum class rest {
    none,  ///< Nothing more for now: the carrier is woken, as after `next` had nothing.
    some,  ///< `next` knows more.
  };
  /// Appends the events that a followed source has now, ready to be sent, as far as it is the only one who has something here:
  /// the short way for one change that many streams are told. All else is left to `next`.
  [[nodiscard]] rest next_events(carriage mine, std::string& to);
  /// The caller's client has gone. A stream that does not outlive its connection is over.
  void let_go(carriage mine);

  [[nodiscard]] std::uint64_t number() const noexcept { return is_.number; }
  [[nodiscard]] const std::shared_ptr<const caller>& shown() const noexcept { return is_.shown; }
  [[nodiscard]] bool is_carried() const;
  /// It goes on until somebody ends it: it answers no request, or tells what changes.
  [[nodiscard]] bool is_lasting() const;
  /// Nobody carries it, and nothing will come any more but what a client that comes back asks for.
  [[nodiscard]] bool is_finished() const;
  /// Bytes of messages that wait.
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
  std::mutex carrying_;  // held by a carrier that looks for the next portion; taken before `mutex_`
  mutable std::mutex mutex_;
  std::size_t held_ = 0;   // bytes taken from `room_`
  std::size_t noted_ = 0;  // of those, of notifications and questions since all was last taken
  // A list, since it is empty most of the time.
  std::list<entry> waiting_;
  std::unique_ptr<std::list<replay::event>> again_;  // null: none
  sources sources_;
  carriage carriage_ = 0;
  std::uint64_t last_number_ = 0;
  bool is_carried_ = false;
  bool primes_ = false;
  bool is_opened_ = false;     // has become an event stream
  bool is_open_here_ = false;  // and its present carrier knows
  bool is_over_ = false;
  std::atomic<bool> has_dropped_{false};
  std::atomic<bool> any_ready_{false};  // of the sources

  std::mutex bell_;  // a leaf: nothing is locked or called under it
  std::weak_ptr<rpc::follower> carrier_;
  std::atomic<bool> is_armed_{false};
};

}  // namespace hondana::transport::http_server

/// Sessions of HTTP clients: lookup by id, limits, their streams, and removal when idle.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "server/session/session.hpp"
#include "transport/http_server/event_replay.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/message_stream.hpp"

namespace hondana::transport::http_server {

/// The answer if the session is unknown or has ended.
inline constexpr std::string_view no_such_session =
    "Not found: this server has no such session. It may have ended; open a new one with initialize.";

/// The budgets that all sessions of a server share.
struct shared_room {
  explicit shared_room(const limits& with)
      : replayed(std::make_shared<byte_budget>(with.replay_bytes_of_all)),
        waiting(std::make_shared<byte_budget>(with.waiting_bytes_of_all)) {}
  const std::shared_ptr<byte_budget> replayed;
  const std::shared_ptr<byte_budget> waiting;
};

/// A session that outlives its requests. Threads: any. The loop that owns the session passes messages to it, one at a time.
class kept_session final : public std::enable_shared_from_this<kept_session> {
 public:
  /// How its client communicates.
  enum class manner {
    streamable,  ///< Each message has its own answer, and a GET stream carries the others.
    paired,  ///< One stream, which opened the session, carries all messages. Spec: 2024-11-05 basic/transports#http-with-sse.
  };
  struct traits {
    std::string id;
    caller owner;
    manner how = manner::streamable;
    bool may_poll = false;
  };
  /// Runs a function on the loop that owns the session, in order.
  using runner = std::function<void(std::function<void()>)>;

  kept_session(traits is, std::shared_ptr<session::session> with, runner on_owner, const limits& within,
               const std::shared_ptr<shared_room>& room);

  [[nodiscard]] const std::string& id() const noexcept { return is_.id; }
  [[nodiscard]] const caller& owner() const noexcept { return is_.owner; }
  [[nodiscard]] manner how() const noexcept { return is_.how; }

  /// Makes the stream for one POST; it must have a carrier before the message is received. `when_dropped`: see
  /// `message_stream::traits`.
  [[nodiscard]] std::shared_ptr<message_stream> stream_for(message_stream::form takes, std::function<void()> when_dropped = {},
                                                           const std::shared_ptr<executor::turns>& place = {},
                                                           std::shared_ptr<const caller> shown = {});
  /// A client reads the standing stream. Stored events are deleted when its access filter changes, so that they are not
  /// replayed to another caller.
  void is_read_by(const caller& who);
  /// Passes a message to the session, which answers on `out`.
  void receive(std::string message, rpc::facts facts, std::shared_ptr<rpc::outlet> out);
  /// Where to send the answer to a message of a paired session; null if too many messages or answers wait.
  [[nodiscard]] std::shared_ptr<rpc::outlet> paired_outlet();

  /// Frees the memory of answered POSTs, because a session that waits on its stream may wait long.
  void settle_in();
  /// The stream for messages that belong to no request; one for the whole session.
  [[nodiscard]] const std::shared_ptr<message_stream>& standing() const noexcept { return standing_; }
  /// The stream that an event belongs to. Null if it is unknown, or if `who` may not read it. `who` needs the scopes of the
  /// caller that the stream was for, as `by` decides, and the same access filter. The standing stream needs no equal filter,
  /// because it never replays events of another filter (see `is_read_by`).
  [[nodiscard]] std::shared_ptr<message_stream> stream_of(const event_id& event, const caller& who, const gate::gate& by);

  [[nodiscard]] bool has_ended() const;
  /// Whether a request is in progress or a stream is open.
  [[nodiscard]] bool is_busy() const;
  /// Cancels all requests and closes all streams.
  void end();

 private:
  [[nodiscard]] std::shared_ptr<message_stream> make_stream(message_stream::traits is);
  void remember(const std::shared_ptr<message_stream>& opened);
  /// Requires the mutex. Removes and returns the oldest finished streams beyond the limit.
  [[nodiscard]] std::vector<std::shared_ptr<message_stream>> take_surplus();

  const traits is_;
  const std::shared_ptr<session::session> session_;
  const runner on_owner_;
  const std::size_t streams_kept_;
  const std::size_t paired_bytes_;
  const std::size_t paired_under_way_;
  const std::shared_ptr<byte_budget> waiting_;
  const std::shared_ptr<replay> sent_;
  std::shared_ptr<message_stream> standing_;
  std::atomic<std::uint64_t> sight_changes_{0};  // number of filter changes when the standing stream was last opened
  std::atomic<std::uint64_t> last_stream_{0};
  // Messages that were passed on, but not received by the session yet.
  std::atomic<std::size_t> received_{0};
  std::atomic<std::size_t> received_bytes_{0};

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<message_stream>> streams_;  // event streams of requests, by number
  std::vector<std::weak_ptr<message_stream>> answering_;              // streams of all POSTs in progress
  bool has_ended_ = false;
};

/// A new session id: 128 random bits as 32 hexadecimal digits. Errors: source_unavailable if the system has no random bytes.
/// Spec: 2025-11-25 basic/transports#session-management (1).
[[nodiscard]] result<std::string> make_session_id();

/// All sessions of a server. If a limit is reached, the session that has been idle longest is dropped, of the same address if
/// it is that address's limit. Threads: any.
class sessions {
 public:
  using clock = monotonic_clock;

  explicit sessions(const limits& with);

  /// Stores a session. Errors: overloaded if a limit is reached and no session is idle.
  [[nodiscard]] result<void> keep(const std::shared_ptr<kept_session>& made, clock::time_point now);
  /// The session with this id. Null unless it belongs to `who`, with the same OAuth client, and is of this manner: the id alone
  /// is not enough. Marks it as used.
  [[nodiscard]] std::shared_ptr<kept_session> find(std::string_view id, const caller& who, kept_session::manner how,
                                                   clock::time_point now);
  void end(const kept_session& which);
  /// Ends sessions that have been idle for too long.
  void expire(clock::time_point now);
  void end_all();

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const std::shared_ptr<shared_room>& room() const noexcept { return room_; }
  [[nodiscard]] const limits& within() const noexcept { return within_; }

 private:
  struct entry {
    std::shared_ptr<kept_session> what;
    clock::time_point used;
  };
  using order = std::list<entry>;  // the most recently used at the end

  [[nodiscard]] std::size_t cap_of(const std::string& address) const;
  std::shared_ptr<kept_session> remove(order::iterator which);
  [[nodiscard]] std::shared_ptr<kept_session> drop_idle(std::string_view address);

  const limits within_;
  const std::shared_ptr<shared_room> room_;
  mutable std::mutex mutex_;
  order order_;
  std::unordered_map<std::string_view, order::iterator> by_id_;  // keys are the ids of the sessions
  std::unordered_map<std::string, std::size_t> of_address_;
};

}  // namespace hondana::transport::http_server

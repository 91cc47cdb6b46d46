/// Sessions of HTTP clients: found by id, counted, their streams kept, and dropped when idle.
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

/// What a client is told whose session is not known, or not any more.
inline constexpr std::string_view no_such_session =
    "Not found: this server has no such session. It may have ended; open a new one with initialize.";

/// What all sessions of a server share.
struct shared_room {
  explicit shared_room(const limits& with)
      : replayed(std::make_shared<byte_budget>(with.replay_bytes_of_all)),
        waiting(std::make_shared<byte_budget>(with.waiting_bytes_of_all)) {}
  const std::shared_ptr<byte_budget> replayed;
  const std::shared_ptr<byte_budget> waiting;
};

/// Threads: any. Messages are handed to the conversation one at a time, by the loop that owns the session.
class kept_session final : public std::enable_shared_from_this<kept_session> {
 public:
  /// How its client talks to it.
  enum class manner {
    streamable,  ///< Each message has its own answer, and a GET brings the rest.
    paired,      ///< Everything goes out on the one stream that opened it. Spec: 2024-11-05 basic/transports#http-with-sse.
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

  /// The stream for one POST; it must be carried before the message is received. `when_dropped`: see there.
  [[nodiscard]] std::shared_ptr<message_stream> stream_for(message_stream::form takes, std::function<void()> when_dropped = {},
                                                           const std::shared_ptr<executor::turns>& place = {},
                                                           std::shared_ptr<const caller> shown = {});
  /// The stream of what belongs to no request has a reader. What it has sent is kept as long as it tells by one sight.
  void is_read_by(const caller& who);
  /// Hands a message to the conversation, which answers on `out`.
  void receive(std::string message, rpc::facts facts, std::shared_ptr<rpc::outlet> out);
  /// The outlet of a message of a paired session; nothing when too many messages or answers wait.
  [[nodiscard]] std::shared_ptr<rpc::outlet> paired_outlet();

  /// Gives back what answered POSTs have left: a session that now waits on its stream may wait for long.
  void settle_in();
  /// The stream of what belongs to no request: one for the whole session.
  [[nodiscard]] const std::shared_ptr<message_stream>& standing() const noexcept { return standing_; }
  /// The stream of an event; nothing when it is not known any more, or when it may have what `who` may not read: he must have
  /// the scopes of the caller it was for, as `by` judges; and see the same as that one did, but for the stream of what belongs
  /// to no request, which sends nothing again that was written for another sight (`is_read_by`).
  [[nodiscard]] std::shared_ptr<message_stream> stream_of(const event_id& event, const caller& who, const gate::gate& by);

  [[nodiscard]] bool has_ended() const;
  /// Whether a request is under way or a stream open.
  [[nodiscard]] bool is_busy() const;
  /// Cancels everything and closes all streams.
  void end();

 private:
  [[nodiscard]] std::shared_ptr<message_stream> make_stream(message_stream::traits is);
  void remember(const std::shared_ptr<message_stream>& opened);
  /// Under the lock. Takes out the oldest of too many finished streams.
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
  std::atomic<std::uint64_t> sight_changes_{0};  // when the standing stream was last read anew
  std::atomic<std::uint64_t> last_stream_{0};
  // Messages handed over that the conversation has not looked at yet.
  std::atomic<std::size_t> received_{0};
  std::atomic<std::size_t> received_bytes_{0};

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<message_stream>> streams_;  // event streams of requests, by number
  std::vector<std::weak_ptr<message_stream>> answering_;              // of all POSTs, while somebody has them
  bool has_ended_ = false;
};

/// A fresh session id: 128 bits nobody can guess, as 32 hexadecimal digits. Errors: source_unavailable, when the system has no
/// random bytes. Spec: 2025-11-25 basic/transports#session-management (1).
[[nodiscard]] result<std::string> make_session_id();

/// Bounds: at a cap the session that has been idle longest is dropped, of the same address when it is that address's cap.
/// Threads: any.
class sessions {
 public:
  using clock = monotonic_clock;

  explicit sessions(const limits& with);

  /// Errors: overloaded, when there is a cap and nobody is idle.
  [[nodiscard]] result<void> keep(const std::shared_ptr<kept_session>& made, clock::time_point now);
  /// The session of this id, when it is `who`'s, by the same client, and of this manner: an id alone opens nothing. It counts
  /// as used now.
  [[nodiscard]] std::shared_ptr<kept_session> find(std::string_view id, const caller& who, kept_session::manner how,
                                                   clock::time_point now);
  void end(const kept_session& which);
  /// Ends those that have been idle for too long.
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
  using order = std::list<entry>;  // the one used last at the end

  [[nodiscard]] std::size_t cap_of(const std::string& address) const;
  std::shared_ptr<kept_session> remove(order::iterator which);
  [[nodiscard]] std::shared_ptr<kept_session> drop_idle(std::string_view address);

  const limits within_;
  const std::shared_ptr<shared_room> room_;
  mutable std::mutex mutex_;
  order order_;
  std::unordered_map<std::string_view, order::iterator> by_id_;  // by the sessions' own strings
  std::unordered_map<std::string, std::size_t> of_address_;
};

}  // namespace hondana::transport::http_server

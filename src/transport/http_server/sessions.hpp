/// Stores the sessions of HTTP clients: lookup by id, limits, their streams, and removal when idle.
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

/// The text of the answer (404) if the session is unknown or has ended.
inline constexpr std::string_view no_such_session =
    "Not found: this server has no such session. It may have ended; open a new one with initialize.";

/// The budgets that all sessions of a server share.
struct shared_budgets {
  explicit shared_budgets(const limits& limits)
      : replay(std::make_shared<byte_budget>(limits.max_total_replay_bytes)),
        waiting(std::make_shared<byte_budget>(limits.max_total_waiting_bytes)) {}
  const std::shared_ptr<byte_budget> replay;
  const std::shared_ptr<byte_budget> waiting;
};

/// A session that outlives its requests. Threads: any. Only one loop, its owner, passes messages to it, one at a time.
class stored_session final : public std::enable_shared_from_this<stored_session> {
 public:
  /// How its client communicates.
  enum class transport_kind {
    streamable,  ///< Each POST has its own answer; the answer to a GET contains the messages that belong to no POST.
    sse,         ///< HTTP+SSE (2024-11-05): the answer to the GET that opened the session contains all messages.
  };
  struct traits {
    std::string id;
    caller_info owner;
    transport_kind kind = transport_kind::streamable;
    bool supports_polling = false;  ///< See `message_stream::traits`.
  };
  /// Runs a function on the loop that owns the session, in the order of the calls.
  using runner = std::function<void(std::function<void()>)>;

  stored_session(traits session_traits, std::shared_ptr<session::session> session, runner run_on_owner, const limits& limits,
                 const std::shared_ptr<shared_budgets>& budgets);

  [[nodiscard]] const std::string& id() const noexcept { return traits_.id; }
  [[nodiscard]] const caller_info& owner() const noexcept { return traits_.owner; }
  [[nodiscard]] transport_kind kind() const noexcept { return traits_.kind; }

  /// Makes the stream for one POST. The caller must attach a carrier to it before it calls `receive`. Parameters: see
  /// `message_stream::traits`.
  [[nodiscard]] std::shared_ptr<message_stream> make_post_stream(
      message_stream::response_format format, std::function<void()> on_dropped = {},
      const std::shared_ptr<executor::step_executor>& home_executor = {}, std::shared_ptr<const caller_info> filtered_for = {});
  /// Call this before a client reads the notification stream. If its access filter differs from the previous reader's, deletes
  /// the stored events, so that they are not replayed to another caller.
  void set_stream_reader(const caller_info& reader);
  /// Passes a message to the session on its owner's thread. The session answers on `response_writer`; 404 if it has ended.
  void receive(std::string message, rpc::request_info request_info, std::shared_ptr<rpc::response_writer> response_writer);
  /// Returns where to send the answer to a message of an HTTP+SSE session; null if too many messages or answers wait.
  [[nodiscard]] std::shared_ptr<rpc::response_writer> sse_writer();

  /// Frees the memory of answered POSTs. Call it before a client reads the notification stream, which may last for hours.
  void release_finished();
  /// The stream for messages that belong to no request; one for the whole session.
  [[nodiscard]] const std::shared_ptr<message_stream>& notification_stream() const noexcept { return notification_stream_; }
  /// Returns the stream that an event belongs to. Null if it is unknown, or if `reader` may not read it. `reader` needs the
  /// scopes of the caller in `message_stream::filtered_for`, as `access_gate` decides, and the same access filter. The
  /// notification stream needs no equal filter, because it never replays events of another one (see `set_stream_reader`).
  [[nodiscard]] std::shared_ptr<message_stream> find_stream(const event_id& event, const caller_info& reader,
                                                            const gate::gate& access_gate);

  [[nodiscard]] bool is_closed() const;
  /// Whether a request is in progress or a stream is open.
  [[nodiscard]] bool is_busy() const;
  /// Cancels all requests and closes all streams.
  void end();

 private:
  /// Makes a stream with the next number.
  [[nodiscard]] std::shared_ptr<message_stream> make_stream(message_stream::traits stream_traits);
  void store_stream(const std::shared_ptr<message_stream>& opened);
  /// Requires the mutex. Removes and returns the oldest finished streams beyond the limit.
  [[nodiscard]] std::vector<std::shared_ptr<message_stream>> remove_surplus();

  const traits traits_;
  const std::shared_ptr<session::session> session_;
  const runner run_on_owner_;
  const std::size_t max_stored_streams_;
  const std::size_t max_sse_waiting_bytes_;
  const std::size_t max_sse_requests_;
  const std::shared_ptr<byte_budget> waiting_budget_;
  const std::shared_ptr<replay_buffer> replay_;
  std::shared_ptr<message_stream> notification_stream_;
  std::atomic<std::uint64_t> filter_changes_{0};  // number of filter changes when the notification stream was last opened
  std::atomic<std::uint64_t> last_stream_{0};
  // Messages that were passed on, but not received by the session yet.
  std::atomic<std::size_t> unhandled_messages_{0};
  std::atomic<std::size_t> unhandled_bytes_{0};

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<message_stream>> streams_;  // event streams of requests, by number
  std::vector<std::weak_ptr<message_stream>> post_streams_;           // streams of all POSTs in progress
  bool is_closed_ = false;
};

/// Makes a session id: 128 random bits as 32 hexadecimal digits. Errors: source_unavailable if the system has no random bytes.
/// Spec: 2025-11-25 basic/transports#session-management (1).
[[nodiscard]] result<std::string> make_session_id();

/// All sessions of a server. Threads: any.
class session_store {
 public:
  using clock = monotonic_clock;

  explicit session_store(const limits& limits);

  /// Stores a session. If a limit is reached, ends the session that has been idle longest; only of the same address if its
  /// limit is reached. Errors: overloaded if there is no idle session to end.
  [[nodiscard]] result<void> store(const std::shared_ptr<stored_session>& session, clock::time_point now);
  /// Returns the session with this id, and marks it as used. Null unless it belongs to `caller` (see `is_same_caller`) and is
  /// of this `kind`: the id alone is not enough.
  [[nodiscard]] std::shared_ptr<stored_session> find(std::string_view id, const caller_info& caller,
                                                     stored_session::transport_kind kind, clock::time_point now);
  /// Removes and ends a session, if it is stored.
  void end(const stored_session& session);
  /// Ends sessions that have been idle for `limits::session_idle_timeout`.
  void expire(clock::time_point now);
  void end_all();

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const std::shared_ptr<shared_budgets>& budgets() const noexcept { return budgets_; }
  [[nodiscard]] const limits& configured_limits() const noexcept { return limits_; }

 private:
  struct entry {
    std::shared_ptr<stored_session> session;
    clock::time_point last_used;
  };
  using usage_order = std::list<entry>;  // the most recently used at the end

  [[nodiscard]] std::size_t max_sessions_for(const std::string& address) const;
  std::shared_ptr<stored_session> remove(usage_order::iterator position);
  [[nodiscard]] std::shared_ptr<stored_session> remove_idle(std::string_view address);

  const limits limits_;
  const std::shared_ptr<shared_budgets> budgets_;
  mutable std::mutex mutex_;
  usage_order entries_;
  std::unordered_map<std::string_view, usage_order::iterator> by_id_;  // keys are the ids of the sessions
  std::unordered_map<std::string, std::size_t> count_by_address_;
};

}  // namespace hondana::transport::http_server

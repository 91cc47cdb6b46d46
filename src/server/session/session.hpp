/// A session: one client's revision, requests in progress and answers. It does no I/O.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/audit.hpp>
#include <hondana/value.hpp>

#include "base/executor/timers.hpp"
#include "base/rate_limit/rate_limiter.hpp"
#include "base/seal/seal.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/rpc/pending_requests.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/catalog/entry_lookups.hpp"
#include "server/gate/gate.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/rejections.hpp"
#include "server/session/request_accounting.hpp"

namespace hondana::session {

/// A client's response to a request of the server: a result, or the text of its error.
struct client_response {
  std::optional<value> result;  ///< nullopt: the response is `error`.
  std::string error;
};

/// The requests that the server has sent to one client. Threads: any; callbacks are called without the lock.
class outgoing_requests {
 public:
  using response_callback = std::function<void(client_response)>;
  outgoing_requests();

  /// Registers a request, and returns its unique, unguessable id. nullopt if too many requests wait. `callback`: called once
  /// with the response, unless `drop` comes first.
  [[nodiscard]] std::optional<std::string> open(response_callback callback);
  /// Passes a response to the callback of its request. Returns false if no request waits for it.
  bool answer(const rpc::request_id& id, client_response response);
  /// Removes a request without calling its callback.
  void drop(const std::string& id);
  /// Number of requests that wait for a response.
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::string prefix_;
  std::uint64_t next_ = 1;
  std::map<std::string, response_callback> waiting_;
};

/// An unguessable name: 128 random bits in hexadecimal digits.
[[nodiscard]] std::string random_name();

class change_stream;
enum class stream_party : std::uint8_t;
class stream_registry;
class request_cache;
struct cached_request;
struct pending_request;

/// The configuration of a server that its sessions use. Immutable; replaced as a whole by the next configuration.
struct server_snapshot {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<catalog::change_feed> feed;
  std::shared_ptr<catalog::entry_lookups> lookups;
  std::shared_ptr<const handlers::table> handlers;
  std::shared_ptr<const seal::sealer> sealer;
  std::shared_ptr<executor::timers> timers;
  model::server_info server_info;
  std::shared_ptr<const rate_limit::rate_limiter> meter;  ///< Null: no rate limits.
  std::chrono::milliseconds call_timeout{30'000};         ///< Time until a request is answered with an error.
  std::map<std::string, std::chrono::milliseconds, std::less<>> call_timeouts;  ///< By method, instead of `call_timeout`.
  std::chrono::milliseconds total_timeout{900'000};                             ///< Longest time until an answer begins.
  std::chrono::milliseconds input_timeout{600'000};  ///< How long a client may take to answer a question of the server.
  std::size_t max_requests_in_progress = 1024;       ///< Limit for one client; further requests are rejected.
  std::size_t max_subscriptions = 10'000;            ///< Limit of URIs that a client watches on one stream.
  /// Bytes of incomplete batch answers of all clients. Shared by all snapshots of a server. May be null.
  std::shared_ptr<std::atomic<std::size_t>> batch_bytes;
  std::shared_ptr<auditor> audit{};           ///< Null: no audit log.
  std::function<void(std::string_view)> log;  ///< May be empty.
  /// Limits the rate of log lines about rejections. Shared by all snapshots of a server. Never null.
  std::shared_ptr<rejection_log> rejections = std::make_shared<rejection_log>();
  /// The page cache of this snapshot. Never null.
  std::shared_ptr<page_cache> pages = std::make_shared<page_cache>(0);
  /// Called at the end of every decoded request; may be empty. Restrictions as for listeners of `request_tracker`.
  std::function<void(const caller_info&, const request_completion&)> on_request_end{};
  std::shared_ptr<tracer> traces{};  ///< Null: no traces.
  /// Decoded requests. Shared by all snapshots of a server. May be null.
  std::shared_ptr<request_cache> cached_requests{};

  /// Logs a rejection, unless there are too many. For the arguments, see `rejection_log::make_line`.
  void log_rejection(int status, std::string_view address, std::string_view identity, std::string_view reason) const {
    if (!log) return;
    if (const auto line = rejections->make_line(status, address, identity, reason)) log(*line);
  }
};

/// Provides the current snapshot.
class snapshot_source {
 public:
  snapshot_source() = default;
  snapshot_source(const snapshot_source&) = delete;
  snapshot_source& operator=(const snapshot_source&) = delete;
  virtual ~snapshot_source() = default;
  /// Never null. Threads: any.
  [[nodiscard]] virtual std::shared_ptr<const server_snapshot> current() const = 0;
};

/// Returns the caller with its access filter by the current rules.
[[nodiscard]] caller_info with_current_filter(caller_info caller, const snapshot_source& snapshots);

/// The state of one client: negotiated revision, requests in progress, and subscriptions. A transport that does not distinguish
/// clients (a stateless HTTP POST) makes one for each message.
///
/// Threads: `receive` from one thread at a time; answers reach the `rpc::response_writer` on any thread.
class session : public std::enable_shared_from_this<session> {
 public:
  /// What is known about a message before a session processes it.
  struct lookup_result {
    std::optional<rpc::outgoing_response> response;  ///< The answer; then no session is needed. nullopt: see `cached`.
    std::shared_ptr<cached_request> cached;  ///< A known request that was admitted or rejected. Null: an unknown message.
  };
  ~session();
  /// Creates a session without a negotiated revision.
  [[nodiscard]] static std::shared_ptr<session> open(std::shared_ptr<const snapshot_source> snapshots);

  /// Processes one message (one JSON text) and answers it through `writer`, exactly once. The answer is a message, a batch, or
  /// without content for notifications and cancelled requests. Never throws; malformed input is answered with an error.
  void receive(std::string_view message, const rpc::request_info& request_info,
               const std::shared_ptr<rpc::response_writer>& writer);
  /// Looks up a message of a client without a session in the request cache, because stateless messages are often repeated.
  /// Admits and records a known request, and answers it if its answer is cached. Without an answer, pass the result to
  /// `receive` of a new session. Never throws.
  [[nodiscard]] static lookup_result look_up(const snapshot_source& snapshots, std::string_view message,
                                             const rpc::request_info& request_info);
  /// As the other `receive`, for a message with the result of `look_up`.
  void receive(std::string_view message, const rpc::request_info& request_info,
               const std::shared_ptr<rpc::response_writer>& writer, lookup_result lookup);
  /// Answers a message that exceeds the transport's limit of `limit` bytes with an error.
  void reject_oversized(std::size_t limit, const rpc::request_info& request_info,
                        const std::shared_ptr<rpc::response_writer>& writer);

  /// The messages to the client that belong to no request, for a transport's stream. Never null. Threads: any.
  [[nodiscard]] std::shared_ptr<rpc::message_source> notification_stream();
  /// Sets the caller that reads that stream, who need not be the caller of this session's requests. Returns how often the
  /// access filter of the stream has changed. Threads: any.
  std::uint64_t set_stream_reader(const caller_info& caller);
  /// Ends the streams of `subscriptions/listen` gracefully, because the server is stopping. Threads: any.
  void finish();
  /// Cancels all requests and ends the notification stream, because the client has disconnected.
  void close();
  /// Number of requests in progress.
  [[nodiscard]] std::size_t in_progress() const;

 private:
  explicit session(std::shared_ptr<const snapshot_source> snapshots);
  struct incoming_message;  // a message being processed
  struct admission_result;  // the decision about a request
  friend struct cached_request;

  void receive_batch(const json::array& messages, const incoming_message& incoming);
  void receive_text(std::string_view message, const incoming_message& incoming);
  void receive_value(json::value value, const incoming_message& incoming);
  /// Processes a request.
  void accept(const rpc::request& request, const incoming_message& incoming);
  void on_response(const rpc::response& response);
  void reject(const rpc::malformed& message, const incoming_message& incoming);
  void accept(const rpc::notification& notification, const incoming_message& incoming);
  [[nodiscard]] static lookup_result look_up(const snapshot_source& snapshots, std::string_view message,
                                             const rpc::request_info& request_info, wire::negotiation& negotiation,
                                             const rpc::pending_requests* pending_requests);
  /// Answers a message by the result of `look_up`. Returns false, without effect, if the message is not known.
  [[nodiscard]] bool resume(lookup_result lookup, const rpc::request_info& request_info,
                            const std::shared_ptr<rpc::response_writer>& writer);
  /// Decides whether a request is executed, and records the decision. `is_first`: not a later message of a batch.
  [[nodiscard]] static admission_result admit(std::shared_ptr<const server_snapshot> snapshot, const model::request& request,
                                              std::string_view method, const wire::codec& codec,
                                              const rpc::request_info& request_info, bool is_first);
  /// Admits a decoded request, and answers it from a cache or by `dispatch`.
  void accept(model::request decoded, const rpc::request& request, const wire::codec& codec, const incoming_message& incoming);
  /// Executes an admitted request, or sends the error of its admission.
  void dispatch(model::request request, const rpc::request_id& id, const wire::codec& codec, const incoming_message& incoming,
                admission_result admission, std::optional<page_key> page);
  /// Rejects a message that is not a valid request, and records it in the audit log.
  void reject_message(const incoming_message& incoming, const std::optional<rpc::request_id>& id,
                      const wire::protocol_error& error, const wire::codec& codec, std::string_view method = {}) const;
  [[nodiscard]] result<void> subscribe(const model::subscribe& subscription, const caller_info& caller,
                                       const server_snapshot& snapshot);
  [[nodiscard]] result<void> subscribe(const model::subscribe_entries& subscription, const caller_info& caller,
                                       const server_snapshot& snapshot);
  /// Sets the caller by whose access filter the notification stream sends changes.
  void set_subscriber(const caller_info& caller);
  /// Sets a caller of a stream with the current rules, again if they change meanwhile.
  void update_stream_access(change_stream& stream, stream_party party, const caller_info& caller) const;
  void unsubscribe(const std::string& uri, const server_snapshot& snapshot);
  /// Opens the stream of a `subscriptions/listen` request.
  void listen(const model::listen& subscription, const std::shared_ptr<pending_request>& pending,
              const incoming_message& incoming);
  /// The stream of `notification_stream`, created on demand.
  [[nodiscard]] std::shared_ptr<change_stream> session_stream();
  void log(const std::string& line) const { log(*snapshots_, line); }
  static void log(const snapshot_source& snapshots, const std::string& line);

  std::shared_ptr<const snapshot_source> snapshots_;
  std::shared_ptr<rpc::pending_requests> requests_;
  // Created on demand: a stateless request does not need it. Many such requests are open streams, so memory counts.
  std::mutex stream_mutex_;
  std::shared_ptr<change_stream> session_stream_;
  std::shared_ptr<stream_registry> streams_;
  // Used by `receive` only:
  wire::negotiation negotiation_;
  client_capabilities client_;                   // of a legacy client, from `initialize`
  std::shared_ptr<outgoing_requests> outgoing_;  // for a legacy client, after its first call of a handler
  caller_info last_caller_;                      // the last caller in a session of a legacy client
  log_level level_ = log_level::info;            // of a legacy client; before it sets one, the server chooses
};

}  // namespace hondana::session

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
#include "protocol/rpc/in_flight.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/wire/choose.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/catalog/entry_lookups.hpp"
#include "server/gate/gate.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/refusals.hpp"
#include "server/session/request_accounting.hpp"

namespace hondana::session {

/// A client's response to a request of the server: a result, or the text of its error.
struct peer_answer {
  std::optional<value> result;
  std::string error;
};

/// The requests that the server has sent to one client. Threads: any; callbacks run without the lock.
class asked {
 public:
  using taker = std::function<void(peer_answer)>;
  asked();

  /// Registers a request and returns its unique, unguessable id. nullopt if too many requests wait.
  [[nodiscard]] std::optional<std::string> open(taker take);
  /// Passes a response to its callback. Returns false if no request waits for it.
  bool answer(const rpc::request_id& id, peer_answer what);
  /// Removes a request; a later response to it is ignored.
  void drop(const std::string& id);
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::string prefix_;
  std::uint64_t next_ = 1;
  std::map<std::string, taker> waiting_;
};

/// An unguessable name: 128 random bits in hexadecimal digits.
[[nodiscard]] std::string random_name();

class announcements;
enum class announcements_side : std::uint8_t;
class streams;
class known_requests;
struct known_request;
struct pending;

/// The data that every session uses. Immutable; replaced as a whole when the configuration changes.
struct context {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<catalog::feed> feed;
  std::shared_ptr<catalog::lookups> lookups;
  std::shared_ptr<const handlers::table> handlers;
  std::shared_ptr<const seal::sealer> sealer;
  std::shared_ptr<executor::timers> timers;
  model::self_description self;
  std::shared_ptr<const rate_limit::meter> meter;  ///< Null: no rate limits.
  std::chrono::milliseconds call_deadline{30'000};
  std::map<std::string, std::chrono::milliseconds, std::less<>> deadlines;  ///< By method, instead of `call_deadline`.
  std::chrono::milliseconds longest_call{900'000};                          ///< Longest time until an answer begins.
  std::chrono::milliseconds input_deadline{600'000};  ///< How long a client may take to answer a question of the server.
  std::size_t requests_under_way = 1024;              ///< Limit for one client; further requests are rejected.
  std::size_t subscriptions = 10'000;                 ///< Limit of URIs that a client watches on one stream.
  /// Bytes of incomplete batch answers of all clients. Shared by all contexts of a server. May be null.
  std::shared_ptr<std::atomic<std::size_t>> batch_bytes;
  std::shared_ptr<auditor> audit{};  ///< Null: no audit log.
  std::function<void(std::string_view)> log;
  /// Rate-limited log lines about rejections. Shared by all contexts of a server. Never null.
  std::shared_ptr<refusal_log> refusals = std::make_shared<refusal_log>();
  /// The page cache of this context. Never null.
  std::shared_ptr<kept_pages> pages = std::make_shared<kept_pages>(0);
  /// Called at the end of every decoded request; may be empty. Restrictions as for listeners of `ending`.
  std::function<void(const caller&, const completion&)> ended{};
  std::shared_ptr<tracer> traces{};  ///< Null: no traces.
  /// Decoded requests. Shared by all contexts of a server. May be null.
  std::shared_ptr<known_requests> known{};

  /// Logs a rejection, unless there are too many. Arguments as for `refusal_log::line`.
  void note_refusal(int status, std::string_view address, std::string_view identity, std::string_view why) const {
    if (!log) return;
    if (const auto line = refusals->line(status, address, identity, why)) log(*line);
  }
};

/// Provides the current context.
class context_source {
 public:
  context_source() = default;
  context_source(const context_source&) = delete;
  context_source& operator=(const context_source&) = delete;
  virtual ~context_source() = default;
  /// Never null. Threads: any.
  [[nodiscard]] virtual std::shared_ptr<const context> current() const = 0;
};

/// The caller with its access filter by the current rules.
[[nodiscard]] caller as_seen_now(caller who, const context_source& contexts);

/// One session. A transport that does not distinguish clients (a stateless HTTP POST) makes one for each message.
///
/// Threads: `receive` from one thread at a time; answers reach the `rpc::outlet` on any thread.
class session : public std::enable_shared_from_this<session> {
 public:
  /// What is known about a message before a session processes it.
  struct beginning {
    std::optional<rpc::delivery> said;    ///< The answer. If set, no session is needed.
    std::shared_ptr<known_request> rest;  ///< Otherwise the decision about a known request. Null: the message is not known.
  };
  ~session();
  [[nodiscard]] static std::shared_ptr<session> open(std::shared_ptr<const context_source> contexts);

  /// Processes one message (one JSON text) and answers it through `out`, exactly once: with a message, a batch, or without
  /// content for notifications and cancelled requests. Never throws; malformed input is answered with an error.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Looks up a message of a client without a session. Stateless messages are often repeated, and their answers cached. If
  /// there is no answer, continue with `receive` of a new session. Never throws.
  [[nodiscard]] static beginning begin(const context_source& contexts, std::string_view message, const rpc::facts& facts);
  /// As `receive` above, for a message that `begin` has looked up.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out, beginning begun);
  /// Answers a line or body that exceeds the transport's limit.
  void refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);

  /// The source of messages that belong to no request, for the stream that the client has for them. Never null. Threads: any.
  [[nodiscard]] std::shared_ptr<rpc::message_source> standing();
  /// Sets the reader of that stream, who need not be the caller of this session's requests. Returns how often the access filter
  /// of the stream has changed. Threads: any.
  std::uint64_t is_read_by(const caller& who);
  /// Ends the client's change streams gracefully, because the server is stopping. Threads: any.
  void finish();
  /// Stops all requests, because the client has disconnected.
  void close();
  /// Number of requests in progress.
  [[nodiscard]] std::size_t under_way() const;

 private:
  explicit session(std::shared_ptr<const context_source> contexts);
  struct incoming;   // a message being processed
  struct admission;  // the decision about a request
  friend struct known_request;

  void receive_batch(const json::array& messages, const incoming& whole);
  void receive_whole(std::string_view message, const incoming& whole);
  void receive_one(json::value value, const incoming& from);
  void accept(const rpc::request& request, const incoming& from);
  void take(const rpc::response& response);
  void refuse(const rpc::malformed& what, const incoming& from);
  void accept(const rpc::notification& notification, const incoming& from);
  [[nodiscard]] static beginning begin(const context_source& contexts, std::string_view message, const rpc::facts& facts,
                                       wire::conversation& in, const rpc::in_flight* under_way);
  /// Answers a known message, or returns false without effect.
  [[nodiscard]] bool go_on(beginning begun, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Decides about a request, and records the decision.
  [[nodiscard]] static admission admit(std::shared_ptr<const context> with, const model::request& what, std::string_view method,
                                       const wire::codec& codec, const rpc::facts& facts, bool is_first);
  void accept(model::request what, const rpc::request& request, const wire::codec& codec, const incoming& from);
  void dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from,
                admission granted, std::optional<page_key> page);
  /// Rejects a message that is not a valid request, and records it in the audit log.
  void turn_down(const incoming& from, const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                 const wire::codec& manners, std::string_view method = {}) const;
  [[nodiscard]] result<void> subscribe(const model::subscribe& what, const caller& who, const context& with);
  [[nodiscard]] result<void> subscribe(const model::subscribe_entries& what, const caller& who, const context& with);
  /// Sets the caller whose access filter the standing stream uses.
  void is_asked_by(const caller& who);
  /// Sets the access filter of a stream by the current rules, and repeats this if they change meanwhile.
  void let_see(announcements& stream, announcements_side as, const caller& who) const;
  void unsubscribe(const std::string& uri, const context& with);
  void listen(const model::listen& what, const std::shared_ptr<pending>& of, const incoming& from);
  [[nodiscard]] std::shared_ptr<announcements> own_notes();
  void note(const std::string& line) const { note(*contexts_, line); }
  static void note(const context_source& contexts, const std::string& line);

  std::shared_ptr<const context_source> contexts_;
  std::shared_ptr<rpc::in_flight> requests_;
  // Made on demand: a stateless request does not need it. Many such requests are open streams, so memory counts.
  std::mutex making_;
  std::shared_ptr<announcements> standing_;
  std::shared_ptr<streams> streams_;
  // Used by `receive` only:
  wire::conversation conversation_;
  client_abilities client_;            // of a legacy client, from `initialize`
  std::shared_ptr<asked> asked_;       // for a legacy client, after its first call of a handler
  caller asker_;                       // the last caller in a session of a legacy client
  log_level level_ = log_level::info;  // of a legacy client; before it sets one, the server chooses
};

}  // namespace hondana::session

/// One peer's conversation: its revision, requests under way, and answers. Sans-IO.
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

/// What a peer answered: a result, or the text of its error.
struct peer_answer {
  std::optional<value> result;
  std::string error;
};

/// One peer's table. Threads: any; takers are called without the table's lock.
class asked {
 public:
  using taker = std::function<void(peer_answer)>;
  asked();

  /// Registers a request; the id is unique and not to be guessed. Nothing when too many wait already.
  [[nodiscard]] std::optional<std::string> open(taker take);
  /// Hands an answer to whoever waits for it; false when nobody does.
  bool answer(const rpc::request_id& id, peer_answer what);
  /// Forgets a request; what comes for it later is nobody's.
  void drop(const std::string& id);
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::string prefix_;
  std::uint64_t next_ = 1;
  std::map<std::string, taker> waiting_;
};

/// Text that nobody guesses: 128 random bits in hexadecimal digits.
[[nodiscard]] std::string random_name();

class announcements;
enum class announcements_side : std::uint8_t;
class streams;
class known_requests;
struct known_request;
struct pending;

/// What every conversation works with; immutable, replaced as a whole when the configuration changes.
struct context {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<catalog::feed> feed;
  std::shared_ptr<catalog::lookups> lookups;
  std::shared_ptr<const handlers::table> handlers;
  std::shared_ptr<const seal::sealer> sealer;
  std::shared_ptr<executor::timers> timers;
  model::self_description self;
  std::shared_ptr<const rate_limit::meter> meter;  ///< Null: everybody may ask as much as they like.
  std::chrono::milliseconds call_deadline{30'000};
  std::map<std::string, std::chrono::milliseconds, std::less<>> deadlines;  ///< By method, instead of the former.
  std::chrono::milliseconds longest_call{900'000};                          ///< Whatever a request waits for.
  std::chrono::milliseconds input_deadline{600'000};  ///< Until a client must have answered what it is asked.
  std::size_t requests_under_way = 1024;              ///< A peer with more is told so.
  std::size_t subscriptions = 10'000;                 ///< URIs a peer may watch at once on one stream.
  /// What batches that wait for their last answer hold, of all peers; shared by all contexts of a server. May be null.
  std::shared_ptr<std::atomic<std::size_t>> batch_bytes;
  std::shared_ptr<auditor> audit{};  ///< Null: no record is kept.
  std::function<void(std::string_view)> log;
  /// Who was refused lately, in words; shared by all contexts of a server. Never null.
  std::shared_ptr<refusal_log> refusals = std::make_shared<refusal_log>();
  /// Pages of lists that this context has answered with. Never null.
  std::shared_ptr<kept_pages> pages = std::make_shared<kept_pages>(0);
  /// Told of every request that got as far as being decoded how it ended; may be empty. As listeners of `ending`.
  std::function<void(const caller&, const completion&)> ended{};
  std::shared_ptr<tracer> traces{};  ///< Null: nothing is traced.
  /// Reads that were decoded before; shared by all contexts of a server. May be null.
  std::shared_ptr<known_requests> known{};

  /// A line in the log, unless there are too many of them; arguments as those of `refusal_log::line`.
  void note_refusal(int status, std::string_view address, std::string_view identity, std::string_view why) const {
    if (!log) return;
    if (const auto line = refusals->line(status, address, identity, why)) log(*line);
  }
};

/// Where the current context comes from.
class context_source {
 public:
  context_source() = default;
  context_source(const context_source&) = delete;
  context_source& operator=(const context_source&) = delete;
  virtual ~context_source() = default;
  /// Never null. Threads: any.
  [[nodiscard]] virtual std::shared_ptr<const context> current() const = 0;
};

/// The caller with the view that it has by the present rules.
[[nodiscard]] caller as_seen_now(caller who, const context_source& contexts);

/// One conversation. A transport that keeps no peers apart (a modern HTTP POST) makes one for each message.
///
/// Threads: `receive` from one thread at a time; answers arrive at the outlet from any thread.
class session : public std::enable_shared_from_this<session> {
 public:
  /// What is known of a message before a session looks at it.
  struct beginning {
    std::optional<rpc::delivery> said;    ///< The answer: nothing has to be waited for, and no session is needed.
    std::shared_ptr<known_request> rest;  ///< Otherwise what was decided about it. Null: nothing yet.
  };
  ~session();
  [[nodiscard]] static std::shared_ptr<session> open(std::shared_ptr<const context_source> contexts);

  /// Takes one message (one JSON text) and answers it through `out`, exactly once: with a message, a batch, or nothing for
  /// notifications and cancelled requests. Never throws; every malformed input has an answer.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Looks at a message of a peer without a session: one that stands for itself is often one that came before, whose answer is
  /// at hand. What it has no answer to goes on with `receive`, of a session made for it. Never throws.
  [[nodiscard]] static beginning begin(const context_source& contexts, std::string_view message, const rpc::facts& facts);
  /// The same as above of a message that was looked at already.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out, beginning begun);
  /// Answers what never became a message: a line or body over the transport's cap.
  void refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);

  /// What belongs to no request of the peer, for whatever stream it has for that. Never null. Threads: any.
  [[nodiscard]] std::shared_ptr<rpc::message_source> standing();
  /// The stream for that is read by `who`, who need not be who asks in this session; how often what it may
  /// tell has changed by now. Threads: any.
  std::uint64_t is_read_by(const caller& who);
  /// The server will be gone soon: ends the peer's streams of changes as the era wants. Threads: any.
  void finish();
  /// The peer has gone: stops everything under way.
  void close();
  /// Requests not answered yet.
  [[nodiscard]] std::size_t under_way() const;

 private:
  explicit session(std::shared_ptr<const context_source> contexts);
  struct incoming;   // one message being looked at
  struct admission;  // what was decided about a request
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
  /// Answers what is known already; or does nothing, and says so.
  [[nodiscard]] bool go_on(beginning begun, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Decides about a request, and has that recorded.
  [[nodiscard]] static admission admit(std::shared_ptr<const context> with, const model::request& what, std::string_view method,
                                       const wire::codec& codec, const rpc::facts& facts, bool is_first);
  void accept(model::request what, const rpc::request& request, const wire::codec& codec, const incoming& from);
  void dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from,
                admission granted, std::optional<page_key> page);
  /// Answers what never became a request with its refusal, which the record of requests has, too.
  void turn_down(const incoming& from, const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                 const wire::codec& manners, std::string_view method = {}) const;
  [[nodiscard]] result<void> subscribe(const model::subscribe& what, const caller& who, const context& with);
  [[nodiscard]] result<void> subscribe(const model::subscribe_entries& what, const caller& who, const context& with);
  /// From now on the standing stream, if there is one, tells what this caller may see.
  void is_asked_by(const caller& who);
  /// By the present rules, also when they change meanwhile.
  void let_see(announcements& stream, announcements_side as, const caller& who) const;
  void unsubscribe(const std::string& uri, const context& with);
  void listen(const model::listen& what, const std::shared_ptr<pending>& of, const incoming& from);
  [[nodiscard]] std::shared_ptr<announcements> own_notes();
  void note(const std::string& line) const { note(*contexts_, line); }
  static void note(const context_source& contexts, const std::string& line);

  std::shared_ptr<const context_source> contexts_;
  std::shared_ptr<rpc::in_flight> requests_;
  // Made when it is first wanted: a request that stands for itself needs none, and may be a stream, of which there are many.
  std::mutex making_;
  std::shared_ptr<announcements> standing_;
  std::shared_ptr<streams> streams_;
  // Touched by `receive` only:
  wire::conversation conversation_;
  client_abilities client_;            // of a legacy peer, as declared by `initialize`
  std::shared_ptr<asked> asked_;       // of a legacy peer, once it calls something that may ask it
  caller asker_;                       // who asked last in a session that a legacy peer keeps
  log_level level_ = log_level::info;  // of a legacy peer; until it sets one, ours to choose
};

}  // namespace hondana::session

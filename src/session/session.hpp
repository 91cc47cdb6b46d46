/// One peer's conversation: era and revision, requests under way, answers. Sans-IO.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "catalog/catalog.hpp"
#include "catalog/feed.hpp"
#include "catalog/lookups.hpp"
#include "gate/gate.hpp"
#include "handlers/table.hpp"
#include "model/answers.hpp"
#include "rpc/facts.hpp"
#include "rpc/in_flight.hpp"
#include "rpc/outlet.hpp"
#include "seal/seal.hpp"
#include "session/asked.hpp"
#include "wire/choose.hpp"
#include "work/timers.hpp"

namespace hondana::session {

class announcements;
class streams;
struct pending;

/// What every conversation works with; immutable, replaced as a whole when the configuration changes.
struct context {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<catalog::feed> feed;
  std::shared_ptr<catalog::lookups> lookups;
  std::shared_ptr<const handlers::table> handlers;
  std::shared_ptr<const seal::sealer> sealer;
  std::shared_ptr<work::timers> timers;
  model::self_description self;
  std::chrono::milliseconds call_deadline{30'000};
  std::chrono::milliseconds input_deadline{600'000};  ///< Until a client must have answered what it is asked.
  std::size_t requests_under_way = 1024;              ///< A peer with more is told so.
  std::size_t subscriptions = 10'000;                 ///< URIs a peer may watch at once on one stream.
  /// What batches that wait for their last answer hold, of all peers; shared by all contexts of a server. May be null.
  std::shared_ptr<std::atomic<std::size_t>> batch_bytes;
  std::function<void(std::string_view)> log;
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

/// One conversation. A transport that keeps no peers apart (a modern HTTP POST) makes one for each message.
///
/// Threads: `receive` from one thread at a time; answers arrive at the outlet from any thread.
class session : public std::enable_shared_from_this<session> {
 public:
  ~session();
  [[nodiscard]] static std::shared_ptr<session> open(std::shared_ptr<const context_source> contexts);

  /// Takes one message (one JSON text) and answers it through `out`, exactly once: with a message, a batch, or nothing for
  /// notifications and cancelled requests. Never throws; every malformed input has an answer.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Answers what never became a message: a line or body over the transport's cap.
  void refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);

  /// What belongs to no request of the peer, for whatever stream it has for that. Never null. Threads: any.
  [[nodiscard]] std::shared_ptr<rpc::message_source> standing();
  /// The server will be gone soon: ends the peer's streams of changes as the era wants. Threads: any.
  void finish();
  /// The peer has gone: stops everything under way.
  void close();
  /// Requests not answered yet.
  [[nodiscard]] std::size_t under_way() const;

 private:
  explicit session(std::shared_ptr<const context_source> contexts);
  struct incoming;  // one message being looked at

  void receive_batch(const json::array& messages, const incoming& whole);
  void receive_whole(std::string_view message, const incoming& whole);
  void receive_one(json::value value, const incoming& from);
  void accept(const rpc::request& request, const incoming& from);
  void take(const rpc::response& response);
  void refuse(const rpc::malformed& what, const incoming& from);
  void accept(const rpc::notification& notification, const incoming& from);
  void dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from);
  [[nodiscard]] result<void> subscribe(const model::subscribe& what, const context& with);
  [[nodiscard]] result<void> subscribe(const model::subscribe_entries& what, const caller& who, const context& with);
  void unsubscribe(const std::string& uri, const context& with);
  void listen(const model::listen& what, const std::shared_ptr<pending>& of, const incoming& from);
  [[nodiscard]] std::shared_ptr<announcements> own_notes();
  void note(const std::string& line) const;

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
  log_level level_ = log_level::info;  // of a legacy peer; until it sets one, ours to choose
};

}  // namespace hondana::session

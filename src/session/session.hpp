/// One peer's conversation: era and revision, requests under way, answers. Sans-IO.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "catalog/catalog.hpp"
#include "gate/gate.hpp"
#include "model/answers.hpp"
#include "rpc/body.hpp"
#include "rpc/facts.hpp"
#include "rpc/in_flight.hpp"
#include "wire/choose.hpp"

namespace hondana::session {

/// What every conversation works with; immutable, replaced as a whole when the configuration changes.
struct context {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  model::self_description self;
  std::chrono::milliseconds call_deadline{30'000};
  std::size_t requests_under_way = 256;  ///< A peer with more is told so.
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
  [[nodiscard]] static std::shared_ptr<session> open(std::shared_ptr<const context_source> contexts);

  /// Takes one message (one JSON text) and answers it through `out`, exactly once: with a message, a batch, or nothing for
  /// notifications and cancelled requests. Never throws; every malformed input has an answer.
  void receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);
  /// Answers what never became a message: a line or body over the transport's cap.
  void refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out);

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
  void refuse(const rpc::malformed& what, const incoming& from);
  void accept(const rpc::notification& notification, const incoming& from);
  void dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from);
  void note(const std::string& line) const;

  std::shared_ptr<const context_source> contexts_;
  std::shared_ptr<rpc::in_flight> requests_;
  wire::conversation conversation_;  // touched by `receive` only
};

}  // namespace hondana::session

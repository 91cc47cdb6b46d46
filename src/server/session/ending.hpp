/// How a request ended, for whoever keeps account of requests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "protocol/rpc/outlet.hpp"

namespace hondana::session {

struct completion {
  audit_outcome how = audit_outcome::answered;
  int error = 0;            ///< The code of the JSON-RPC error that was the answer; 0: a result, or none.
  std::uint64_t bytes = 0;  ///< Of the answer's JSON, as far as it was written; a piece of it may not have been taken.
  std::chrono::steady_clock::duration took{};
};

/// Follows one request and tells its listeners once how it ended: when the answer has left, not when it is made.
///
/// Threads: any, but for `listen`. Listeners are called from whatever thread sends, maybe under its locks: they take a note and
/// return.
class ending : public std::enable_shared_from_this<ending> {
 public:
  using listener = std::function<void(const completion&)>;

  ending() = default;
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;
  /// A request that nobody has any more will not be answered.
  ~ending() { give_up(audit_outcome::gone); }

  /// Before the request can be answered or cancelled.
  void listen(listener hears) { hear_.push_back(std::move(hears)); }
  /// The answer is on its way.
  void follow(rpc::delivery& answer) {
    if (!answer.content) return tell(audit_outcome::answered, answer.error, 0);
    answer.content->watch(std::make_shared<rpc::receipt>(
        [self = shared_from_this(), error = answer.error](rpc::departure how, std::uint64_t bytes) {
          const auto to = how == rpc::departure::sent  ? audit_outcome::answered
                          : how == rpc::departure::cut ? audit_outcome::cut
                                                       : audit_outcome::gone;
          self->tell(to, error, bytes);
        }));
  }
  /// There will be none.
  void give_up(audit_outcome how) { tell(how, 0, 0); }

 private:
  void tell(audit_outcome how, int error, std::uint64_t bytes) {
    if (is_told_.exchange(true)) return;
    const completion what{how, error, bytes, monotonic_clock::now() - since_};
    for (const auto& one : hear_) one(what);
  }

  const std::chrono::steady_clock::time_point since_ = monotonic_clock::now();
  std::vector<listener> hear_;
  std::atomic<bool> is_told_{false};
};

}  // namespace hondana::session

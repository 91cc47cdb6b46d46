/// Records of requests for the audit log, metrics and traces.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/counters/metrics.hpp"
#include "base/tracing/tracing.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::session {

/// How a request ended.
struct completion {
  audit_outcome how = audit_outcome::answered;
  int error = 0;  ///< Code of the JSON-RPC error in the answer. 0: a result, or no answer.
  /// Bytes of the answer's JSON that were written; the client may not have received the last of them.
  std::uint64_t bytes = 0;
  std::chrono::steady_clock::duration took{};
};

/// Follows one request and notifies its listeners once when it ends: when the answer has been sent, not when it is ready.
///
/// Threads: any, except for `listen`. Listeners are called on the sending thread, possibly under its locks, so they must only
/// take a note and return.
class ending : public std::enable_shared_from_this<ending> {
 public:
  using listener = std::function<void(const completion&)>;

  ending() = default;
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;
  /// A request without an owner will not be answered.
  ~ending() { give_up(audit_outcome::gone); }

  /// Adds a listener. Call it before the request can be answered or cancelled.
  void listen(listener hears) { hear_.push_back(std::move(hears)); }
  /// Waits until the answer is sent.
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
  /// Ends without an answer.
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

/// The limit that a request exceeded.
enum class limit : std::uint8_t { rate, concurrency, bytes, scope };

/// The request metrics of all servers of this process. Threads: any; a few instructions per request.
class request_figures {
 public:
  [[nodiscard]] static request_figures& here();

  /// A number for the method of an operation. All unknown methods share `no_method`.
  [[nodiscard]] static std::size_t method_of(const model::operation& what) noexcept { return what.index(); }
  static constexpr std::size_t no_method = std::variant_size_v<model::operation>;
  [[nodiscard]] static std::string_view name_of(std::size_t method) noexcept;

  /// Counts an answer: the JSON-RPC error `code`, or 0 for a result.
  void answered(std::size_t method, const wire::codec& in, int code) noexcept;
  /// The same with the time until the answer began to be sent.
  void answered(std::size_t method, const wire::codec& in, int code, std::chrono::nanoseconds time) noexcept {
    answered(method, in, code);
    times_->observe(method, time);
  }
  /// Counts a request whose answer no client receives.
  void given_up(std::size_t method, const wire::codec& in, audit_outcome how) noexcept;
  void began() noexcept { under_way_->add(0); }
  void ended() noexcept { under_way_->subtract(0); }
  void refused(limit by) noexcept { refusals_->add(static_cast<std::size_t>(by)); }
  /// The same for an error code that stands for a limit; does nothing for others.
  void refused(errc why) noexcept;
  void opened_stream() noexcept { streams_->add(0); }
  void closed_stream() noexcept { streams_->subtract(0); }
  /// Counts a notification that was passed to a stream.
  void told() noexcept { told_->add(0); }
  /// Counts a log message that was dropped because the client reads too slowly.
  void dropped() noexcept { dropped_->add(0); }

 private:
  request_figures();
  void count(std::size_t method, const wire::codec& in, std::size_t outcome) noexcept;

  const std::shared_ptr<counters::sums> requests_;  // by era, method and outcome
  const std::shared_ptr<counters::times> times_;    // by method
  const std::shared_ptr<counters::sums> under_way_;
  const std::shared_ptr<counters::sums> refusals_;
  const std::shared_ptr<counters::sums> streams_;
  const std::shared_ptr<counters::sums> told_;
  const std::shared_ptr<counters::sums> dropped_;
};

/// Makes the span of a request; null if it is not traced. The span has no URIs and arguments, which may be secret, and secrets
/// in names of tools and prompts are masked.
[[nodiscard]] std::shared_ptr<tracing::live_span> span_of(tracer& with, const model::request& what, const wire::codec& in,
                                                          const rpc::facts& facts);
/// Ends the span with the answer's JSON-RPC error code, or 0 for a result.
void end(tracing::live_span& one, int code);

struct context;

/// The audit decision about a request. `method`: as the client wrote it.
[[nodiscard]] audit_decision decision_about(const context& with, const caller& who, std::string_view method,
                                            const model::request& what, const result<void>& admitted);
[[nodiscard]] audit_completion completion_of(const completion& how, const std::string& trace);

/// Records a rejection of a message that is not a request. Does nothing without an auditor. `why`: see `audit_decision`.
void record_refusal(auditor* by, const caller& who, std::string_view method, std::string_view why, int http_status = 0);

}  // namespace hondana::session

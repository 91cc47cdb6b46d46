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
struct request_completion {
  audit_outcome outcome = audit_outcome::answered;
  int error = 0;  ///< Code of the JSON-RPC error in the answer. 0: a result, or no answer.
  /// Bytes of the answer's JSON that were written; the client may not have received the last of them.
  std::uint64_t bytes = 0;
  std::chrono::steady_clock::duration duration{};
};

/// Follows one request, and notifies its listeners once when it ends: when the answer has been sent, not when it is ready.
///
/// Threads: any, except for `add_listener`. Listeners are called on the sending thread, possibly under its locks, so they must
/// only record the call and return.
class request_tracker : public std::enable_shared_from_this<request_tracker> {
 public:
  using listener = std::function<void(const request_completion&)>;

  request_tracker() = default;
  request_tracker(const request_tracker&) = delete;
  request_tracker& operator=(const request_tracker&) = delete;
  /// Without an owner, the request will not be answered: it ends as disconnected.
  ~request_tracker() { abandon(audit_outcome::disconnected); }

  /// Adds a listener. Call it before the request can be answered or cancelled.
  void add_listener(listener callback) { listeners_.push_back(std::move(callback)); }
  /// Ends the request when `answer` has been sent; at once if there is nothing to send. Does not block.
  void follow(rpc::outgoing_response& answer) {
    if (!answer.content) return notify(audit_outcome::answered, answer.error_code, 0);
    answer.content->attach_receipt(std::make_shared<rpc::receipt>(
        [tracker = shared_from_this(), error = answer.error_code](rpc::delivery_outcome departure, std::uint64_t bytes) {
          const auto outcome = departure == rpc::delivery_outcome::sent        ? audit_outcome::answered
                               : departure == rpc::delivery_outcome::truncated ? audit_outcome::truncated
                                                                               : audit_outcome::disconnected;
          tracker->notify(outcome, error, bytes);
        }));
  }
  /// Ends the request without an answer.
  void abandon(audit_outcome outcome) { notify(outcome, 0, 0); }

 private:
  void notify(audit_outcome outcome, int error, std::uint64_t bytes) {
    if (is_notified_.exchange(true)) return;
    const request_completion completion{outcome, error, bytes, monotonic_clock::now() - start_};
    for (const auto& callback : listeners_) callback(completion);
  }

  const std::chrono::steady_clock::time_point start_ = monotonic_clock::now();
  std::vector<listener> listeners_;
  std::atomic<bool> is_notified_{false};
};

/// The limit that a request exceeded. `size`: the size of a message or of contents.
enum class limit : std::uint8_t { rate, concurrency, size, scope };

/// The request metrics of all servers of this process. Threads: any; a few instructions per request.
class request_metrics {
 public:
  /// The only instance; never destroyed.
  [[nodiscard]] static request_metrics& global();

  /// The number of an operation's method.
  [[nodiscard]] static std::size_t method_of(const model::operation& operation) noexcept { return operation.index(); }
  /// The number of all unknown methods.
  static constexpr std::size_t no_method = std::variant_size_v<model::operation>;
  /// The method's name in metrics.
  [[nodiscard]] static std::string_view name_of(std::size_t method) noexcept;

  /// Counts an answer. `code`: of its JSON-RPC error; 0: a result.
  void count_answer(std::size_t method, const wire::codec& codec, int code) noexcept;
  /// Counts an answer and the time from the request until it began to be sent.
  void count_answer(std::size_t method, const wire::codec& codec, int code, std::chrono::nanoseconds time) noexcept {
    count_answer(method, codec, code);
    times_->observe(method, time);
  }
  /// Counts a request whose answer no client receives.
  void count_abandoned(std::size_t method, const wire::codec& codec, audit_outcome outcome) noexcept;
  /// Counts a request as in progress.
  void count_start() noexcept { in_progress_->add(0); }
  /// No longer counts a request as in progress.
  void count_end() noexcept { in_progress_->subtract(0); }
  /// Counts a request that exceeded a limit.
  void count_rejection(limit exceeded) noexcept { rejections_->add(static_cast<std::size_t>(exceeded)); }
  /// Counts a rejection if the error code stands for a limit.
  void count_rejection(errc code) noexcept;
  void count_opened_stream() noexcept { streams_->add(0); }
  void count_closed_stream() noexcept { streams_->subtract(0); }
  /// Counts a notification that was passed to a stream.
  void count_notification() noexcept { notifications_->add(0); }
  /// Counts a log message that was dropped because the client reads too slowly.
  void count_dropped_message() noexcept { dropped_messages_->add(0); }

 private:
  request_metrics();
  void count(std::size_t method, const wire::codec& codec, std::size_t outcome) noexcept;

  const std::shared_ptr<counters::counter_family> requests_;   // by protocol, method and outcome
  const std::shared_ptr<counters::duration_histogram> times_;  // by method
  const std::shared_ptr<counters::counter_family> in_progress_;
  const std::shared_ptr<counters::counter_family> rejections_;
  const std::shared_ptr<counters::counter_family> streams_;
  const std::shared_ptr<counters::counter_family> notifications_;
  const std::shared_ptr<counters::counter_family> dropped_messages_;
};

/// Makes the span of a request; null if it is not traced. The span contains neither URIs nor arguments, which may be secret.
/// Secrets in names of tools and prompts are masked.
[[nodiscard]] std::shared_ptr<tracing::active_span> begin_span(tracer& tracer, const model::request& request,
                                                               const wire::codec& codec, const rpc::request_info& request_info);
/// Ends the span with the answer's JSON-RPC error code, or 0 for a result.
void end_span(tracing::active_span& span, int code);

struct server_snapshot;

/// The audit decision about a request. `caller` has its access filter by the current rules. `method`: as the client wrote it.
/// `admitted`: the result of rate limits and scopes.
[[nodiscard]] audit_decision make_decision(const server_snapshot& snapshot, const caller_info& caller, std::string_view method,
                                           const model::request& request, const result<void>& admitted);
/// The audit record of the end of a request. `trace`: its trace id; empty: none.
[[nodiscard]] audit_completion make_completion(const request_completion& completion, const std::string& trace);

/// Records a rejection of a message that is not a request. Does nothing if `auditor` is null. `reason`: see `audit_decision`.
/// `http_status`: of a rejection before a message was read; otherwise 0.
void record_rejection(auditor* auditor, const caller_info& caller, std::string_view method, std::string_view reason,
                      int http_status = 0);

}  // namespace hondana::session

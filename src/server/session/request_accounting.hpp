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

/// Why a peer was refused by a limit.
enum class limit : std::uint8_t { rate, concurrency, bytes, scope };

/// Those of all servers of this process. Threads: any; a few instructions a request.
class request_figures {
 public:
  [[nodiscard]] static request_figures& here();

  /// The method that an operation is asked for by, as a number; methods that there are not have one together.
  [[nodiscard]] static std::size_t method_of(const model::operation& what) noexcept { return what.index(); }
  static constexpr std::size_t no_method = std::variant_size_v<model::operation>;
  [[nodiscard]] static std::string_view name_of(std::size_t method) noexcept;

  /// A request was answered with the JSON-RPC error `code`, or 0.
  void answered(std::size_t method, const wire::codec& in, int code) noexcept;
  /// The same for one that took `time` until its answer began to leave.
  void answered(std::size_t method, const wire::codec& in, int code, std::chrono::nanoseconds time) noexcept {
    answered(method, in, code);
    times_->observe(method, time);
  }
  /// Nobody wants its answer any more.
  void given_up(std::size_t method, const wire::codec& in, audit_outcome how) noexcept;
  void began() noexcept { under_way_->add(0); }
  void ended() noexcept { under_way_->subtract(0); }
  void refused(limit by) noexcept { refusals_->add(static_cast<std::size_t>(by)); }
  /// The same where the code says which.
  void refused(errc why) noexcept;
  void opened_stream() noexcept { streams_->add(0); }
  void closed_stream() noexcept { streams_->subtract(0); }
  /// Notifications that were handed to a stream.
  void told() noexcept { told_->add(0); }
  /// Log messages that a peer was too slow for.
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

/// A span for a request; null when it is not traced. What it says holds no URI and no argument, which may be secret, and
/// masks the names of tools and prompts.
[[nodiscard]] std::shared_ptr<tracing::live_span> span_of(tracer& with, const model::request& what, const wire::codec& in,
                                                          const rpc::facts& facts);
/// Ends it with what the request was answered with: a JSON-RPC error's code, or 0.
void end(tracing::live_span& one, int code);

struct context;

/// The decision about a request. `method`: as the peer wrote it.
[[nodiscard]] audit_decision decision_about(const context& with, const caller& who, std::string_view method,
                                            const model::request& what, const result<void>& admitted);
[[nodiscard]] audit_completion completion_of(const completion& how, const std::string& trace);

/// Records that somebody was refused before there was a request to decide about; does nothing without an auditor. `why`: see
/// `audit_decision`.
void record_refusal(auditor* by, const caller& who, std::string_view method, std::string_view why, int http_status = 0);

}  // namespace hondana::session

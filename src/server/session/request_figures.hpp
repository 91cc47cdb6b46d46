/// What requests are counted by, and traced as.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <hondana/audit.hpp>
#include <hondana/error.hpp>

#include "base/counters/families.hpp"
#include "base/tracing/tracer.hpp"
#include "protocol/model/operation.hpp"
#include "protocol/rpc/facts.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::session {

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

}  // namespace hondana::session

/// Distributed tracing: the context in `traceparent`, spans, and the tracer that samples and queues them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/tracing.hpp>

namespace hondana::tracing {

using trace_id = std::array<std::uint8_t, 16>;
using span_id = std::array<std::uint8_t, 8>;

/// A span among those of its trace. Neither id is all zeros.
struct context {
  trace_id trace{};
  span_id span{};
  bool is_sampled = false;
  bool operator==(const context&) const = default;
};

/// `traceparent`; nothing for what is malformed. Of versions to come what is known of them is taken. Spec: W3C Trace Context
/// 3.2.
[[nodiscard]] std::optional<context> parse(std::string_view traceparent);
/// As version 00 writes it.
[[nodiscard]] std::string print(const context& what);
[[nodiscard]] std::string hex(const trace_id& what);
[[nodiscard]] std::string hex(const span_id& what);
/// The trace id in a well-formed `traceparent`; empty in an empty one.
[[nodiscard]] std::string_view trace_in(std::string_view traceparent) noexcept;

inline constexpr std::size_t longest_state = 512;
inline constexpr std::size_t most_state_members = 32;
inline constexpr std::size_t longest_baggage = 8192;
/// Whether it may be passed on: visible ASCII, members `key=value`, within these bounds. Spec: W3C Trace Context 3.3.
[[nodiscard]] bool is_state(std::string_view tracestate) noexcept;
/// The same of baggage: visible ASCII within its bound. Spec: W3C Baggage 3.
[[nodiscard]] bool is_baggage(std::string_view text) noexcept;

/// Unlike any other, and never all zeros. Threads: any.
[[nodiscard]] trace_id new_trace();
[[nodiscard]] span_id new_span();

/// Numbers are those of OpenTelemetry.
enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 };

struct attribute {
  std::string_view name;  ///< Lives as long as the program.
  std::variant<std::string, std::int64_t> value;
};

struct span {
  context of{};
  std::optional<span_id> parent{};
  std::string state{};  ///< `tracestate`
  std::string name{};
  span_kind kind = span_kind::internal;
  std::chrono::system_clock::time_point begin{};
  std::chrono::nanoseconds took{};
  std::vector<attribute> attributes{};
  bool has_failed = false;
};

/// A span under way. It ends once: by `end`, or when nobody has it any more. Threads: one at a time.
class live_span {
 public:
  live_span(std::shared_ptr<tracer> to, span begun);
  ~live_span() { end(); }
  live_span(const live_span&) = delete;
  live_span& operator=(const live_span&) = delete;

  void set(std::string_view name, std::string value) { what_.attributes.push_back({name, std::move(value)}); }
  void set(std::string_view name, std::int64_t value) { what_.attributes.push_back({name, value}); }
  void fail() noexcept { what_.has_failed = true; }
  void end();
  /// For what is done within it.
  [[nodiscard]] trace_context inner(const trace_context& outer) const;

 private:
  std::shared_ptr<tracer> to_;
  span what_;
  const std::chrono::steady_clock::time_point since_ = monotonic_clock::now();
};

}  // namespace hondana::tracing

namespace hondana::inline v0 {

/// Threads: any; nothing waits for whoever sends.
class tracer : public std::enable_shared_from_this<tracer> {
 public:
  /// `sample`: the part of requests without a trace of their own that are traced. Beyond `most_waiting` finished spans the
  /// newer ones are dropped.
  tracer(double sample, std::size_t most_waiting) noexcept : sample_(sample), most_waiting_(most_waiting) {}
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  /// A request that came with `from`; null when it is not traced. Spec: W3C Trace Context 3.2.2.5, the sampled flag.
  [[nodiscard]] std::shared_ptr<tracing::live_span> begin_request(std::string name, const trace_context& from);
  /// Something within what `of` names; null when that is not traced.
  [[nodiscard]] std::shared_ptr<tracing::live_span> begin_within(std::string name, tracing::span_kind kind,
                                                                 const trace_context& of);
  void take(tracing::span what);

  /// At most `most` of those that wait, as soon as there are so many, `pause` has passed, or a flush is wanted; empty only when
  /// `stop` is requested. They count as being sent until the next call, or `sent`.
  [[nodiscard]] std::vector<tracing::span> next(std::size_t most, std::chrono::milliseconds pause, const std::stop_token& stop);
  void sent();
  /// True when nothing waits or is being sent any more.
  bool flush(std::chrono::steady_clock::time_point until);

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Counted by whoever could not send them.
  void drop(std::uint64_t count) noexcept { dropped_ += count; }
  [[nodiscard]] std::size_t waiting() const;

 private:
  [[nodiscard]] std::shared_ptr<tracing::live_span> begin(std::string name, tracing::span_kind kind,
                                                          const tracing::context& parent, bool is_root, std::string state);

  const double sample_;
  const std::size_t most_waiting_;
  std::atomic<std::uint64_t> dropped_{0};
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<tracing::span> waiting_;
  std::size_t wanted_ = 1;   // how many are worth waking whoever sends them
  std::size_t flushes_ = 0;  // under way
  bool is_sending_ = false;
};

}  // namespace hondana::inline v0

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

/// Identifies a span and its trace. Neither id is all zeros.
struct context {
  trace_id trace{};
  span_id span{};
  bool is_sampled = false;
  bool operator==(const context&) const = default;
};

/// Parses `traceparent`. Returns nothing if it is malformed. Of newer versions, the fields of version 00 are used.
/// Spec: W3C Trace Context 3.2.
[[nodiscard]] std::optional<context> parse(std::string_view traceparent);
/// Formats a context as a `traceparent` of version 00.
[[nodiscard]] std::string print(const context& what);
[[nodiscard]] std::string hex(const trace_id& what);
[[nodiscard]] std::string hex(const span_id& what);
/// The trace id in a well-formed `traceparent`; empty if the text is empty.
[[nodiscard]] std::string_view trace_in(std::string_view traceparent) noexcept;

inline constexpr std::size_t longest_state = 512;
inline constexpr std::size_t most_state_members = 32;
inline constexpr std::size_t longest_baggage = 8192;
/// Whether a `tracestate` can be forwarded: visible ASCII, members `key=value`, within the limits above.
/// Spec: W3C Trace Context 3.3.
[[nodiscard]] bool is_state(std::string_view tracestate) noexcept;
/// Whether baggage can be forwarded: visible ASCII of at most `longest_baggage` bytes. Spec: W3C Baggage 3.
[[nodiscard]] bool is_baggage(std::string_view text) noexcept;

/// A random id, never all zeros. Threads: any.
[[nodiscard]] trace_id new_trace();
[[nodiscard]] span_id new_span();

/// Values as in OpenTelemetry.
enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 };

struct attribute {
  std::string_view name;  ///< Must live as long as the program.
  std::variant<std::string, std::int64_t> value;
};

struct span {
  context of{};
  std::optional<span_id> parent{};
  std::string state{};  ///< The `tracestate`.
  std::string name{};
  span_kind kind = span_kind::internal;
  std::chrono::system_clock::time_point begin{};
  std::chrono::nanoseconds took{};
  std::vector<attribute> attributes{};
  bool has_failed = false;
};

/// A span in progress. It ends once: in `end` or in the destructor. Threads: one at a time.
class live_span {
 public:
  live_span(std::shared_ptr<tracer> to, span begun);
  ~live_span() { end(); }
  live_span(const live_span&) = delete;
  live_span& operator=(const live_span&) = delete;

  void set(std::string_view name, std::string value) { what_.attributes.push_back({name, std::move(value)}); }
  void set(std::string_view name, std::int64_t value) { what_.attributes.push_back({name, value}); }
  /// Marks the operation as failed.
  void fail() noexcept { what_.has_failed = true; }
  /// Ends the span and passes it to the tracer. Later calls have no effect.
  void end();
  /// The trace context for operations inside this span.
  [[nodiscard]] trace_context inner(const trace_context& outer) const;

 private:
  std::shared_ptr<tracer> to_;
  span what_;
  const std::chrono::steady_clock::time_point since_ = monotonic_clock::now();
};

}  // namespace hondana::tracing

namespace hondana::inline v0 {

/// Samples requests and queues finished spans for export. Threads: any; no call waits for the exporter except `next` and
/// `flush`.
class tracer : public std::enable_shared_from_this<tracer> {
 public:
  /// `sample`: the fraction (0 to 1) of requests without a trace context that are traced.
  /// `most_waiting`: the capacity of the queue. New spans are dropped when it is full.
  tracer(double sample, std::size_t most_waiting) noexcept : sample_(sample), most_waiting_(most_waiting) {}
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  /// Begins the span of a request whose trace context is `from`. Returns null if the request is not traced.
  /// Spec: W3C Trace Context 3.2.2.5, the sampled flag.
  [[nodiscard]] std::shared_ptr<tracing::live_span> begin_request(std::string name, const trace_context& from);
  /// Begins a child span of `of`. Returns null if `of` is not traced.
  [[nodiscard]] std::shared_ptr<tracing::live_span> begin_within(std::string name, tracing::span_kind kind,
                                                                 const trace_context& of);
  /// Queues a finished span for export, or drops it if the queue is full.
  void take(tracing::span what);

  /// Waits for spans and returns at most `most` of them.
  /// Returns when `most` spans wait, `pause` has passed with at least one span, or a flush is requested. Returns an empty
  /// vector only when `stop` is requested. The spans count as being sent until the next call, or until `sent`.
  [[nodiscard]] std::vector<tracing::span> next(std::size_t most, std::chrono::milliseconds pause, const std::stop_token& stop);
  /// Marks the spans of the last `next` as sent.
  void sent();
  /// Waits until `until` for all spans to be sent. Returns true if none waits or is being sent.
  bool flush(std::chrono::steady_clock::time_point until);

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Counts spans that could not be exported.
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
  std::size_t wanted_ = 1;   // queue size at which the exporter is notified
  std::size_t flushes_ = 0;  // number of running `flush` calls
  bool is_sending_ = false;
};

}  // namespace hondana::inline v0

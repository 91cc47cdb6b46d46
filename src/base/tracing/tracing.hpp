/// Distributed tracing: the trace context in `traceparent`, spans, and the tracer that samples and queues them.
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

/// Identifies a span and its trace. In a valid context, neither id is all zeros.
struct span_context {
  trace_id trace{};
  span_id span{};
  bool is_sampled = false;  ///< The spans of this trace are recorded.
  bool operator==(const span_context&) const = default;
};

/// Parses a `traceparent`; nullopt if it is malformed. Of newer versions, only the fields of version 00 are read.
/// Spec: W3C Trace Context 3.2.
[[nodiscard]] std::optional<span_context> parse_traceparent(std::string_view traceparent);
/// Formats a context as a `traceparent` of version 00.
[[nodiscard]] std::string format_traceparent(const span_context& context);
[[nodiscard]] std::string to_hex(const trace_id& id);
[[nodiscard]] std::string to_hex(const span_id& id);
/// The trace id, in hexadecimal, of a `traceparent` that must be well-formed or empty. Empty if it is empty.
[[nodiscard]] std::string_view trace_id_in(std::string_view traceparent) noexcept;

inline constexpr std::size_t max_tracestate_bytes = 512;
inline constexpr std::size_t max_tracestate_members = 32;
inline constexpr std::size_t max_baggage_bytes = 8192;
/// Whether a `tracestate` can be forwarded: printable ASCII, at least one member `key=value`, and within the limits above.
/// Spec: W3C Trace Context 3.3.
[[nodiscard]] bool is_tracestate(std::string_view tracestate) noexcept;
/// Whether baggage can be forwarded: not empty, printable ASCII, at most `max_baggage_bytes` bytes. Spec: W3C Baggage 3.
[[nodiscard]] bool is_baggage(std::string_view text) noexcept;

/// Generates a random id, never all zeros. Threads: any.
[[nodiscard]] trace_id new_trace_id();
/// Generates a random id, never all zeros. Threads: any.
[[nodiscard]] span_id new_span_id();

/// The role of this process in the operation of a span. Numbers as in OpenTelemetry.
enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 };

/// A fact about the operation of a span.
struct attribute {
  std::string_view name;  ///< Must live as long as the program.
  std::variant<std::string, std::int64_t> value;
};

/// One operation within a trace.
struct span {
  span_context context{};
  std::optional<span_id> parent{};  ///< nullopt: the first span of its trace.
  std::string tracestate{};         ///< The `tracestate` of the request; may be empty.
  std::string name{};
  span_kind kind = span_kind::internal;
  std::chrono::system_clock::time_point start_time{};
  std::chrono::nanoseconds duration{};
  std::vector<attribute> attributes{};
  bool has_failed = false;
};

/// A span in progress, which `end` or the destructor ends. Threads: one at a time.
class active_span {
 public:
  active_span(std::shared_ptr<tracer> owner, span started);
  ~active_span() { end(); }
  active_span(const active_span&) = delete;
  active_span& operator=(const active_span&) = delete;

  void set_attribute(std::string_view name, std::string value) { span_.attributes.push_back({name, std::move(value)}); }
  void set_attribute(std::string_view name, std::int64_t value) { span_.attributes.push_back({name, value}); }
  void set_failed() noexcept { span_.has_failed = true; }
  /// Ends the span and passes it to the tracer. Later calls have no effect.
  void end();
  /// The trace context for operations inside this span: `parent` with this span in its `traceparent`.
  [[nodiscard]] trace_context child_context(const trace_context& parent) const;

 private:
  std::shared_ptr<tracer> tracer_;
  span span_;
  const std::chrono::steady_clock::time_point start_ = monotonic_clock::now();
};

}  // namespace hondana::tracing

namespace hondana::inline v0 {

/// Decides which requests are traced, and queues finished spans for the exporter, which sends them.
/// Threads: any. Only `next_batch` and `flush` block.
class tracer : public std::enable_shared_from_this<tracer> {
 public:
  /// `sample_ratio`: the fraction (0 to 1) of the requests without a trace context that are traced.
  /// `max_queued_spans`: the capacity of the queue. While it is full, finished spans are dropped.
  tracer(double sample_ratio, std::size_t max_queued_spans) noexcept
      : sample_ratio_(sample_ratio), max_queued_spans_(max_queued_spans) {}
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  /// Begins the span of a request whose trace context is `context`. Returns null if the request is not traced.
  /// The sampled flag of `context` decides, or `sample_ratio` if it has no valid `traceparent`.
  /// Spec: W3C Trace Context 3.2.2.5, the sampled flag.
  [[nodiscard]] std::shared_ptr<tracing::active_span> begin_request(std::string name, const trace_context& context);
  /// Begins a child of the span in `context`. Returns null if that span is not sampled or there is none.
  [[nodiscard]] std::shared_ptr<tracing::active_span> begin_child(std::string name, tracing::span_kind kind,
                                                                  const trace_context& context);
  /// Queues a finished span for export, or drops it if the queue is full.
  void enqueue(tracing::span finished);

  /// Waits for finished spans, and removes and returns at most `max_spans` of them. Called by the exporter only.
  /// Returns when `max_spans` spans are queued, or when at least one is and `interval` has passed or `flush` is called.
  /// Returns an empty vector only after `stop` was requested.
  /// The spans count as being sent until the next call, or until `mark_sent`.
  [[nodiscard]] std::vector<tracing::span> next_batch(std::size_t max_spans, std::chrono::milliseconds interval,
                                                      const std::stop_token& stop);
  /// Marks the spans of the last `next_batch` as sent.
  void mark_sent();
  /// Waits until `deadline` for the exporter to send all queued spans. Returns whether no span is queued or being sent.
  bool flush(std::chrono::steady_clock::time_point deadline);

  /// The number of spans that were dropped since the start.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Adds the number of spans that the exporter could not send to `dropped`.
  void add_dropped(std::uint64_t count) noexcept { dropped_ += count; }
  /// The number of spans in the queue.
  [[nodiscard]] std::size_t queued() const;

 private:
  [[nodiscard]] std::shared_ptr<tracing::active_span> begin(std::string name, tracing::span_kind kind,
                                                            const tracing::span_context& parent, bool is_root,
                                                            std::string tracestate);

  const double sample_ratio_;
  const std::size_t max_queued_spans_;
  std::atomic<std::uint64_t> dropped_{0};
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<tracing::span> queue_;
  std::size_t batch_size_ = 1;      // queue size at which the exporter is notified
  std::size_t active_flushes_ = 0;  // number of running `flush` calls
  bool is_sending_ = false;
};

}  // namespace hondana::inline v0

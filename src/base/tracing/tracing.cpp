/// Distributed tracing: the context in `traceparent`, spans, and the tracer that samples and queues them.
#include "base/tracing/tracing.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::tracing {
namespace {

// VERSION-TRACE-SPAN-FLAGS
constexpr std::size_t trace_offset = 3;
constexpr std::size_t span_offset = 36;
constexpr std::size_t flags_offset = 53;
constexpr std::size_t traceparent_bytes = 55;
constexpr std::string_view digits = "0123456789abcdef";

template <std::size_t Count>
std::optional<std::array<std::uint8_t, Count>> decode_hex(std::string_view text) {
  std::array<std::uint8_t, Count> out{};
  for (std::size_t i = 0; i < Count; ++i) {
    const auto high = digits.find(text[2 * i]);
    const auto low = digits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

template <std::size_t Count>
std::string encode_hex(const std::array<std::uint8_t, Count>& bytes) {
  std::string out;
  out.reserve(2 * Count);
  for (const auto byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

template <std::size_t Count>
bool is_all_zero(const std::array<std::uint8_t, Count>& id) {
  return std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
}

template <std::size_t Count>
std::array<std::uint8_t, Count> random_id() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  std::array<std::uint8_t, Count> out{};
  do {
    for (std::size_t offset = 0; offset < Count; offset += sizeof(std::uint64_t)) {
      const std::uint64_t word = generator();
      std::memcpy(out.data() + offset, &word, sizeof word);
    }
  } while (is_all_zero(out));
  return out;
}

bool is_visible_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::optional<span_context> parse_traceparent(std::string_view text) {
  if (text.size() < traceparent_bytes || (text.size() > traceparent_bytes && text[traceparent_bytes] != '-'))
    return std::nullopt;
  if (text[trace_offset - 1] != '-' || text[span_offset - 1] != '-' || text[flags_offset - 1] != '-') return std::nullopt;
  const auto version = decode_hex<1>(text);
  const auto flags = decode_hex<1>(text.substr(flags_offset));
  const auto trace = decode_hex<16>(text.substr(trace_offset));
  const auto span = decode_hex<8>(text.substr(span_offset));
  if (!version || !flags || !trace || !span || is_all_zero(*trace) || is_all_zero(*span)) return std::nullopt;
  if ((*version)[0] == 0xff || ((*version)[0] == 0 && text.size() != traceparent_bytes)) return std::nullopt;
  return span_context{*trace, *span, ((*flags)[0] & 1) != 0};
}

std::string format_traceparent(const span_context& context) {
  return "00-" + encode_hex(context.trace) + '-' + encode_hex(context.span) + (context.is_sampled ? "-01" : "-00");
}

std::string to_hex(const trace_id& id) { return encode_hex(id); }
std::string to_hex(const span_id& id) { return encode_hex(id); }

std::string_view trace_id_in(std::string_view traceparent) noexcept {
  return traceparent.size() < traceparent_bytes ? std::string_view()
                                                : traceparent.substr(trace_offset, span_offset - 1 - trace_offset);
}

bool is_tracestate(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_tracestate_bytes || !is_visible_ascii(text)) return false;
  std::size_t members = 0;
  while (true) {
    const auto comma = text.find(',');
    auto member = text.substr(0, comma);
    while (member.starts_with(' ')) member.remove_prefix(1);
    const auto equals = member.find('=');
    if (!member.empty() && (equals == 0 || equals == std::string_view::npos || ++members > max_tracestate_members))
      return false;
    if (comma == std::string_view::npos) return members != 0;
    text.remove_prefix(comma + 1);
  }
}

bool is_baggage(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_baggage_bytes && is_visible_ascii(text);
}

trace_id new_trace_id() { return random_id<16>(); }
span_id new_span_id() { return random_id<8>(); }

active_span::active_span(std::shared_ptr<tracer> owner, span started) : tracer_(std::move(owner)), span_(std::move(started)) {}

void active_span::end() {
  const auto sink = std::exchange(tracer_, nullptr);
  if (!sink) return;
  span_.duration = monotonic_clock::now() - start_;
  sink->enqueue(std::move(span_));
}

trace_context active_span::child_context(const trace_context& parent) const {
  trace_context out = parent;
  out.traceparent = format_traceparent(span_.context);
  return out;
}

namespace {

/// Whether a trace is sampled. All systems that decide by trace id with the same ratio agree.
/// Spec: OpenTelemetry, TraceIdRatioBased.
bool is_sampled_at(const trace_id& id, double ratio) {
  std::uint64_t number = 0;
  for (std::size_t i = id.size() - 7; i < id.size(); ++i) number = number << 8 | id[i];
  return static_cast<double>(number) < ratio * static_cast<double>(std::uint64_t{1} << 56);
}

}  // namespace
}  // namespace hondana::tracing

namespace hondana::inline v0 {

using tracing::active_span;

std::shared_ptr<active_span> tracer::begin(std::string name, tracing::span_kind kind, const tracing::span_context& parent,
                                           bool is_root, std::string tracestate) {
  tracing::span span;
  span.context = parent;
  span.context.span = tracing::new_span_id();
  span.context.is_sampled = true;
  if (!is_root) span.parent = parent.span;
  span.tracestate = std::move(tracestate);
  span.name = std::move(name);
  span.kind = kind;
  span.start_time = std::chrono::system_clock::now();
  return std::make_shared<active_span>(shared_from_this(), std::move(span));
}

std::shared_ptr<active_span> tracer::begin_request(std::string name, const trace_context& context) {
  if (const auto parent = tracing::parse_traceparent(context.traceparent)) {
    if (!parent->is_sampled) return nullptr;
    return begin(std::move(name), tracing::span_kind::server, *parent, false, context.tracestate);
  }
  tracing::span_context root;
  root.trace = tracing::new_trace_id();
  if (!tracing::is_sampled_at(root.trace, sample_ratio_)) return nullptr;
  return begin(std::move(name), tracing::span_kind::server, root, true, {});
}

std::shared_ptr<active_span> tracer::begin_child(std::string name, tracing::span_kind kind, const trace_context& context) {
  const auto parent = tracing::parse_traceparent(context.traceparent);
  if (!parent || !parent->is_sampled) return nullptr;
  return begin(std::move(name), kind, *parent, false, context.tracestate);
}

void tracer::enqueue(tracing::span finished) {
  bool should_notify = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= max_queued_spans_) {
      ++dropped_;
      return;
    }
    queue_.push_back(std::move(finished));
    should_notify = queue_.size() == batch_size_ || active_flushes_ != 0;
  }
  if (should_notify) changed_.notify_all();
}

std::vector<tracing::span> tracer::next_batch(std::size_t max_spans, std::chrono::milliseconds interval,
                                              const std::stop_token& stop) {
  std::vector<tracing::span> out;
  std::unique_lock lock(mutex_);
  is_sending_ = false;
  batch_size_ = max_spans;
  changed_.notify_all();
  const auto is_batch_ready = [&] { return queue_.size() >= max_spans || (active_flushes_ != 0 && !queue_.empty()); };
  while (out.empty() && !stop.stop_requested()) {
    (void)monotonic_clock::wait_until(changed_, lock, stop, monotonic_clock::now() + interval, is_batch_ready);
    if (stop.stop_requested()) break;
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(max_spans, queue_.size()));
    std::move(queue_.begin(), end, std::back_inserter(out));
    queue_.erase(queue_.begin(), end);
  }
  is_sending_ = !out.empty();
  return out;
}

void tracer::mark_sent() {
  const std::lock_guard lock(mutex_);
  is_sending_ = false;
  changed_.notify_all();
}

bool tracer::flush(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  ++active_flushes_;
  changed_.notify_all();
  const bool is_done = monotonic_clock::wait_until(changed_, lock, deadline, [this] { return queue_.empty() && !is_sending_; });
  --active_flushes_;
  return is_done;
}

std::size_t tracer::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

bool flush_traces(tracer& tracer, std::chrono::steady_clock::time_point deadline) { return tracer.flush(deadline); }

}  // namespace hondana::inline v0

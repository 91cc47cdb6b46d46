/// Sampling, and the queue of finished spans.
#include "base/tracing/tracer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::tracing {

live_span::live_span(std::shared_ptr<tracer> to, span begun) : to_(std::move(to)), what_(std::move(begun)) {}

void live_span::end() {
  const auto to = std::exchange(to_, nullptr);
  if (!to) return;
  what_.took = monotonic_clock::now() - since_;
  to->take(std::move(what_));
}

trace_context live_span::inner(const trace_context& outer) const {
  trace_context out = outer;
  out.traceparent = print(what_.of);
  return out;
}

namespace {

/// Whether a trace is among the part that is wanted, as all who go by its id would say. Spec: OpenTelemetry, TraceIdRatioBased.
bool is_chosen(const trace_id& id, double part) {
  std::uint64_t number = 0;
  for (std::size_t i = id.size() - 7; i < id.size(); ++i) number = number << 8 | id[i];
  return static_cast<double>(number) < part * static_cast<double>(std::uint64_t{1} << 56);
}

}  // namespace
}  // namespace hondana::tracing

namespace hondana::inline v0 {

using tracing::live_span;

std::shared_ptr<live_span> tracer::begin(std::string name, tracing::span_kind kind, const tracing::context& parent,
                                         bool is_root, std::string state) {
  tracing::span made;
  made.of = parent;
  made.of.span = tracing::new_span();
  made.of.is_sampled = true;
  if (!is_root) made.parent = parent.span;
  made.state = std::move(state);
  made.name = std::move(name);
  made.kind = kind;
  made.begin = std::chrono::system_clock::now();
  return std::make_shared<live_span>(shared_from_this(), std::move(made));
}

std::shared_ptr<live_span> tracer::begin_request(std::string name, const trace_context& from) {
  if (const auto parent = tracing::parse(from.traceparent)) {
    if (!parent->is_sampled) return nullptr;
    return begin(std::move(name), tracing::span_kind::server, *parent, false, from.tracestate);
  }
  tracing::context fresh;
  fresh.trace = tracing::new_trace();
  if (!tracing::is_chosen(fresh.trace, sample_)) return nullptr;
  return begin(std::move(name), tracing::span_kind::server, fresh, true, {});
}

std::shared_ptr<live_span> tracer::begin_within(std::string name, tracing::span_kind kind, const trace_context& of) {
  const auto parent = tracing::parse(of.traceparent);
  if (!parent || !parent->is_sampled) return nullptr;
  return begin(std::move(name), kind, *parent, false, of.tracestate);
}

void tracer::take(tracing::span what) {
  bool is_worth_it = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting_) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(what));
    is_worth_it = waiting_.size() == wanted_ || flushes_ != 0;
  }
  if (is_worth_it) changed_.notify_all();
}

std::vector<tracing::span> tracer::next(std::size_t most, std::chrono::milliseconds pause, const std::stop_token& stop) {
  std::vector<tracing::span> out;
  std::unique_lock lock(mutex_);
  is_sending_ = false;
  wanted_ = most;
  changed_.notify_all();
  const auto is_due = [&] { return waiting_.size() >= most || (flushes_ != 0 && !waiting_.empty()); };
  while (out.empty() && !stop.stop_requested()) {
    (void)monotonic_clock::wait_until(changed_, lock, stop, monotonic_clock::now() + pause, is_due);
    if (stop.stop_requested()) break;
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
    std::move(waiting_.begin(), end, std::back_inserter(out));
    waiting_.erase(waiting_.begin(), end);
  }
  is_sending_ = !out.empty();
  return out;
}

void tracer::sent() {
  const std::lock_guard lock(mutex_);
  is_sending_ = false;
  changed_.notify_all();
}

bool tracer::flush(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  ++flushes_;
  changed_.notify_all();
  const bool is_done = monotonic_clock::wait_until(changed_, lock, until, [this] { return waiting_.empty() && !is_sending_; });
  --flushes_;
  return is_done;
}

std::size_t tracer::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

bool flush_traces(tracer& of, std::chrono::steady_clock::time_point until) { return of.flush(until); }

}  // namespace hondana::inline v0

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
constexpr std::size_t trace_at = 3;
constexpr std::size_t span_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t length = 55;
constexpr std::string_view digits = "0123456789abcdef";

template <std::size_t Count>
std::optional<std::array<std::uint8_t, Count>> bytes_in(std::string_view text) {
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
std::string text_of(const std::array<std::uint8_t, Count>& from) {
  std::string out;
  out.reserve(2 * Count);
  for (const auto byte : from) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

template <std::size_t Count>
bool is_nothing(const std::array<std::uint8_t, Count>& id) {
  return std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
}

template <std::size_t Count>
std::array<std::uint8_t, Count> random_id() {
  thread_local std::mt19937_64 from = [] {
    std::random_device of_system;
    std::seed_seq seed{of_system(), of_system(), of_system(), of_system(), of_system(), of_system(), of_system(), of_system()};
    return std::mt19937_64(seed);
  }();
  std::array<std::uint8_t, Count> out{};
  do {
    for (std::size_t at = 0; at < Count; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = from();
      std::memcpy(out.data() + at, &word, sizeof word);
    }
  } while (is_nothing(out));
  return out;
}

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::optional<context> parse(std::string_view text) {
  if (text.size() < length || (text.size() > length && text[length] != '-')) return std::nullopt;
  if (text[trace_at - 1] != '-' || text[span_at - 1] != '-' || text[flags_at - 1] != '-') return std::nullopt;
  const auto version = bytes_in<1>(text);
  const auto flags = bytes_in<1>(text.substr(flags_at));
  const auto trace = bytes_in<16>(text.substr(trace_at));
  const auto span = bytes_in<8>(text.substr(span_at));
  if (!version || !flags || !trace || !span || is_nothing(*trace) || is_nothing(*span)) return std::nullopt;
  if ((*version)[0] == 0xff || ((*version)[0] == 0 && text.size() != length)) return std::nullopt;
  return context{*trace, *span, ((*flags)[0] & 1) != 0};
}

std::string print(const context& what) {
  return "00-" + text_of(what.trace) + '-' + text_of(what.span) + (what.is_sampled ? "-01" : "-00");
}

std::string hex(const trace_id& what) { return text_of(what); }
std::string hex(const span_id& what) { return text_of(what); }

std::string_view trace_in(std::string_view traceparent) noexcept {
  return traceparent.size() < length ? std::string_view() : traceparent.substr(trace_at, span_at - 1 - trace_at);
}

bool is_state(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_state || !is_visible(text)) return false;
  std::size_t members = 0;
  while (true) {
    const auto comma = text.find(',');
    auto one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto equals = one.find('=');
    if (!one.empty() && (equals == 0 || equals == std::string_view::npos || ++members > most_state_members)) return false;
    if (comma == std::string_view::npos) return members != 0;
    text.remove_prefix(comma + 1);
  }
}

bool is_baggage(std::string_view text) noexcept { return !text.empty() && text.size() <= longest_baggage && is_visible(text); }

trace_id new_trace() { return random_id<16>(); }
span_id new_span() { return random_id<8>(); }

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

/// Whether a trace is sampled. All systems that decide by trace id with the same ratio agree.
/// Spec: OpenTelemetry, TraceIdRatioBased.
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

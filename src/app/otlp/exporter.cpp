/// Batches, attempts and pauses.
#include "app/otlp/exporter.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"

namespace hondana::otlp {
namespace {

constexpr std::size_t most_in_a_request = 512;
constexpr int most_attempts = 5;
constexpr std::chrono::milliseconds first_pause{500};
constexpr std::chrono::milliseconds longest_pause{30'000};
constexpr std::size_t most_response = 64u << 10;

result<std::shared_ptr<endpoint::endpoint>> endpoint_of(const tracing_options& from) {
  if (!(from.sample >= 0 && from.sample <= 1)) return fail(errc::invalid_argument, "sample: expected a number from 0 to 1");
  if (from.service_name.empty()) return fail(errc::invalid_argument, "service_name: must not be empty");
  endpoint::settings out;
  out.url = from.url;
  out.headers = from.headers;
  out.bearer_file = from.bearer_file;
  out.time = from.timeout;
  return endpoint::endpoint::of(std::move(out));
}

/// Spec: OTLP/HTTP response, retryable response codes.
bool is_worth_another_attempt(int status) noexcept { return status == 429 || status == 502 || status == 503 || status == 504; }

/// The same of failures to reach it at all.
bool is_worth_another_attempt(errc why) noexcept {
  return why == errc::source_unavailable || why == errc::timed_out || why == errc::broken_protocol;
}

/// False when it was stopped meanwhile.
bool wait(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  (void)monotonic_clock::wait_for(never, lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

result<std::unique_ptr<exporter>> exporter::start(tracing_options from) {
  HONDANA_TRY(auto to, endpoint_of(from));
  const executor::signals_blocked blocked;  // those are for the program's own threads
  return std::unique_ptr<exporter>(new exporter(std::move(from), std::move(to)));
}

exporter::exporter(tracing_options from, std::shared_ptr<endpoint::endpoint> to)
    : options_(std::move(from)),
      self_{options_.service_name, options_.service_version, tracing::hex(tracing::new_trace())},
      to_(std::move(to)),
      spans_(std::make_shared<tracer>(options_.sample, options_.most_waiting)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

exporter::~exporter() = default;

void exporter::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto batch = spans_->next(most_in_a_request, options_.pause, stop);
    if (!batch.empty()) send(batch, stop);
  }
  spans_->sent();
}

void exporter::send(const std::vector<tracing::span>& what, const std::stop_token& stop) {
  endpoint::request request;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = encode(what, self_);
  request.most_bytes = most_response;
  auto pause = first_pause;
  for (int attempt = 1;; ++attempt) {
    const auto got = to_->ask(request, stop);
    const bool is_taken = got && got->status >= 200 && got->status < 300;
    if (is_taken) {
      const auto refused = refused_in(got->bytes);
      if (refused.count == 0) return note({});
      spans_->drop(refused.count);
      return note("it rejected " + std::to_string(refused.count) + " of " + std::to_string(what.size()) +
                  " spans: " + refused.why);
    }
    note(got ? "it answered with status " + std::to_string(got->status) : got.error().public_text);
    const bool is_passing = got ? is_worth_another_attempt(got->status) : is_worth_another_attempt(got.error().code);
    const auto wanted = got && got->retry ? *got->retry : pause;
    if (!is_passing || attempt == most_attempts || wanted > longest_pause || !wait(wanted, stop)) break;
    pause = std::min(pause * 2, longest_pause);
  }
  spans_->drop(what.size());
}

void exporter::note(const std::string& trouble) {
  if (trouble == trouble_) return;
  if (options_.log) {
    options_.log(trouble.empty() ? "traces: the collector accepts them again"
                                 : "traces: cannot be sent to " + to_->origin() + ": " + trouble);
  }
  trouble_ = trouble;
}

result<needs> needs_of(const tracing_options& from) {
  HONDANA_TRY(const auto to, endpoint_of(from));
  needs out;
  out.sockets.push_back(to->place());
  for (auto& one : to->files()) out.folders.push_back({std::move(one), false});
  return out;
}

}  // namespace hondana::otlp

namespace hondana::inline v0 {

result<std::shared_ptr<tracer>> export_traces(tracing_options from) {
  HONDANA_TRY(auto made, otlp::exporter::start(std::move(from)));
  // Whoever has the spans' queue keeps the thread that empties it.
  const std::shared_ptr<otlp::exporter> whole = std::move(made);
  return std::shared_ptr<tracer>(whole, whole->spans().get());
}

}  // namespace hondana::inline v0

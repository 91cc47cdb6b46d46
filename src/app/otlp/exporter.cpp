/// Exports finished spans to an OpenTelemetry collector.
#include "app/otlp/exporter.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::otlp {
namespace {

constexpr int status_error = 2;  // Status.StatusCode
constexpr std::uint64_t flag_sampled = 1;
constexpr std::uint64_t flag_has_is_remote = 0x100;
constexpr std::uint64_t flag_is_remote = 0x200;
constexpr std::size_t longest_reason = 300;

void write_text(json::writer& to, std::string_view name, std::string_view value) {
  to.begin_object().member("key", name).key("value").begin_object().member("stringValue", value).end_object().end_object();
}

void write(json::writer& to, const tracing::attribute& one) {
  if (const auto* text = std::get_if<std::string>(&one.value)) return write_text(to, one.name, *text);
  to.begin_object().member("key", one.name).key("value").begin_object();
  to.member("intValue", std::to_string(std::get<std::int64_t>(one.value))).end_object().end_object();
}

std::string nanoseconds(std::chrono::system_clock::time_point at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

void write(json::writer& to, const tracing::span& one) {
  to.begin_object().member("traceId", tracing::hex(one.of.trace)).member("spanId", tracing::hex(one.of.span));
  to.member_if("traceState", one.state);
  if (one.parent) to.member("parentSpanId", tracing::hex(*one.parent));
  // Only the parent of a request's span is in another process.
  const bool is_remote = one.parent && one.kind == tracing::span_kind::server;
  to.key("flags").unsigned_integer(flag_sampled | flag_has_is_remote | (is_remote ? flag_is_remote : 0));
  to.member("name", one.name).key("kind").integer(static_cast<int>(one.kind));
  to.member("startTimeUnixNano", nanoseconds(one.begin));
  to.member("endTimeUnixNano",
            nanoseconds(one.begin + std::chrono::duration_cast<std::chrono::system_clock::duration>(one.took)));
  to.key("attributes").begin_array();
  for (const auto& attribute : one.attributes) write(to, attribute);
  to.end_array().key("status").begin_object();
  if (one.has_failed) to.key("code").integer(status_error);
  to.end_object().end_object();
}

/// A number that may be written as text, as the encoding does for 64-bit numbers; 0 if it is missing or invalid.
std::uint64_t count_in(const json::object& from, std::string_view name) {
  if (const auto text = from.find_string(name); text && *text) {
    std::uint64_t out = 0;
    const auto digits = **text;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return problem == std::errc() ? out : 0;
  }
  const auto there = from.find(name);
  const auto number = there && *there ? (*there)->as_integer(name) : json::decoded<std::int64_t>(0);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

}  // namespace

std::string encode(const std::vector<tracing::span>& spans, const resource& of) {
  std::string out;
  json::writer to(out);
  to.begin_object().key("resourceSpans").begin_array().begin_object();
  to.key("resource").begin_object().key("attributes").begin_array();
  write_text(to, "service.name", of.service_name);
  if (!of.service_version.empty()) write_text(to, "service.version", of.service_version);
  if (!of.instance.empty()) write_text(to, "service.instance.id", of.instance);
  to.end_array().end_object();
  to.key("scopeSpans").begin_array().begin_object();
  to.key("scope").begin_object().member("name", "hondana").member_if("version", of.service_version).end_object();
  to.key("spans").begin_array();
  for (const auto& one : spans) write(to, one);
  to.end_array().end_object().end_array().end_object().end_array().end_object();
  return out;
}

refused_spans refused_in(std::string_view response) {
  refused_spans out;
  const auto document = json::document::parse(response);
  if (!document) return out;
  const auto whole = document->root().as_object("");
  if (!whole) return out;
  const auto partial = whole->find_object("partialSuccess");
  if (!partial || !*partial) return out;
  out.count = count_in(**partial, "rejectedSpans");
  if (const auto why = (*partial)->find_string("errorMessage"); why && *why) out.why = (*why)->substr(0, longest_reason);
  // The text goes into one line of the log.
  for (char& c : out.why)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

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

/// The same for failures without a response.
bool is_worth_another_attempt(errc why) noexcept {
  return why == errc::source_unavailable || why == errc::timed_out || why == errc::broken_protocol;
}

/// Returns false if a stop was requested meanwhile.
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
  const executor::signals_blocked blocked;  // signals are for the program's own threads
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
  // The exporter, with its sending thread, lives as long as its span queue has owners.
  const std::shared_ptr<otlp::exporter> whole = std::move(made);
  return std::shared_ptr<tracer>(whole, whole->spans().get());
}

}  // namespace hondana::inline v0

/// Exports finished spans to an OpenTelemetry collector.
#include "app/otlp/exporter.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "base/executor/backoff.hpp"
#include "base/executor/thread_guards.hpp"
#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::otlp {
namespace {

constexpr int status_error = 2;  // Status.StatusCode
constexpr std::uint64_t flag_sampled = 1;
constexpr std::uint64_t flag_has_is_remote = 0x100;
constexpr std::uint64_t flag_is_remote = 0x200;
constexpr std::size_t max_reason_bytes = 300;

void write_text(json::writer& writer, std::string_view name, std::string_view value) {
  writer.begin_object().member("key", name).key("value").begin_object().member("stringValue", value).end_object().end_object();
}

void write(json::writer& writer, const tracing::attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute.value)) return write_text(writer, attribute.name, *text);
  writer.begin_object().member("key", attribute.name).key("value").begin_object();
  writer.member("intValue", std::to_string(std::get<std::int64_t>(attribute.value))).end_object().end_object();
}

std::string nanoseconds(std::chrono::system_clock::time_point time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

void write(json::writer& writer, const tracing::span& span) {
  writer.begin_object()
      .member("traceId", tracing::to_hex(span.context.trace))
      .member("spanId", tracing::to_hex(span.context.span));
  writer.member_if("traceState", span.tracestate);
  if (span.parent) writer.member("parentSpanId", tracing::to_hex(*span.parent));
  // Only the parent of a request's span is in another process.
  const bool is_remote = span.parent && span.kind == tracing::span_kind::server;
  writer.key("flags").unsigned_integer(flag_sampled | flag_has_is_remote | (is_remote ? flag_is_remote : 0));
  writer.member("name", span.name).key("kind").integer(static_cast<int>(span.kind));
  writer.member("startTimeUnixNano", nanoseconds(span.start_time));
  writer.member("endTimeUnixNano",
                nanoseconds(span.start_time + std::chrono::duration_cast<std::chrono::system_clock::duration>(span.duration)));
  writer.key("attributes").begin_array();
  for (const auto& attribute : span.attributes) write(writer, attribute);
  writer.end_array().key("status").begin_object();
  if (span.has_failed) writer.key("code").integer(status_error);
  writer.end_object().end_object();
}

/// A number that may be written as text, as the encoding does for 64-bit numbers; 0 if it is missing or invalid.
std::uint64_t read_count(const json::object& object, std::string_view name) {
  if (const auto text = object.find_string(name); text && *text) {
    std::uint64_t out = 0;
    const auto digits = **text;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return problem == std::errc() ? out : 0;
  }
  const auto member = object.find(name);
  const auto number = member && *member ? (*member)->as_integer(name) : json::decoded<std::int64_t>(0);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

}  // namespace

std::string encode(const std::vector<tracing::span>& spans, const resource& resource) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().key("resourceSpans").begin_array().begin_object();
  writer.key("resource").begin_object().key("attributes").begin_array();
  write_text(writer, "service.name", resource.service_name);
  if (!resource.service_version.empty()) write_text(writer, "service.version", resource.service_version);
  if (!resource.instance.empty()) write_text(writer, "service.instance.id", resource.instance);
  writer.end_array().end_object();
  writer.key("scopeSpans").begin_array().begin_object();
  writer.key("scope").begin_object().member("name", "hondana").member_if("version", resource.service_version).end_object();
  writer.key("spans").begin_array();
  for (const auto& span : spans) write(writer, span);
  writer.end_array().end_object().end_array().end_object().end_array().end_object();
  return out;
}

rejected_spans parse_rejected(std::string_view response) {
  rejected_spans out;
  const auto document = json::document::parse(response);
  if (!document) return out;
  const auto object = document->root().as_object("");
  if (!object) return out;
  const auto partial = object->find_object("partialSuccess");
  if (!partial || !*partial) return out;
  out.count = read_count(**partial, "rejectedSpans");
  if (const auto message = (*partial)->find_string("errorMessage"); message && *message)
    out.reason = (*message)->substr(0, max_reason_bytes);
  // The text goes into one line of the log.
  for (char& c : out.reason)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

namespace {

constexpr std::size_t max_spans_per_request = 512;
constexpr std::size_t max_attempts = 5;
constexpr executor::backoff pauses{std::chrono::milliseconds(500), std::chrono::milliseconds(30'000)};
constexpr std::size_t max_response_bytes = 64u << 10;

result<std::shared_ptr<endpoint::endpoint>> make_endpoint(const tracing_options& options) {
  if (!(options.sample_ratio >= 0 && options.sample_ratio <= 1))
    return fail(errc::invalid_argument, "sample_ratio: expected a number from 0 to 1");
  if (options.service_name.empty()) return fail(errc::invalid_argument, "service_name: must not be empty");
  endpoint::settings out;
  out.url = options.url;
  out.headers = options.headers;
  out.bearer_file = options.bearer_file.value_or(std::string());
  out.timeout = options.timeout;
  return endpoint::endpoint::create(std::move(out));
}

/// Spec: OTLP/HTTP response, retryable response codes.
bool is_retryable(int status) noexcept { return status == 429 || status == 502 || status == 503 || status == 504; }

/// The same for failures without a response.
bool is_retryable(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::timed_out || code == errc::protocol_error;
}

}  // namespace

result<std::unique_ptr<exporter>> exporter::start(tracing_options options) {
  HONDANA_TRY(auto collector, make_endpoint(options));
  const executor::signal_blocker blocked;  // signals are for the program's own threads
  return std::unique_ptr<exporter>(new exporter(std::move(options), std::move(collector)));
}

exporter::exporter(tracing_options options, std::shared_ptr<endpoint::endpoint> collector)
    : options_(std::move(options)),
      resource_{options_.service_name, options_.service_version, tracing::to_hex(tracing::new_trace_id())},
      collector_(std::move(collector)),
      span_queue_(std::make_shared<tracer>(options_.sample_ratio, options_.max_queued_spans)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

exporter::~exporter() = default;

void exporter::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto batch = span_queue_->next_batch(max_spans_per_request, options_.export_interval, stop);
    if (!batch.empty()) send(batch, stop);
  }
  span_queue_->mark_sent();
}

void exporter::send(const std::vector<tracing::span>& spans, const std::stop_token& stop) {
  endpoint::request request;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = encode(spans, resource_);
  request.max_bytes = max_response_bytes;
  for (std::size_t attempt = 1;; ++attempt) {
    const auto response = collector_->send(request, stop);
    const bool is_accepted = response && response->status >= 200 && response->status < 300;
    if (is_accepted) {
      const auto rejected = parse_rejected(response->body);
      if (rejected.count == 0) return log_problem({});
      span_queue_->add_dropped(rejected.count);
      return log_problem("it rejected " + std::to_string(rejected.count) + " of " + std::to_string(spans.size()) +
                         " spans: " + rejected.reason);
    }
    log_problem(response ? "it answered with status " + std::to_string(response->status) : response.error().public_text);
    const bool is_transient = response ? is_retryable(response->status) : is_retryable(response.error().code);
    const auto delay = response && response->retry_after ? *response->retry_after : pauses.delay(attempt);
    if (!is_transient || attempt == max_attempts || delay > pauses.max || !executor::sleep_unless_stopped(delay, stop)) break;
  }
  span_queue_->add_dropped(spans.size());
}

void exporter::log_problem(const std::string& error) {
  if (error == last_error_) return;
  if (options_.log) {
    options_.log(error.empty() ? "traces: the collector accepts them again"
                               : "traces: cannot be sent to " + collector_->origin() + ": " + error);
  }
  last_error_ = error;
}

result<system_requirements> requirements_of(const tracing_options& options) {
  HONDANA_TRY(const auto collector, make_endpoint(options));
  system_requirements out;
  out.sockets.push_back(collector->address());
  for (auto& file : collector->files()) out.folders.push_back({std::move(file), false});
  return out;
}

}  // namespace hondana::otlp

namespace hondana::inline v0 {

result<std::shared_ptr<tracer>> make_tracer(tracing_options options) {
  HONDANA_TRY(auto exporter, otlp::exporter::start(std::move(options)));
  // The exporter, with its sending thread, lives as long as its span queue has owners.
  const std::shared_ptr<otlp::exporter> shared = std::move(exporter);
  return std::shared_ptr<tracer>(shared, shared->span_queue().get());
}

}  // namespace hondana::inline v0

/// Records of requests for the audit log, metrics and traces.
#include "server/session/request_accounting.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <hondana/uri.hpp>

#include "base/threads/thread_instance.hpp"
#include "base/tracing/tracing.hpp"
#include "server/gate/operation_names.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::session {
namespace {

using counters::kind;
using counters::metric_family;

// In the order of `model::operation`, and one for unknown methods.
constexpr std::array<std::string_view, request_metrics::no_method + 1> method_names{
    "initialize",
    "notifications/initialized",
    "server/discover",
    "ping",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/get",
    "completion/complete",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "logging/setLevel",
    "resources/directory/read",
    "skills/list",
    "skills/get",
    "notifications/cancelled",
    "notifications/other",
    "other",
};
static_assert(std::variant_size_v<model::operation> == 24 &&
              std::is_same_v<std::variant_alternative_t<6, model::operation>, model::read_resource> &&
              std::is_same_v<std::variant_alternative_t<13, model::operation>, model::listen> &&
              std::is_same_v<std::variant_alternative_t<21, model::operation>, model::get_skill>);

constexpr std::array<std::string_view, 22> outcomes{
    "ok",     "cancelled", "disconnected", "truncated", "-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32020",
    "-32021", "-32022",    "304",          "409",       "413",    "429",    "499",    "502",    "503",    "504",    "other"};
constexpr std::size_t cancelled_outcome = 1;
constexpr std::size_t disconnected_outcome = 2;
constexpr std::size_t truncated_outcome = 3;
constexpr std::size_t first_code = 4;
constexpr std::array<int, 17> codes{-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022,
                                    304,    409,    413,    429,    499,    502,    503,    504};
static_assert(first_code + codes.size() + 1 == outcomes.size());

std::size_t outcome_of(int code) noexcept {
  if (code == 0) return 0;
  return first_code + static_cast<std::size_t>(std::find(codes.begin(), codes.end(), code) - codes.begin());
}

/// A name chosen by a client, shortened, with secrets masked.
std::string display_name(std::string_view text) {
  constexpr std::size_t max_bytes = 128;
  auto out = secrets::redact_text(text.substr(0, max_bytes + secrets::margin));
  auto size = std::min(out.size(), max_bytes);
  while (size > 0 && size < out.size() && (static_cast<unsigned char>(out[size]) & 0xC0) == 0x80) --size;
  out.resize(size);
  return out;
}

template <std::size_t Count>
std::vector<std::string> to_strings(const std::array<std::string_view, Count>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

request_metrics& request_metrics::global() {
  // Never destroyed, like the registry of metrics.
  static auto& metrics = *new request_metrics;
  return metrics;
}

request_metrics::request_metrics()
    : requests_(counters::counter_family::make(
          {"hondana_requests", kind::counter, "",
           "Requests, by protocol, method and outcome: ok, the error code, or why there was no answer."},
          {{"protocol", {"legacy", "modern"}}, {"method", to_strings(method_names)}, {"outcome", to_strings(outcomes)}})),
      times_(counters::duration_histogram::make(
          {"hondana_request_duration_seconds", kind::histogram, "seconds", "Time from a request to the start of its answer."},
          {{"method", to_strings(method_names)}})),
      in_progress_(counters::counter_family::make(
          {"hondana_requests_in_flight", kind::gauge, "", "Requests in progress, including open streams of changes."})),
      rejections_(counters::counter_family::make(
          {"hondana_requests_rejected", kind::counter, "", "Requests rejected by a limit, by reason."},
          {{"reason", {"rate", "concurrency", "size", "scope"}}})),
      streams_(counters::counter_family::make(
          {"hondana_subscription_streams", kind::gauge, "", "Open streams of changes of modern clients."})),
      notifications_(counters::counter_family::make(
          {"hondana_notifications_sent", kind::counter, "", "Change notifications sent to clients."})),
      dropped_messages_(counters::counter_family::make(
          {"hondana_log_messages_dropped", kind::counter, "", "Log messages dropped because a client did not read."})) {}

std::string_view request_metrics::name_of(std::size_t method) noexcept { return method_names[std::min(method, no_method)]; }

void request_metrics::count(std::size_t method, const wire::codec& codec, std::size_t outcome) noexcept {
  const std::size_t protocol = codec.sends_input_requests() ? 0 : 1;
  requests_->add((protocol * method_names.size() + method) * outcomes.size() + outcome);
}

void request_metrics::count_answer(std::size_t method, const wire::codec& codec, int code) noexcept {
  count(method, codec, outcome_of(code));
}

void request_metrics::count_abandoned(std::size_t method, const wire::codec& codec, audit_outcome outcome) noexcept {
  count(method, codec,
        outcome == audit_outcome::cancelled   ? cancelled_outcome
        : outcome == audit_outcome::truncated ? truncated_outcome
                                              : disconnected_outcome);
}

void request_metrics::count_rejection(errc code) noexcept {
  if (code == errc::too_many_requests) return count_rejection(limit::rate);
  if (code == errc::overloaded) return count_rejection(limit::concurrency);
  if (code == errc::response_too_large) return count_rejection(limit::size);
  if (code == errc::insufficient_scope) return count_rejection(limit::scope);
}

/// Spec: OpenTelemetry semantic conventions for MCP (server spans) and for JSON-RPC.
std::shared_ptr<tracing::active_span> begin_span(tracer& tracer, const model::request& request, const wire::codec& codec,
                                                 const rpc::request_info& request_info) {
  const auto method = request_metrics::name_of(request_metrics::method_of(request.operation));
  std::string name(method);
  const auto* tool = std::get_if<model::call_tool>(&request.operation);
  const auto* prompt = std::get_if<model::get_prompt>(&request.operation);
  auto span = tracer.begin_request(std::move(name), request.trace);
  if (!span) return nullptr;
  span->set_attribute("mcp.method.name", std::string(method));
  span->set_attribute("mcp.protocol.version", std::string(codec.revision()));
  if (tool != nullptr) span->set_attribute("gen_ai.tool.name", display_name(tool->name));
  if (prompt != nullptr) span->set_attribute("gen_ai.prompt.name", display_name(prompt->name));
  if (request_info.http) span->set_attribute("network.protocol.name", std::string("http"));
  span->set_attribute("network.transport", std::string(request_info.http ? "tcp" : "pipe"));
  return span;
}

void end_span(tracing::active_span& span, int code) {
  if (code != 0) {
    span.set_attribute("rpc.response.status_code", std::to_string(code));
    span.set_attribute("error.type", std::to_string(code));
    span.set_failed();
  }
  span.end();
}

namespace {

// Limit of names chosen by clients; auditors may cut further.
constexpr std::size_t max_name_bytes = 1024;

/// At most the first `max_bytes` bytes, cut at a whole character.
std::string truncate(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) --max_bytes;
  text.resize(max_bytes);
  return text;
}

// Clients choose the length, and masking takes time, so texts are cut first.
std::string mask_name(std::string_view text) {
  return truncate(secrets::redact_text(text.substr(0, max_name_bytes + secrets::margin)), max_name_bytes);
}
std::string mask_uri(std::string_view text) {
  return truncate(secrets::redact_uri(text.substr(0, max_uri_bytes + secrets::margin)), max_uri_bytes);
}

/// A cache of masked texts for each thread, because clients send the same texts repeatedly.
template <std::string (*mask)(std::string_view)>
class mask_cache {
 public:
  std::string lookup(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > max_bytes) return mask(text);
    auto& entry = entries_[std::hash<std::string_view>()(text) % entries_.size()];
    if (entry.text != text) entry = {std::string(text), mask(text)};
    return entry.masked;
  }

 private:
  static constexpr std::size_t max_bytes = 512;
  struct pair {
    std::string text, masked;
  };
  std::array<pair, 64> entries_;
};

std::string masked_name(std::string_view text) {
  auto* const cache = threads::thread_instance<mask_cache<mask_name>>();
  return cache != nullptr ? cache->lookup(text) : mask_name(text);
}
std::string masked_uri(std::string_view text) {
  auto* const cache = threads::thread_instance<mask_cache<mask_uri>>();
  return cache != nullptr ? cache->lookup(text) : mask_uri(text);
}

std::vector<std::string> uris_of(const gate::subject& subject, const model::operation& operation) {
  std::vector<std::string> out;
  out.reserve(subject.uris.size());
  for (const auto uri : subject.uris) out.push_back(masked_uri(uri));
  if (const auto* unsubscription = std::get_if<model::unsubscribe>(&operation)) out.push_back(masked_uri(unsubscription->uri));
  if (const auto* entries = std::get_if<model::unsubscribe_entries>(&operation)) {
    for (const auto& entry_uri : entries->uris) out.push_back(masked_uri(entry_uri));
  }
  if (const auto* completion = std::get_if<model::complete>(&operation); completion != nullptr && !completion->prompt) {
    out.push_back(masked_uri(completion->template_uri));
  }
  return out;
}

audit_decision start_decision(const caller_info& caller, std::string_view method) {
  audit_decision out;
  out.time = std::chrono::system_clock::now();
  out.identity = caller.identity;
  out.address = caller.address;
  if (caller.auth_info) out.client = caller.auth_info->client;
  out.method = masked_name(method);
  return out;
}

/// The resources that a call of a built-in tool concerns: one URI, and the prefix of a search.
struct tool_targets {
  std::string uri;
  std::string prefix;
  std::vector<std::string> other_uris{};  ///< Further resources.
};

tool_targets targets_of(const handlers::table* handlers, const model::operation& operation) {
  const auto* request = std::get_if<model::call_tool>(&operation);
  const auto* tool = request != nullptr && handlers != nullptr ? handlers->find_tool(request->name) : nullptr;
  if (tool == nullptr) return {};
  if (tool->options.uris_of) return {{}, {}, tool->options.uris_of(request->arguments)};
  if (!tool->options.is_built_in) return {};
  const auto string_argument = [request](std::string_view name) {
    const auto* argument = request->arguments.find(name);
    const auto* text = argument != nullptr ? argument->as_string() : nullptr;
    return text != nullptr ? *text : std::string();
  };
  tool_targets out{string_argument("uri"), string_argument("uriPrefix")};
  if (auto canonical = canonical_uri(out.uri)) out.uri = std::move(*canonical);
  return out;
}

/// Whether access rules hide the resource or tool of a request, by URI and name alone. Such a request is answered as not found.
bool is_hidden(const server_snapshot& snapshot, const caller_info& caller, const gate::subject& subject,
               const model::operation& operation, const tool_targets& targets) {
  const bool is_reading = std::holds_alternative<model::read_resource>(operation) ||
                          std::holds_alternative<model::get_resource>(operation) ||
                          std::holds_alternative<model::get_skill>(operation);
  const auto* filter = caller.access_filter.get();
  if (filter != nullptr && std::any_of(subject.uris.begin(), subject.uris.end(), [&](std::string_view uri) {
        return is_reading ? !snapshot.gate->may_read(filter, uri) : !snapshot.gate->may_see(filter, uri);
      })) {
    return true;
  }
  // A prefix is not a resource: a part of its subtree may be visible.
  if (filter != nullptr && !targets.uri.empty() && !snapshot.gate->may_read(filter, targets.uri)) return true;
  if (filter != nullptr && std::any_of(targets.other_uris.begin(), targets.other_uris.end(),
                                       [&](const std::string& uri) { return !snapshot.gate->may_read(filter, uri); })) {
    return true;
  }
  if (const auto* completion = std::get_if<model::complete>(&operation);
      completion != nullptr && !completion->prompt && filter != nullptr) {
    const auto compiled = uri_template::compile(completion->template_uri);
    return compiled && !filter->may_see_any(*compiled);
  }
  if (subject.name.empty() || snapshot.handlers == nullptr) return false;
  // A tool or prompt that does not exist is not hidden.
  if (std::holds_alternative<model::call_tool>(operation)) {
    const auto* tool = snapshot.handlers->find_tool(subject.name);
    return tool != nullptr && !may_use(*snapshot.gate, caller, tool);
  }
  const auto* prompt = snapshot.handlers->find_prompt(subject.name);
  return prompt != nullptr && !may_use(*snapshot.gate, caller, prompt);
}

}  // namespace

audit_decision make_decision(const server_snapshot& snapshot, const caller_info& caller, std::string_view method,
                             const model::request& request, const result<void>& admitted) {
  auto out = start_decision(caller, method);
  const auto subject = gate::subject_of(request.operation);
  const auto targets = targets_of(snapshot.handlers.get(), request.operation);
  out.uris = uris_of(subject, request.operation);
  for (const auto* target : {&targets.uri, &targets.prefix}) {
    if (!target->empty()) out.uris.push_back(masked_uri(*target));
  }
  for (const auto& uri : targets.other_uris) out.uris.push_back(masked_uri(uri));
  out.name = masked_name(subject.name);
  out.trace_id = tracing::trace_id_in(request.trace.traceparent);
  out.is_allowed = admitted.has_value();
  if (!admitted) {
    out.reason = name_of(admitted.error().code);
  } else if (is_hidden(snapshot, caller, subject, request.operation, targets)) {
    out.is_allowed = false;
    out.reason = "hidden_by_access_rules";
  }
  return out;
}

audit_completion make_completion(const request_completion& completion, const std::string& trace) {
  return {std::chrono::system_clock::now(),
          completion.outcome,
          completion.error != 0 ? std::optional(completion.error) : std::nullopt,
          completion.bytes,
          std::chrono::duration_cast<std::chrono::microseconds>(completion.duration),
          trace};
}

void record_rejection(auditor* auditor, const caller_info& caller, std::string_view method, std::string_view reason,
                      int http_status) {
  if (auditor == nullptr) return;
  auto decision = start_decision(caller, method);
  decision.is_allowed = false;
  decision.reason = reason;
  if (http_status != 0) decision.http_status = http_status;
  decision.is_request = false;
  // Nothing would be served; an auditor that cannot record it counts it as lost.
  (void)auditor->record_decision(decision);
}

}  // namespace hondana::session

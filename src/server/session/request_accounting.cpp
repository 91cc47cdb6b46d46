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

#include "base/threads/thread_variable.hpp"
#include "base/tracing/tracing.hpp"
#include "server/gate/operation_names.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::session {
namespace {

using counters::head;
using counters::kind;

// In the order of `model::operation`, and one for unknown methods.
constexpr std::array<std::string_view, request_figures::no_method + 1> method_names{
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
    "ok",     "cancelled", "gone", "cut", "-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32020",
    "-32021", "-32022",    "304",  "409", "413",    "429",    "499",    "502",    "503",    "504",    "other"};
constexpr std::size_t cancelled_outcome = 1;
constexpr std::size_t gone_outcome = 2;
constexpr std::size_t cut_outcome = 3;
constexpr std::size_t first_code = 4;
constexpr std::array<int, 17> codes{-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022,
                                    304,    409,    413,    429,    499,    502,    503,    504};
static_assert(first_code + codes.size() + 1 == outcomes.size());

std::size_t outcome_of(int code) noexcept {
  if (code == 0) return 0;
  return first_code + static_cast<std::size_t>(std::find(codes.begin(), codes.end(), code) - codes.begin());
}

/// A name chosen by a client, shortened, with secrets masked.
std::string shown_name(std::string_view text) {
  constexpr std::size_t longest = 128;
  auto out = secrets::redact_text(text.substr(0, longest + secrets::margin));
  auto size = std::min(out.size(), longest);
  while (size > 0 && size < out.size() && (static_cast<unsigned char>(out[size]) & 0xC0) == 0x80) --size;
  out.resize(size);
  return out;
}

template <std::size_t Count>
std::vector<std::string> texts(const std::array<std::string_view, Count>& from) {
  return {from.begin(), from.end()};
}

}  // namespace

request_figures& request_figures::here() {
  // Never destroyed, like the registry of metrics.
  static auto& all = *new request_figures;
  return all;
}

request_figures::request_figures()
    : requests_(
          counters::sums::make({"hondana_requests", kind::counter, "",
                                "Requests, by era, method and outcome: ok, the error code, or why there was no answer."},
                               {{"era", {"legacy", "modern"}}, {"method", texts(method_names)}, {"outcome", texts(outcomes)}})),
      times_(counters::times::make(
          {"hondana_request_seconds", kind::histogram, "seconds", "Time from a request to the start of its answer."},
          {{"method", texts(method_names)}})),
      under_way_(counters::sums::make(
          {"hondana_requests_under_way", kind::gauge, "", "Requests in progress, including open streams of changes."})),
      refusals_(counters::sums::make({"hondana_refusals", kind::counter, "", "Requests rejected by a limit, by kind."},
                                     {{"kind", {"rate", "concurrency", "bytes", "scope"}}})),
      streams_(counters::sums::make({"hondana_streams", kind::gauge, "", "Open streams of changes of modern clients."})),
      told_(counters::sums::make({"hondana_notifications_told", kind::counter, "", "Change notifications sent to clients."})),
      dropped_(counters::sums::make(
          {"hondana_log_messages_dropped", kind::counter, "", "Log messages dropped because a client did not read."})) {}

std::string_view request_figures::name_of(std::size_t method) noexcept { return method_names[std::min(method, no_method)]; }

void request_figures::count(std::size_t method, const wire::codec& in, std::size_t outcome) noexcept {
  const std::size_t era = in.asks_by_requests() ? 0 : 1;
  requests_->add((era * method_names.size() + method) * outcomes.size() + outcome);
}

void request_figures::answered(std::size_t method, const wire::codec& in, int code) noexcept {
  count(method, in, outcome_of(code));
}

void request_figures::given_up(std::size_t method, const wire::codec& in, audit_outcome how) noexcept {
  count(method, in,
        how == audit_outcome::cancelled ? cancelled_outcome
        : how == audit_outcome::cut     ? cut_outcome
                                        : gone_outcome);
}

void request_figures::refused(errc why) noexcept {
  if (why == errc::too_many_requests) return refused(limit::rate);
  if (why == errc::overloaded) return refused(limit::concurrency);
  if (why == errc::response_too_large) return refused(limit::bytes);
  if (why == errc::scope_missing) return refused(limit::scope);
}

/// Spec: OpenTelemetry semantic conventions for MCP (server spans) and for JSON-RPC.
std::shared_ptr<tracing::live_span> span_of(tracer& with, const model::request& what, const wire::codec& in,
                                            const rpc::facts& facts) {
  const auto method = request_figures::name_of(request_figures::method_of(what.operation));
  std::string name(method);
  const auto* tool = std::get_if<model::call_tool>(&what.operation);
  const auto* prompt = std::get_if<model::get_prompt>(&what.operation);
  auto made = with.begin_request(std::move(name), what.trace);
  if (!made) return nullptr;
  made->set("mcp.method.name", std::string(method));
  made->set("mcp.protocol.version", std::string(in.revision()));
  if (tool != nullptr) made->set("gen_ai.tool.name", shown_name(tool->name));
  if (prompt != nullptr) made->set("gen_ai.prompt.name", shown_name(prompt->name));
  if (facts.http) made->set("network.protocol.name", std::string("http"));
  made->set("network.transport", std::string(facts.http ? "tcp" : "pipe"));
  return made;
}

void end(tracing::live_span& one, int code) {
  if (code != 0) {
    one.set("rpc.response.status_code", std::to_string(code));
    one.set("error.type", std::to_string(code));
    one.fail();
  }
  one.end();
}

namespace {

// Limit of names chosen by clients; auditors may cut further.
constexpr std::size_t longest_name = 1024;

/// At most the first `most` bytes, cut at a whole character.
std::string beginning(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
  return text;
}

// Clients choose the length, and masking takes time, so texts are cut first.
std::string mask_name(std::string_view text) {
  return beginning(secrets::redact_text(text.substr(0, longest_name + secrets::margin)), longest_name);
}
std::string mask_uri(std::string_view text) {
  return beginning(secrets::redact_uri(text.substr(0, max_uri_bytes + secrets::margin)), max_uri_bytes);
}

/// A cache of masked texts for each thread, because clients send the same texts repeatedly.
template <std::string (*mask)(std::string_view)>
class masked_before {
 public:
  std::string of(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > longest) return mask(text);
    auto& place = places_[std::hash<std::string_view>()(text) % places_.size()];
    if (place.text != text) place = {std::string(text), mask(text)};
    return place.masked;
  }

 private:
  static constexpr std::size_t longest = 512;
  struct pair {
    std::string text, masked;
  };
  std::array<pair, 64> places_;
};

std::string masked_name(std::string_view text) {
  auto* const before = threads::own<masked_before<mask_name>>();
  return before != nullptr ? before->of(text) : mask_name(text);
}
std::string masked_uri(std::string_view text) {
  auto* const before = threads::own<masked_before<mask_uri>>();
  return before != nullptr ? before->of(text) : mask_uri(text);
}

std::vector<std::string> uris_of(const gate::subject& about, const model::operation& what) {
  std::vector<std::string> out;
  out.reserve(about.uris.size());
  for (const auto one : about.uris) out.push_back(masked_uri(one));
  if (const auto* one = std::get_if<model::unsubscribe>(&what)) out.push_back(masked_uri(one->uri));
  if (const auto* all = std::get_if<model::unsubscribe_entries>(&what)) {
    for (const auto& one : all->uris) out.push_back(masked_uri(one));
  }
  if (const auto* one = std::get_if<model::complete>(&what); one != nullptr && !one->prompt) {
    out.push_back(masked_uri(one->template_uri));
  }
  return out;
}

audit_decision decision_of(const caller& who, std::string_view method) {
  audit_decision out;
  out.time = std::chrono::system_clock::now();
  out.identity = who.identity;
  out.address = who.address;
  if (who.proof) out.client = who.proof->client;
  out.method = masked_name(method);
  return out;
}

/// The resources that a call of a built-in tool concerns: one URI, and the prefix of a search.
struct looked_for {
  std::string uri;
  std::string prefix;
  std::vector<std::string> more{};  ///< Further resources.
};

looked_for looked_for_by(const handlers::table* offered, const model::operation& what) {
  const auto* asks = std::get_if<model::call_tool>(&what);
  const auto* called = asks != nullptr && offered != nullptr ? offered->find_tool(asks->name) : nullptr;
  if (called == nullptr) return {};
  if (called->manners.uris_of) return {{}, {}, called->manners.uris_of(asks->arguments)};
  if (!called->manners.is_built_in) return {};
  const auto spelled = [asks](std::string_view name) {
    const auto* given = asks->arguments.find(name);
    const auto* text = given != nullptr ? given->as_string() : nullptr;
    return text != nullptr ? *text : std::string();
  };
  looked_for out{spelled("uri"), spelled("uriPrefix")};
  if (auto canonical = canonical_uri(out.uri)) out.uri = std::move(*canonical);
  return out;
}

/// Whether access rules hide the resource or tool of a request, by URI and name alone. Such a request is answered as not found.
bool is_hidden(const context& with, const caller& who, const gate::subject& about, const model::operation& what,
               const looked_for& by_tool) {
  const bool is_reading = std::holds_alternative<model::read_resource>(what) ||
                          std::holds_alternative<model::get_resource>(what) || std::holds_alternative<model::get_skill>(what);
  const auto* through = who.view.get();
  if (through != nullptr && std::any_of(about.uris.begin(), about.uris.end(), [&](std::string_view uri) {
        return is_reading ? !with.gate->may_read(through, uri) : !with.gate->may_see(through, uri);
      })) {
    return true;
  }
  // A prefix is not a resource: a part of its subtree may be visible.
  if (through != nullptr && !by_tool.uri.empty() && !with.gate->may_read(through, by_tool.uri)) return true;
  if (through != nullptr && std::any_of(by_tool.more.begin(), by_tool.more.end(),
                                        [&](const std::string& uri) { return !with.gate->may_read(through, uri); })) {
    return true;
  }
  if (const auto* asks = std::get_if<model::complete>(&what); asks != nullptr && !asks->prompt && through != nullptr) {
    const auto compiled = uri_template::compile(asks->template_uri);
    return compiled && !through->may_see_some(*compiled);
  }
  if (about.name.empty() || with.handlers == nullptr) return false;
  // A tool or prompt that does not exist is not hidden.
  if (std::holds_alternative<model::call_tool>(what)) {
    const auto* one = with.handlers->find_tool(about.name);
    return one != nullptr && !may_use(*with.gate, who, one);
  }
  const auto* one = with.handlers->find_prompt(about.name);
  return one != nullptr && !may_use(*with.gate, who, one);
}

}  // namespace

audit_decision decision_about(const context& with, const caller& who, std::string_view method, const model::request& what,
                              const result<void>& admitted) {
  auto out = decision_of(who, method);
  const auto about = gate::subject_of(what.operation);
  const auto by_tool = looked_for_by(with.handlers.get(), what.operation);
  out.uris = uris_of(about, what.operation);
  for (const auto* one : {&by_tool.uri, &by_tool.prefix}) {
    if (!one->empty()) out.uris.push_back(masked_uri(*one));
  }
  for (const auto& one : by_tool.more) out.uris.push_back(masked_uri(one));
  out.name = masked_name(about.name);
  out.trace = tracing::trace_in(what.trace.traceparent);
  out.is_allowed = admitted.has_value();
  if (!admitted) {
    out.why = name_of(admitted.error().code);
  } else if (is_hidden(with, who, about, what.operation, by_tool)) {
    out.is_allowed = false;
    out.why = "hidden by access rules";
  }
  return out;
}

audit_completion completion_of(const completion& how, const std::string& trace) {
  return {std::chrono::system_clock::now(),
          how.how,
          how.error,
          how.bytes,
          std::chrono::duration_cast<std::chrono::microseconds>(how.took),
          trace};
}

void record_refusal(auditor* by, const caller& who, std::string_view method, std::string_view why, int http_status) {
  if (by == nullptr) return;
  auto what = decision_of(who, method);
  what.is_allowed = false;
  what.why = why;
  what.http_status = http_status;
  what.is_request = false;
  // Nothing would be served; an auditor that cannot record it counts it as lost.
  (void)by->decide(what);
}

}  // namespace hondana::session

/// Names of methods and outcomes, and counting by them.
#include "server/session/request_figures.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "text/secrets/redactor.hpp"

namespace hondana::session {
namespace {

using counters::head;
using counters::kind;

// In the order of `model::operation`, and one for all others.
constexpr std::array<std::string_view, request_figures::no_method + 1> methods{
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

/// A peer chooses it, and may have put a secret in it by mistake.
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
  // Never destroyed, as the registry.
  static auto& all = *new request_figures;
  return all;
}

request_figures::request_figures()
    : requests_(
          counters::sums::make({"hondana_requests", kind::counter, "",
                                "Requests, by era, method and outcome: ok, the error code, or why there was no answer."},
                               {{"era", {"legacy", "modern"}}, {"method", texts(methods)}, {"outcome", texts(outcomes)}})),
      times_(counters::times::make(
          {"hondana_request_seconds", kind::histogram, "seconds", "Time from a request to the start of its answer."},
          {{"method", texts(methods)}})),
      under_way_(counters::sums::make(
          {"hondana_requests_under_way", kind::gauge, "", "Requests in progress, including open streams of changes."})),
      refusals_(counters::sums::make({"hondana_refusals", kind::counter, "", "Requests rejected by a limit, by kind."},
                                     {{"kind", {"rate", "concurrency", "bytes", "scope"}}})),
      streams_(counters::sums::make({"hondana_streams", kind::gauge, "", "Open streams of changes of modern clients."})),
      told_(counters::sums::make({"hondana_notifications_told", kind::counter, "", "Change notifications sent to clients."})),
      dropped_(counters::sums::make(
          {"hondana_log_messages_dropped", kind::counter, "", "Log messages dropped because a client did not read."})) {}

std::string_view request_figures::name_of(std::size_t method) noexcept { return methods[std::min(method, no_method)]; }

void request_figures::count(std::size_t method, const wire::codec& in, std::size_t outcome) noexcept {
  const std::size_t era = in.asks_by_requests() ? 0 : 1;
  requests_->add((era * methods.size() + method) * outcomes.size() + outcome);
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

}  // namespace hondana::session

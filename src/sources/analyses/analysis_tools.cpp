/// The tools analysis_claim, analysis_put, analysis_get and analysis_invalidate, with their JSON schemas.
#include "sources/analyses/analysis_tools.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "protocol/model/iso_8601.hpp"
#include "sources/analyses/analysis_lookup.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::analyses_source {
namespace {

/// Parses a schema from this file; an error is a programming mistake.
value parse_schema(const std::string& text) {
  auto schema = value::parse(text);
  if (!schema) throw std::logic_error("a schema is not valid JSON: " + schema.error().public_text);
  return std::move(*schema);
}

/// The members of a question. The schemas below are members of an object, without its braces.
constexpr std::string_view question_members = R"(
"prompt":{"type":"string","minLength":1,"description":"The prompt for the models. Differences in width, compatibility forms and white space are ignored"},
"options":{"type":"object","description":"Other inputs that affect the answer, such as temperature; part of the key"},
"models":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":128},"description":"The models to ask, as a set; part of the key"},
"context":{"type":"array","maxItems":1024,"description":"Resources of this server that the answer is based on. When one changes, the analysis is deleted","items":{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":8192},"version":{"type":"string","maxLength":8192,"description":"As returned by analysis_claim; default: the current version"}},"required":["uri"],"additionalProperties":false}})";

constexpr std::string_view task_member =
    R"("task":{"type":"string","enum":["basic","premium","critical"],"default":"basic","description":"How much depends on the answer. Decides how long it is cached, and its thresholds"})";

// Schemas of values that several tools take, without braces.
constexpr std::string_view session_schema = R"("type":"string","minLength":1,"maxLength":256)";
constexpr std::string_view tag_schema = R"("type":"string","minLength":1,"maxLength":128)";
constexpr std::string_view digest_schema = R"("type":"string","pattern":"^[0-9a-f]{64}$")";
constexpr std::string_view uri_schema = R"("type":"string","minLength":1,"maxLength":8192)";
constexpr std::string_view lease_schema = R"("type":"integer","minimum":1000,"maximum":3600000)";

/// `"NAME":{TYPE,"description":"…"}`. An empty description is omitted.
std::string schema_member(std::string_view name, std::string_view type, std::string_view description) {
  std::string out = '"' + std::string(name) + R"(":{)" + std::string(type);
  if (!description.empty()) out += R"(,"description":")" + std::string(description) + '"';
  return out + '}';
}

constexpr std::string_view definitions = R"("$defs":{
"share":{"type":"number","minimum":0,"maximum":1},
"name":{"type":"string","minLength":1,"maxLength":128},
"time":{"type":"string","description":"RFC 3339"},
"milliseconds":{"type":"integer","minimum":0},
"round":{"type":"integer","minimum":0,"description":"From 1; 0: not part of a round"},
"consensus":{"type":"object","properties":{"content":{"type":"string"},"confidence":{"$ref":"#/$defs/share"},"reasoning":{"type":"string"}},"required":["content","confidence"],"additionalProperties":false},
"vote":{"type":"object","properties":{"provider":{"$ref":"#/$defs/name"},"model":{"type":"string","maxLength":128},"content":{"type":"string"},"confidence":{"$ref":"#/$defs/share"},"reasoning":{"type":"string"},"cost":{"type":"number","minimum":0},"tokens":{"type":"integer","minimum":0},"agreement":{"$ref":"#/$defs/share","description":"Agreement with the consensus"}},"required":["provider","content","confidence"],"additionalProperties":false}})";

/// The members of an analysis after those of the question.
constexpr std::string_view analysis_members = R"(
"thresholds":{"type":"object","description":"Thresholds in addition to those of the server for the task type","properties":{"confidence":{"$ref":"#/$defs/share"},"consensus":{"$ref":"#/$defs/share"},"providers":{"type":"integer","minimum":1}},"additionalProperties":false},
"consensus":{"$ref":"#/$defs/consensus"},
"votes":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/vote"},"description":"The last vote of each provider"},
"rounds":{"type":"array","maxItems":64,"items":{"type":"object","properties":{"number":{"type":"integer","minimum":1},"votes":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/vote"}},"consensus":{"$ref":"#/$defs/consensus"},"at":{"$ref":"#/$defs/time"},"milliseconds":{"$ref":"#/$defs/milliseconds"}},"required":["number"],"additionalProperties":false}},
"flow":{"type":"array","maxItems":4096,"items":{"type":"object","properties":{"round":{"$ref":"#/$defs/round"},"provider":{"type":"string","maxLength":128},"action":{"$ref":"#/$defs/name"},"at":{"$ref":"#/$defs/time"},"milliseconds":{"$ref":"#/$defs/milliseconds"},"note":{"type":"string"}},"required":["action"],"additionalProperties":false}},
"errors":{"type":"array","maxItems":4096,"items":{"type":"object","properties":{"provider":{"$ref":"#/$defs/name"},"round":{"$ref":"#/$defs/round"},"message":{"type":"string"},"at":{"$ref":"#/$defs/time"}},"required":["provider","message"],"additionalProperties":false}},
"totals":{"type":"object","properties":{"cost":{"type":"number","minimum":0},"tokens":{"type":"integer","minimum":0},"milliseconds":{"$ref":"#/$defs/milliseconds"}},"additionalProperties":false},
"session":{"type":"string","maxLength":256},
"tags":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/name"}},
"id":{"type":"string","description":"Set by the server; ignored on input"},
"status":{"type":"string","enum":["computing","complete","below"],"description":"Set by the server; ignored on input"},
"created":{"$ref":"#/$defs/time"},
"expires":{"$ref":"#/$defs/time"})";

std::string analysis_schema() {
  return R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + "," +
         std::string(analysis_members) + R"(},"required":["prompt"],"additionalProperties":false})";
}

constexpr std::string_view answer_members = R"(
"analysis":{"type":"object","description":"As in analysis_put, with id, status, created and expires","required":["prompt","id","status"]},
"id":{"type":"string","description":"Id of the analysis that was found or is being computed"},
"uri":{"type":"string","description":"URI of that analysis. Subscribe to it to be notified of rounds, of the answer and of its deletion"},
"byPrompt":{"type":"string","description":"The URI of the newest final analysis of this prompt"},
"context":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},"version":{"type":"string"}},"required":["uri","version"]},"description":"The context, with the versions that are part of the key"},
"reason":{"type":"string","description":"For failed: the reason"},
"leaseExpires":{"type":"string","description":"RFC 3339: the end of the lease, for claimed and computing"},
"expires":{"type":"string","description":"RFC 3339: for failed, how long the failure is remembered"},
"retryAfterMs":{"type":"integer","minimum":0,"description":"Time to wait before the next call"})";

tool make_tool(std::string name, std::string title, std::string description, std::string input, std::string output) {
  tool out;
  out.name = std::move(name);
  out.title = title;
  out.description = std::move(description);
  out.input_schema = parse_schema(input);
  out.output_schema = parse_schema(output);
  out.annotations.title = std::move(title);
  out.annotations.open_world_hint = false;
  return out;
}

}  // namespace

tool claim_tool() {
  auto out = make_tool(
      "analysis_claim", "Get a Wall-Bounce analysis, or a ticket to compute it",
      "Checks whether several models have already answered this question. outcome \"fresh\": a final answer, in analysis. "
      "\"claimed\": compute the answer and pass it to analysis_put with this ticket before leaseExpires (analysis may contain "
      "an old "
      "answer to use meanwhile). \"stale\": an old answer, which another caller is computing again, or that has just failed. "
      "\"computing\": another caller is computing it; subscribe to uri, or call again after retryAfterMs. \"failed\": "
      "computing it has just failed. Of all callers with the same question, one receives the ticket.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
"session":{"type":"string","maxLength":256,"description":"For lookup and invalidation of analyses"},
"tags":{"type":"array","maxItems":64,"items":{)" +
          std::string(tag_schema) + R"(},"description":"For lookup and invalidation of analyses"},
)" + schema_member("leaseMs", lease_schema, "Length of the lease. partial and renew extend it, and never shorten it") +
          R"(,
"force":{"type":"boolean","default":false,"description":"Compute it again although a fresh answer exists"}
},"required":["prompt"],"additionalProperties":false})",
      R"({"type":"object","properties":{"outcome":{"type":"string","enum":["claimed","fresh","stale","computing","failed"]},
"ticket":{"type":"string","description":"For analysis_put"},)" +
          std::string(answer_members) + R"(},"required":["outcome"],"additionalProperties":false})");
  out.annotations.read_only_hint = false;
  out.annotations.destructive_hint = false;
  return out;
}

tool put_tool() {
  auto out = make_tool(
      "analysis_put", "Store a Wall-Bounce analysis",
      "Stores an analysis, or changes a claim. step \"complete\" (default): the finished analysis, with the ticket of "
      "analysis_claim, or without one if it was computed without a claim. \"partial\": the state after a round; extends the "
      "lease. \"renew\": extends the lease only. \"fail\": the computation failed, with reason; no caller receives a ticket "
      "for a "
      "while. \"abandon\": another caller may compute it at once. prompt, options, models and context must equal those of the "
      "claim. An analysis below its thresholds is stored, but never returned as final.",
      R"({"type":"object","properties":{
"ticket":{"type":"string","maxLength":512,"description":"As returned by analysis_claim; only \"complete\" works without it"},
"step":{"type":"string","enum":["complete","partial","renew","fail","abandon"],"default":"complete"},
"analysis":)" +
          analysis_schema() + R"(,
)" +
          schema_member("leaseMs", lease_schema,
                        "For renew: the lease ends no sooner than this long from now, and no sooner than before") +
          R"(,
"reason":{"type":"string","maxLength":4096,"description":"For fail: the reason"}
},"additionalProperties":false,)" +
          std::string(definitions) + "}",
      R"({"type":"object","properties":{
"step":{"type":"string"},
"id":{"type":"string"},
"uri":{"type":"string"},
"byPrompt":{"type":"string","description":"URI of the newest final analysis of this prompt"},
"status":{"type":"string","enum":["computing","complete","below"],"description":"complete: returned as final; below: stored, but not returned as final, for the reason in notFinalReason"},
"notFinalReason":{"type":"string"},
"expires":{"type":"string","description":"RFC 3339: when it becomes stale"},
"leaseExpires":{"type":"string","description":"RFC 3339: the end of the lease, for partial and renew"}
},"required":["step"],"additionalProperties":false})");
  out.annotations.read_only_hint = false;
  out.annotations.destructive_hint = false;
  return out;
}

tool get_tool() {
  auto out = make_tool(
      "analysis_get", "Look up a Wall-Bounce analysis",
      "Looks up an analysis by question (prompt, options, models, context), by uri, or by the digest of its prompt, without a "
      "claim. outcome \"fresh\": final. \"stale\": final, but old. \"below\": below its thresholds. \"computing\": not "
      "finished; analysis is the state so far. \"failed\": computing it has just failed. \"missing\": not found.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
)" + schema_member("uri", uri_schema, "Instead of a question: wallbounce://analyses/ID") +
          "," +
          schema_member("digest", digest_schema,
                        "Instead of a question: the digest of the prompt, as in wallbounce://by-prompt/DIGEST") +
          R"(},"additionalProperties":false})",
      R"({"type":"object","properties":{"outcome":{"type":"string","enum":["fresh","stale","below","computing","failed","missing"]},)" +
          std::string(answer_members) + R"(},"required":["outcome"],"additionalProperties":false})");
  out.annotations.read_only_hint = true;
  out.annotations.idempotent_hint = true;
  return out;
}

tool invalidate_tool() {
  auto out = make_tool(
      "analysis_invalidate", "Delete Wall-Bounce analyses",
      "Deletes analyses, and ends the claims of those that are being computed: one by uri, or all of a session, with a tag, of "
      "a prompt (digest), or based on a resource (context). Give one of these.",
      R"({"type":"object","properties":{)" + schema_member("uri", uri_schema, "wallbounce://analyses/ID") + "," +
          schema_member("session", session_schema, {}) + "," + schema_member("tag", tag_schema, {}) + "," +
          schema_member("digest", digest_schema, {}) + "," + schema_member("context", uri_schema, "The URI of a resource") +
          R"(},"additionalProperties":false})",
      R"({"type":"object","properties":{"forgotten":{"type":"integer","minimum":0}},"required":["forgotten"],"additionalProperties":false})");
  out.annotations.read_only_hint = false;
  out.annotations.destructive_hint = true;
  out.annotations.idempotent_hint = true;
  return out;
}

namespace {

using analyses::cached_answer;

/// What the tool handlers share.
struct tool_context {
  std::shared_ptr<provider_state> state;
  std::shared_ptr<context_watcher> watcher;
};

std::string text_argument(const value& arguments, std::string_view name) {
  const auto* argument = arguments.find(name);
  const auto* text = argument == nullptr ? nullptr : argument->as_string();
  return text == nullptr ? std::string() : *text;
}

analyses::milliseconds milliseconds_argument(const value& arguments, std::string_view name) {
  const auto* argument = arguments.find(name);
  return analyses::milliseconds(argument == nullptr ? 0 : argument->as_integer().value_or(0));
}

analyses::task_type task_argument(const value& arguments) {
  return analyses::parse_task_type(text_argument(arguments, "task")).value_or(analyses::task_type::basic);
}

/// Reads the question, and resolves its context to the current versions. Errors: as `decode_question` and `resolve_versions`.
result<analyses::model_question> read_question(const tool_context& context, const tool_call& call) {
  value::object members;
  for (const auto* name : {"prompt", "options", "models", "context"})
    if (const auto* argument = call.arguments.find(name)) members.emplace_back(name, *argument);
  auto question = analyses::decode_question(value(std::move(members)), {});
  if (!question) return question;
  HONDANA_TRY(resolve_versions(*context.state, *context.watcher, call, *question, "context"));
  return question;
}

/// The JSON of an analysis, with secrets masked.
result<value> masked_json(const tool_context& context, const analyses::cache_entry& entry) {
  return parse_stored(context.state->mask_secrets(entry));
}

value context_to_value(const std::vector<analyses::resource_version>& resources) {
  value::array out;
  for (const auto& resource : resources) out.emplace_back(value::object{{"uri", resource.uri}, {"version", resource.version}});
  return out;
}

void add_analysis_uri(value::object& object, const std::string& id) {
  object.emplace_back("id", id);
  object.emplace_back("uri", analysis_uri(id));
}

tool_outcome structured_result(value::object content) {
  tool_result out;
  out.structured_content = value(std::move(content));
  return out;
}

std::string outcome_name(const cached_answer& answer) {
  switch (answer.status) {
    case cached_answer::cache_status::fresh:
      return "fresh";
    case cached_answer::cache_status::stale:
      return "stale";
    case cached_answer::cache_status::failed:
      return "failed";
    case cached_answer::cache_status::computing:
      return "computing";
    case cached_answer::cache_status::missing:
      break;
  }
  return "missing";
}

bool can_read(const tool_context& context, const caller_info& caller, const analyses::analysis_summary& summary) {
  return context.state->may_read(caller, make_entry(summary, approximate_now())).has_value();
}

/// Adds the time when a lease or a failure expires as `member`, and the delay before a retry.
result<void> add_retry_time(value::object& object, std::string_view member, analyses::instant expires_at,
                            const analyses::cache& cache) {
  constexpr analyses::milliseconds max_delay{1'000};
  HONDANA_TRY(const auto now, cache.store().now());
  object.emplace_back(member, model::format_iso_8601(expires_at));
  object.emplace_back("retryAfterMs", std::clamp(expires_at - now, analyses::milliseconds(0), max_delay).count());
  return {};
}

/// Adds the state of a question's answer, without analyses that the caller may not read.
result<void> add_answer(value::object& object, const tool_context& context, const tool_call& call, const cached_answer& answer,
                        const analyses::cache& cache) {
  if (answer.entry && can_read(context, call.caller, answer.entry->summary)) {
    add_analysis_uri(object, answer.entry->summary.id);
    HONDANA_TRY(auto analysis, masked_json(context, *answer.entry));
    object.emplace_back("analysis", std::move(analysis));
  } else if (answer.status == cached_answer::cache_status::computing && answer.claim) {
    const auto summary = cache.store().get_summary(answer.claim->id);
    if (summary && *summary && can_read(context, call.caller, **summary)) add_analysis_uri(object, answer.claim->id);
    HONDANA_TRY(add_retry_time(object, "leaseExpires", answer.claim->lease_expires_at, cache));
  }
  if (answer.status != cached_answer::cache_status::failed) return {};
  object.emplace_back("reason",
                      context.state->options.redact ? secrets::redact_text(answer.failure_reason) : answer.failure_reason);
  return add_retry_time(object, "expires", answer.failure_expires_at, cache);
}

std::string claimant_name(const caller_info& caller) {
  constexpr std::size_t max_bytes = 128;
  auto end = std::min(caller.identity.size(), max_bytes);
  while (end > 0 && end < caller.identity.size() && (static_cast<unsigned char>(caller.identity[end]) & 0xC0U) == 0x80U) --end;
  return caller.identity.substr(0, end);
}

result<tool_outcome> run_claim(const tool_context& context, const tool_call& call) {
  HONDANA_TRY(auto cache, context.state->get_cache());
  HONDANA_TRY(auto question, read_question(context, call));
  analyses::claim_request request;
  request.question = std::move(question);
  request.task = task_argument(call.arguments);
  request.session = text_argument(call.arguments, "session");
  if (const auto* tags = call.arguments.find("tags"))
    for (const auto& tag : *tags->as_array()) request.tags.push_back(*tag.as_string());
  request.claimant = claimant_name(call.caller);
  request.lease_ttl = milliseconds_argument(call.arguments, "leaseMs");
  const auto* force = call.arguments.find("force");
  request.is_forced = force != nullptr && force->as_boolean().value_or(false);
  request.stop = call.stop;
  // An analysis that the caller may not read does not exist for it, so it computes its own.
  request.is_hidden = [&](const analyses::analysis_summary& summary) { return !can_read(context, call.caller, summary); };
  HONDANA_TRY(auto result, cache->claim(request));
  value::object out{{"outcome", result.ticket ? "claimed" : outcome_name(result.answer)}};
  if (result.ticket) {
    out.emplace_back("ticket", analyses::format_ticket(*result.ticket));
    out.emplace_back("leaseExpires", model::format_iso_8601(result.lease_expires_at));
    auto answer = result.answer;
    if (answer.entry && can_read(context, call.caller, answer.entry->summary)) {
      HONDANA_TRY(auto analysis, masked_json(context, *answer.entry));
      out.emplace_back("analysis", std::move(analysis));
    }
    add_analysis_uri(out, result.ticket->id);
  } else if (auto added = add_answer(out, context, call, result.answer, *cache); !added) {
    return tl::unexpected(std::move(added.error()));
  }
  out.emplace_back("byPrompt", by_prompt_uri(analyses::make_key(request.question).prompt_digest));
  if (!request.question.context.empty()) out.emplace_back("context", context_to_value(request.question.context));
  return structured_result(std::move(out));
}

value::object put_result_object(std::string_view step, const analyses::analysis_summary& summary) {
  value::object out{{"step", step}};
  add_analysis_uri(out, summary.id);
  out.emplace_back("status", analyses::name_of(summary.status));
  return out;
}

result<tool_outcome> put_analysis(const tool_context& context, const tool_call& call, analyses::cache& cache,
                                  std::string_view step, const std::optional<analyses::claim_ticket>& ticket) {
  const auto* input = call.arguments.find("analysis");
  if (input == nullptr)
    return fail(errc::invalid_argument,
                "analysis: missing. Give the analysis to store; only the steps renew, fail and abandon work without one.");
  HONDANA_TRY(auto analysis, analyses::decode(*input, "analysis"));
  HONDANA_TRY(resolve_versions(*context.state, *context.watcher, call, analysis.question, "analysis.context"));
  if (step == "partial") {
    HONDANA_TRY(const auto summary, cache.put_partial(*ticket, analysis));
    auto out = put_result_object(step, summary);
    out.emplace_back("leaseExpires", model::format_iso_8601(summary.expires_at));
    return structured_result(std::move(out));
  }
  HONDANA_TRY(const auto stored, ticket ? cache.put(*ticket, analysis) : cache.put(analysis));
  auto out = put_result_object(step, stored.summary);
  if (!stored.not_final_reason.empty()) out.emplace_back("notFinalReason", stored.not_final_reason);
  out.emplace_back("expires", model::format_iso_8601(stored.summary.expires_at));
  if (stored.summary.status == analyses::analysis_status::complete)
    out.emplace_back("byPrompt", by_prompt_uri(stored.summary.key.prompt_digest));
  return structured_result(std::move(out));
}

result<tool_outcome> run_put(const tool_context& context, const tool_call& call) {
  HONDANA_TRY(auto cache, context.state->get_cache());
  const auto requested_step = text_argument(call.arguments, "step");
  const std::string step = requested_step.empty() ? "complete" : requested_step;
  std::optional<analyses::claim_ticket> ticket;
  if (const auto text = text_argument(call.arguments, "ticket"); !text.empty()) {
    HONDANA_TRY(auto parsed, analyses::parse_ticket(text));
    ticket = std::move(parsed);
  }
  if (!ticket && step != "complete")
    return fail(errc::invalid_argument,
                "ticket: missing. Give the ticket that analysis_claim returned; only the step complete works without one.");
  if (step == "complete" || step == "partial") return put_analysis(context, call, *cache, step, ticket);
  value::object out{{"step", step}};
  add_analysis_uri(out, ticket->id);
  if (step == "renew") {
    const auto lease_expires_at = cache->renew(*ticket, milliseconds_argument(call.arguments, "leaseMs"));
    if (!lease_expires_at) return tl::unexpected(lease_expires_at.error());
    out.emplace_back("leaseExpires", model::format_iso_8601(*lease_expires_at));
    return structured_result(std::move(out));
  }
  const auto reason = text_argument(call.arguments, "reason");
  if (step == "fail" && reason.empty())
    return fail(errc::invalid_argument,
                "reason: missing. Give the reason of the failure; other callers with this question receive it.");
  HONDANA_TRY(step == "fail" ? cache->fail(*ticket, reason) : cache->release_claim(*ticket));
  return structured_result(std::move(out));
}

/// Returns one analysis by id. Errors: resource_not_found.
result<tool_outcome> get_by_id(const tool_context& context, const tool_call& call, const std::string& id,
                               const analyses::cache& cache) {
  HONDANA_TRY(const auto stored, cache.get(id));
  if (!stored) return tl::unexpected(analysis_not_found());
  const auto& entry = *stored;
  if (auto access = context.state->may_read(call.caller, make_entry(entry.summary, approximate_now())); !access) {
    if (access.error().code == errc::insufficient_scope) return tl::unexpected(std::move(access.error()));
    return tl::unexpected(analysis_not_found());
  }
  HONDANA_TRY(const auto is_current, is_context_current(*context.state, *context.watcher, call, entry));
  if (!is_current) return tl::unexpected(analysis_not_found());
  const auto outcome = entry.summary.status == analyses::analysis_status::computing          ? "computing"
                       : entry.summary.status == analyses::analysis_status::below_thresholds ? "below"
                       : entry.is_stale                                                      ? "stale"
                                                                                             : "fresh";
  HONDANA_TRY(auto analysis, masked_json(context, entry));
  value::object out{{"outcome", outcome}};
  add_analysis_uri(out, id);
  out.emplace_back("byPrompt", by_prompt_uri(entry.summary.key.prompt_digest));
  out.emplace_back("analysis", std::move(analysis));
  return structured_result(std::move(out));
}

result<tool_outcome> get_by_digest(const tool_context& context, const tool_call& call, const std::string& prompt_digest,
                                   const analyses::cache& cache) {
  const auto match = find_by_prompt(*context.state, *context.watcher, call, prompt_digest, cache);
  if (match) return get_by_id(context, call, match->summary.id, cache);
  if (match.error().code != errc::resource_not_found) return tl::unexpected(match.error());
  return structured_result({{"outcome", "missing"}, {"byPrompt", by_prompt_uri(prompt_digest)}});
}

result<tool_outcome> run_get(const tool_context& context, const tool_call& call) {
  HONDANA_TRY(auto cache, context.state->get_cache());
  const auto uri = text_argument(call.arguments, "uri");
  const auto digest = text_argument(call.arguments, "digest");
  const bool has_question = call.arguments.find("prompt") != nullptr;
  if ((uri.empty() ? 0 : 1) + (digest.empty() ? 0 : 1) + (has_question ? 1 : 0) != 1)
    return fail(errc::invalid_argument, "Give one of prompt (with options, models and context), uri and digest.");
  if (!uri.empty()) {
    const auto address =
        canonical_uri(uri).and_then([](const std::string& canonical_text) { return parse_address(canonical_text); });
    if (address && address->kind == resource_kind::by_prompt)
      return get_by_digest(context, call, address->prompt_digest, *cache);
    if (!address || address->kind != resource_kind::analysis)
      return fail(errc::invalid_argument, "uri: expected wallbounce://analyses/ID or wallbounce://by-prompt/DIGEST");
    return get_by_id(context, call, address->id, *cache);
  }
  if (!digest.empty()) return get_by_digest(context, call, analyses::digest_from_hex(digest).value_or(std::string()), *cache);
  HONDANA_TRY(auto question, read_question(context, call));
  auto answer = cache->look_up(question, task_argument(call.arguments), [&](const analyses::analysis_summary& summary) {
    return !can_read(context, call.caller, summary);
  });
  if (!answer) return tl::unexpected(std::move(answer.error()));
  value::object out{{"outcome", outcome_name(*answer)}};
  HONDANA_TRY(add_answer(out, context, call, *answer, *cache));
  out.emplace_back("byPrompt", by_prompt_uri(analyses::make_key(question).prompt_digest));
  if (!question.context.empty()) out.emplace_back("context", context_to_value(question.context));
  return structured_result(std::move(out));
}

result<tool_outcome> run_invalidate(const tool_context& context, const tool_call& call) {
  HONDANA_TRY(auto cache, context.state->get_cache());
  HONDANA_TRY(const auto selector, parse_selector(call.arguments));
  HONDANA_TRY(const auto count, erase_analyses(*context.state, call, selector, *cache));
  return structured_result({{"forgotten", count}});
}

/// The resources that the arguments name: an analysis and its context. A ticket is not a resource.
std::vector<std::string> collect_audit_uris(const value& arguments) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& text) {
    auto canonical = canonical_uri(text);
    if (canonical) out.push_back(std::move(*canonical));
  };
  const auto add_context = [&](const value* context) {
    if (context == nullptr) return;
    if (const auto* text = context->as_string()) add(*text);
    const auto* elements = context->as_array();
    if (elements == nullptr) return;
    // The arguments are not validated yet; too many contexts are rejected later.
    for (std::size_t i = 0; i < std::min(elements->size(), analyses::max_context_resources); ++i)
      add(text_argument((*elements)[i], "uri"));
  };
  add(text_argument(arguments, "uri"));
  if (const auto digest = analyses::digest_from_hex(text_argument(arguments, "digest"))) out.push_back(by_prompt_uri(*digest));
  add_context(arguments.find("context"));
  if (const auto* analysis = arguments.find("analysis")) add_context(analysis->find("context"));
  return out;
}

source_tool bind_tool(tool definition, const tool_context& context,
                      result<tool_outcome> (*handler)(const tool_context&, const tool_call&)) {
  source_tool out;
  out.entry = std::move(definition);
  out.handler = [context, handler](const tool_call& call) { return handler(context, call); };
  out.audit_uris = collect_audit_uris;
  return out;
}

}  // namespace

std::vector<source_tool> make_tools(const std::shared_ptr<provider_state>& state,
                                    const std::shared_ptr<context_watcher>& watcher) {
  const tool_context context{state, watcher};
  return {bind_tool(claim_tool(), context, &run_claim), bind_tool(put_tool(), context, &run_put),
          bind_tool(get_tool(), context, &run_get), bind_tool(invalidate_tool(), context, &run_invalidate)};
}

}  // namespace hondana::analyses_source

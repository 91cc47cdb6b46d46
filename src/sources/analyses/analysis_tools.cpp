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
value schema_of(const std::string& text) {
  auto made = value::parse(text);
  if (!made) throw std::logic_error("a schema is not valid JSON: " + made.error().public_text);
  return std::move(*made);
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
constexpr std::string_view session_text = R"("type":"string","minLength":1,"maxLength":256)";
constexpr std::string_view tag_text = R"("type":"string","minLength":1,"maxLength":128)";
constexpr std::string_view digest_text = R"("type":"string","pattern":"^[0-9a-f]{64}$")";
constexpr std::string_view uri_text = R"("type":"string","minLength":1,"maxLength":8192)";
constexpr std::string_view lease_span = R"("type":"integer","minimum":1000,"maximum":3600000)";

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

constexpr std::string_view found_members = R"(
"analysis":{"type":"object","description":"As in analysis_put, with id, status, created and expires","required":["prompt","id","status"]},
"id":{"type":"string","description":"Id of the analysis that was found or is being computed"},
"uri":{"type":"string","description":"URI of that analysis. Subscribe to it to be notified of rounds, of the answer and of its deletion"},
"byPrompt":{"type":"string","description":"The URI of the newest final analysis of this prompt"},
"context":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},"version":{"type":"string"}},"required":["uri","version"]},"description":"The context, with the versions that are part of the key"},
"why":{"type":"string","description":"For failed: the reason"},
"until":{"type":"string","description":"RFC 3339: the end of the lease, or how long the failure is remembered"},
"retryAfterMs":{"type":"integer","minimum":0,"description":"Time to wait before the next call"})";

tool named_tool(std::string name, std::string title, std::string description, std::string input, std::string output) {
  tool out;
  out.name = std::move(name);
  out.title = title;
  out.description = std::move(description);
  out.inputSchema = schema_of(input);
  out.outputSchema = schema_of(output);
  out.annotations.title = std::move(title);
  out.annotations.openWorldHint = false;
  return out;
}

}  // namespace

tool claim_entry() {
  auto out = named_tool(
      "analysis_claim", "Get a Wall-Bounce analysis, or a ticket to compute it",
      "Checks whether several models have already answered this question. outcome \"fresh\": a final answer, in analysis. "
      "\"claimed\": compute the answer and pass it to analysis_put with this ticket before until (analysis may contain an old "
      "answer to use meanwhile). \"stale\": an old answer, which another caller is computing again, or that has just failed. "
      "\"computing\": another caller is computing it; subscribe to uri, or call again after retryAfterMs. \"failed\": "
      "computing it has just failed. Of all callers with the same question, one receives the ticket.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
"session":{"type":"string","maxLength":256,"description":"For lookup and invalidation of analyses"},
"tags":{"type":"array","maxItems":64,"items":{)" +
          std::string(tag_text) + R"(},"description":"For lookup and invalidation of analyses"},
)" + schema_member("leaseMs", lease_span, "Length of the lease. part and renew extend it, and never shorten it") +
          R"(,
"force":{"type":"boolean","default":false,"description":"Compute it again although a fresh answer exists"}
},"required":["prompt"],"additionalProperties":false})",
      R"({"type":"object","properties":{"outcome":{"type":"string","enum":["claimed","fresh","stale","computing","failed"]},
"ticket":{"type":"string","description":"For analysis_put"},)" +
          std::string(found_members) + R"(},"required":["outcome"],"additionalProperties":false})");
  out.annotations.readOnlyHint = false;
  out.annotations.destructiveHint = false;
  return out;
}

tool put_entry() {
  auto out = named_tool(
      "analysis_put", "Store a Wall-Bounce analysis",
      "Stores an analysis, or changes a claim. step \"whole\" (default): the finished analysis, with the ticket of "
      "analysis_claim, or without one if it was computed without a claim. \"part\": the state after a round; extends the "
      "lease. \"renew\": extends the lease only. \"fail\": the computation failed, with why; no caller receives a ticket for a "
      "while. \"give_up\": another caller may compute it at once. prompt, options, models and context must equal those of the "
      "claim. An analysis below its thresholds is stored, but never returned as final.",
      R"({"type":"object","properties":{
"ticket":{"type":"string","maxLength":512,"description":"As returned by analysis_claim; only \"whole\" works without it"},
"step":{"type":"string","enum":["whole","part","renew","fail","give_up"],"default":"whole"},
"analysis":)" +
          analysis_schema() + R"(,
)" +
          schema_member("leaseMs", lease_span,
                        "For renew: the lease ends no sooner than this long from now, and no sooner than before") +
          R"(,
"why":{"type":"string","maxLength":4096,"description":"For fail: the reason"}
},"additionalProperties":false,)" +
          std::string(definitions) + "}",
      R"({"type":"object","properties":{
"step":{"type":"string"},
"id":{"type":"string"},
"uri":{"type":"string"},
"byPrompt":{"type":"string","description":"URI of the newest final analysis of this prompt"},
"status":{"type":"string","enum":["computing","complete","below"],"description":"complete: returned as final; below: stored, but not returned as final, for the reason in whyNot"},
"whyNot":{"type":"string"},
"expires":{"type":"string","description":"RFC 3339: when it becomes stale"},
"until":{"type":"string","description":"RFC 3339: the end of the lease, for part and renew"}
},"required":["step"],"additionalProperties":false})");
  out.annotations.readOnlyHint = false;
  out.annotations.destructiveHint = false;
  return out;
}

tool get_entry() {
  auto out = named_tool(
      "analysis_get", "Look up a Wall-Bounce analysis",
      "Looks up an analysis by question (prompt, options, models, context), by uri, or by the digest of its prompt, without a "
      "claim. outcome \"fresh\": final. \"stale\": final, but old. \"below\": below its thresholds. \"computing\": not "
      "finished; analysis is the state so far. \"failed\": computing it has just failed. \"missing\": not found.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
)" + schema_member("uri", uri_text, "Instead of a question: wallbounce://analyses/ID") +
          "," +
          schema_member("digest", digest_text,
                        "Instead of a question: the digest of the prompt, as in wallbounce://by-prompt/DIGEST") +
          R"(},"additionalProperties":false})",
      R"({"type":"object","properties":{"outcome":{"type":"string","enum":["fresh","stale","below","computing","failed","missing"]},)" +
          std::string(found_members) + R"(},"required":["outcome"],"additionalProperties":false})");
  out.annotations.readOnlyHint = true;
  out.annotations.idempotentHint = true;
  return out;
}

tool invalidate_entry() {
  auto out = named_tool(
      "analysis_invalidate", "Delete Wall-Bounce analyses",
      "Deletes analyses, and ends the claims of those that are being computed: one by uri, or all of a session, with a tag, of "
      "a prompt (digest), or based on a resource (context). Give one of these.",
      R"({"type":"object","properties":{)" + schema_member("uri", uri_text, "wallbounce://analyses/ID") + "," +
          schema_member("session", session_text, {}) + "," + schema_member("tag", tag_text, {}) + "," +
          schema_member("digest", digest_text, {}) + "," + schema_member("context", uri_text, "The URI of a resource") +
          R"(},"additionalProperties":false})",
      R"({"type":"object","properties":{"forgotten":{"type":"integer","minimum":0}},"required":["forgotten"],"additionalProperties":false})");
  out.annotations.readOnlyHint = false;
  out.annotations.destructiveHint = true;
  out.annotations.idempotentHint = true;
  return out;
}

namespace {

using analyses::answer;

/// What the tool handlers share.
struct desk {
  std::shared_ptr<ground> on;
  std::shared_ptr<follower> with;
};

std::string text_at(const value& arguments, std::string_view name) {
  const auto* found = arguments.find(name);
  const auto* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

analyses::milliseconds time_at(const value& arguments, std::string_view name) {
  const auto* found = arguments.find(name);
  return analyses::milliseconds(found == nullptr ? 0 : found->as_integer().value_or(0));
}

analyses::task_type task_in(const value& arguments) {
  return analyses::task_named(text_at(arguments, "task")).value_or(analyses::task_type::basic);
}

/// Reads the question, and resolves its context to the current versions. Errors: as `decode_question` and `resolve`.
result<analyses::question> question_in(const desk& at, const tool_call& call) {
  value::object asked;
  for (const auto* name : {"prompt", "options", "models", "context"})
    if (const auto* found = call.arguments.find(name)) asked.emplace_back(name, *found);
  auto question = analyses::decode_question(value(std::move(asked)), {});
  if (!question) return question;
  HONDANA_TRY(resolve(*at.on, *at.with, call, *question, "context"));
  return question;
}

/// The JSON of an analysis, with secrets masked.
result<value> shown(const desk& at, const analyses::entry& from) { return parsed(at.on->shown(from)); }

value value_of_context(const std::vector<analyses::basis>& all) {
  value::array out;
  for (const auto& one : all) out.emplace_back(value::object{{"uri", one.uri}, {"version", one.version}});
  return out;
}

void name_analysis(value::object& in, const std::string& id) {
  in.emplace_back("id", id);
  in.emplace_back("uri", analysis_uri(id));
}

tool_outcome structured(value::object what) {
  tool_result out;
  out.structuredContent = value(std::move(what));
  return out;
}

std::string outcome_of(const answer& what) {
  switch (what.what) {
    case answer::kind::fresh:
      return "fresh";
    case answer::kind::stale:
      return "stale";
    case answer::kind::failed:
      return "failed";
    case answer::kind::computing:
      return "computing";
    case answer::kind::missing:
      break;
  }
  return "missing";
}

bool may_read(const desk& at, const caller& who, const analyses::summary& of) {
  return at.on->may_read(who, entry_of(of, about_now())).has_value();
}

/// Adds the end of the lease, and the delay before a retry.
result<void> add_times(value::object& to, analyses::instant until, const analyses::cache& in) {
  constexpr analyses::milliseconds usual{1'000};
  HONDANA_TRY(const auto now, in.in().now());
  to.emplace_back("until", model::iso_8601(until));
  to.emplace_back("retryAfterMs", std::clamp(until - now, analyses::milliseconds(0), usual).count());
  return {};
}

/// Adds the state of a question's answer, without analyses that the caller may not read.
result<void> add_answer(value::object& to, const desk& at, const tool_call& call, const answer& there,
                        const analyses::cache& in) {
  if (there.found && may_read(at, call.who, there.found->about)) {
    name_analysis(to, there.found->about.id);
    HONDANA_TRY(auto whole, shown(at, *there.found));
    to.emplace_back("analysis", std::move(whole));
  } else if (there.what == answer::kind::computing && there.claim) {
    const auto about = in.in().about(there.claim->id);
    if (about && *about && may_read(at, call.who, **about)) name_analysis(to, there.claim->id);
    HONDANA_TRY(add_times(to, there.claim->until, in));
  }
  if (there.what != answer::kind::failed) return {};
  to.emplace_back("why", at.on->how.redact ? secrets::redact_text(there.why) : there.why);
  return add_times(to, there.until, in);
}

std::string named_caller(const caller& who) {
  constexpr std::size_t longest = 128;
  auto end = std::min(who.identity.size(), longest);
  while (end > 0 && end < who.identity.size() && (static_cast<unsigned char>(who.identity[end]) & 0xC0U) == 0x80U) --end;
  return who.identity.substr(0, end);
}

result<tool_outcome> claim(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  HONDANA_TRY(auto asked, question_in(at, call));
  analyses::claim_request wanted;
  wanted.asked = std::move(asked);
  wanted.task = task_in(call.arguments);
  wanted.session = text_at(call.arguments, "session");
  if (const auto* tags = call.arguments.find("tags"))
    for (const auto& one : *tags->as_array()) wanted.tags.push_back(*one.as_string());
  wanted.who = named_caller(call.who);
  wanted.lease = time_at(call.arguments, "leaseMs");
  const auto* force = call.arguments.find("force");
  wanted.is_forced = force != nullptr && force->as_boolean().value_or(false);
  wanted.stop = call.stop;
  // An analysis that the caller may not read does not exist for it, so it computes its own.
  wanted.is_hidden = [&](const analyses::summary& of) { return !may_read(at, call.who, of); };
  HONDANA_TRY(auto got, kept->claim(wanted));
  value::object out{{"outcome", got.by ? "claimed" : outcome_of(got.there)}};
  if (got.by) {
    out.emplace_back("ticket", analyses::spelled(*got.by));
    out.emplace_back("until", model::iso_8601(got.until));
    auto there = got.there;
    if (there.found && may_read(at, call.who, there.found->about)) {
      HONDANA_TRY(auto old, shown(at, *there.found));
      out.emplace_back("analysis", std::move(old));
    }
    name_analysis(out, got.by->id);
  } else if (auto done = add_answer(out, at, call, got.there, *kept); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  out.emplace_back("byPrompt", by_prompt_uri(analyses::key_of(wanted.asked).prompt));
  if (!wanted.asked.context.empty()) out.emplace_back("context", value_of_context(wanted.asked.context));
  return structured(std::move(out));
}

value::object put_answer(std::string_view step, const analyses::summary& about) {
  value::object out{{"step", step}};
  name_analysis(out, about.id);
  out.emplace_back("status", analyses::name_of(about.how));
  return out;
}

result<tool_outcome> put_analysis(const desk& at, const tool_call& call, analyses::cache& in, std::string_view step,
                                  const std::optional<analyses::ticket>& by) {
  const auto* given = call.arguments.find("analysis");
  if (given == nullptr)
    return fail(errc::invalid_argument,
                "analysis: missing. Give the analysis to store; only the steps renew, fail and give_up work without one.");
  HONDANA_TRY(auto whole, analyses::decode(*given, "analysis"));
  HONDANA_TRY(resolve(*at.on, *at.with, call, whole.asked, "analysis.context"));
  if (step == "part") {
    HONDANA_TRY(const auto about, in.put_part(*by, whole));
    auto out = put_answer(step, about);
    out.emplace_back("until", model::iso_8601(about.expires));
    return structured(std::move(out));
  }
  HONDANA_TRY(const auto stored, by ? in.put(*by, whole) : in.put(whole));
  auto out = put_answer(step, stored.about);
  if (!stored.why_not.empty()) out.emplace_back("whyNot", stored.why_not);
  out.emplace_back("expires", model::iso_8601(stored.about.expires));
  if (stored.about.how == analyses::status::complete) out.emplace_back("byPrompt", by_prompt_uri(stored.about.of.prompt));
  return structured(std::move(out));
}

result<tool_outcome> put(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  const auto given_step = text_at(call.arguments, "step");
  const std::string step = given_step.empty() ? "whole" : given_step;
  std::optional<analyses::ticket> by;
  if (const auto text = text_at(call.arguments, "ticket"); !text.empty()) {
    HONDANA_TRY(auto read, analyses::ticket_spelled(text));
    by = std::move(read);
  }
  if (!by && step != "whole")
    return fail(errc::invalid_argument,
                "ticket: missing. Give the ticket that analysis_claim returned; only the step whole works without one.");
  if (step == "whole" || step == "part") return put_analysis(at, call, *kept, step, by);
  value::object out{{"step", step}};
  name_analysis(out, by->id);
  if (step == "renew") {
    const auto until = kept->renew(*by, time_at(call.arguments, "leaseMs"));
    if (!until) return tl::unexpected(until.error());
    out.emplace_back("until", model::iso_8601(*until));
    return structured(std::move(out));
  }
  const auto why = text_at(call.arguments, "why");
  if (step == "fail" && why.empty())
    return fail(errc::invalid_argument,
                "why: missing. Give the reason of the failure; other callers with this question receive it.");
  HONDANA_TRY(step == "fail" ? kept->fail(*by, why) : kept->give_up(*by));
  return structured(std::move(out));
}

/// Returns one analysis by id. Errors: resource_not_found.
result<tool_outcome> get_one(const desk& at, const tool_call& call, const std::string& id, const analyses::cache& in) {
  HONDANA_TRY(const auto found, in.get(id));
  if (!found) return tl::unexpected(no_analysis());
  const auto& entry = *found;
  if (auto may = at.on->may_read(call.who, entry_of(entry.about, about_now())); !may) {
    if (may.error().code == errc::scope_missing) return tl::unexpected(std::move(may.error()));
    return tl::unexpected(no_analysis());
  }
  HONDANA_TRY(const auto founded, is_founded(*at.on, *at.with, call, entry));
  if (!founded) return tl::unexpected(no_analysis());
  const auto outcome = entry.about.how == analyses::status::computing ? "computing"
                       : entry.about.how == analyses::status::below   ? "below"
                       : entry.is_stale                               ? "stale"
                                                                      : "fresh";
  HONDANA_TRY(auto whole, shown(at, entry));
  value::object out{{"outcome", outcome}};
  name_analysis(out, id);
  out.emplace_back("byPrompt", by_prompt_uri(entry.about.of.prompt));
  out.emplace_back("analysis", std::move(whole));
  return structured(std::move(out));
}

result<tool_outcome> get_by_digest(const desk& at, const tool_call& call, const std::string& prompt,
                                   const analyses::cache& in) {
  const auto found = find_by_prompt(*at.on, *at.with, call, prompt, in);
  if (found) return get_one(at, call, found->about.id, in);
  if (found.error().code != errc::resource_not_found) return tl::unexpected(found.error());
  return structured({{"outcome", "missing"}, {"byPrompt", by_prompt_uri(prompt)}});
}

result<tool_outcome> get(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  const auto uri = text_at(call.arguments, "uri");
  const auto digest = text_at(call.arguments, "digest");
  const bool has_question = call.arguments.find("prompt") != nullptr;
  if ((uri.empty() ? 0 : 1) + (digest.empty() ? 0 : 1) + (has_question ? 1 : 0) != 1)
    return fail(errc::invalid_argument, "Give one of prompt (with options, models and context), uri and digest.");
  if (!uri.empty()) {
    const auto named = canonical_uri(uri).and_then([](const std::string& one) { return parse_address(one); });
    if (named && named->of == place::by_prompt) return get_by_digest(at, call, named->prompt, *kept);
    if (!named || named->of != place::analysis)
      return fail(errc::invalid_argument, "uri: expected wallbounce://analyses/ID or wallbounce://by-prompt/DIGEST");
    return get_one(at, call, named->id, *kept);
  }
  if (!digest.empty()) return get_by_digest(at, call, analyses::digest_spelled(digest).value_or(std::string()), *kept);
  HONDANA_TRY(auto asked, question_in(at, call));
  auto there =
      kept->look(asked, task_in(call.arguments), [&](const analyses::summary& of) { return !may_read(at, call.who, of); });
  if (!there) return tl::unexpected(std::move(there.error()));
  value::object out{{"outcome", outcome_of(*there)}};
  HONDANA_TRY(add_answer(out, at, call, *there, *kept));
  out.emplace_back("byPrompt", by_prompt_uri(analyses::key_of(asked).prompt));
  if (!asked.context.empty()) out.emplace_back("context", value_of_context(asked.context));
  return structured(std::move(out));
}

result<tool_outcome> invalidate(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  HONDANA_TRY(const auto which, named_in(call.arguments));
  HONDANA_TRY(const auto count, forget(*at.on, call, which, *kept));
  return structured({{"forgotten", count}});
}

/// The resources that the arguments name: an analysis and its context. A ticket is not a resource.
std::vector<std::string> uris_in(const value& arguments) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& text) {
    auto canonical = canonical_uri(text);
    if (canonical) out.push_back(std::move(*canonical));
  };
  const auto add_context = [&](const value* context) {
    if (context == nullptr) return;
    if (const auto* text = context->as_string()) add(*text);
    const auto* all = context->as_array();
    if (all == nullptr) return;
    // The arguments are not validated yet; too many contexts are rejected later.
    for (std::size_t i = 0; i < std::min(all->size(), analyses::most_bases); ++i) add(text_at((*all)[i], "uri"));
  };
  add(text_at(arguments, "uri"));
  if (const auto digest = analyses::digest_spelled(text_at(arguments, "digest"))) out.push_back(by_prompt_uri(*digest));
  add_context(arguments.find("context"));
  if (const auto* analysis = arguments.find("analysis")) add_context(analysis->find("context"));
  return out;
}

source_tool offer(tool entry, const desk& at, result<tool_outcome> (*does)(const desk&, const tool_call&)) {
  source_tool out;
  out.entry = std::move(entry);
  out.handler = [at, does](const tool_call& call) { return does(at, call); };
  out.uris_of = uris_in;
  return out;
}

}  // namespace

std::vector<source_tool> make_tools(const std::shared_ptr<ground>& on, const std::shared_ptr<follower>& with) {
  const desk at{on, with};
  return {offer(claim_entry(), at, &claim), offer(put_entry(), at, &put), offer(get_entry(), at, &get),
          offer(invalidate_entry(), at, &invalidate)};
}

}  // namespace hondana::analyses_source

/// What tools take and give, as JSON Schema.
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sources/analyses/tools.hpp"

namespace hondana::analyses_source {
namespace {

/// What is ours and tested.
value schema_of(const std::string& text) {
  auto made = value::parse(text);
  if (!made) throw std::logic_error("a schema is not valid JSON: " + made.error().public_text);
  return std::move(*made);
}

/// Of what is asked. Members of an object, without its braces.
constexpr std::string_view question_members = R"(
"prompt":{"type":"string","minLength":1,"description":"The prompt for the models. Differences in width, compatibility forms and white space are ignored"},
"options":{"type":"object","description":"Other inputs that affect the answer, such as temperature; part of the key"},
"models":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":128},"description":"The models to ask, as a set; part of the key"},
"context":{"type":"array","maxItems":1024,"description":"Resources of this server that the answer is based on. When one changes, the analysis is deleted","items":{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":8192},"version":{"type":"string","maxLength":8192,"description":"As returned by analysis_claim; default: the current version"}},"required":["uri"],"additionalProperties":false}})";

constexpr std::string_view task_member =
    R"("task":{"type":"string","enum":["basic","premium","critical"],"default":"basic","description":"How much depends on the answer. Decides how long it is cached, and its thresholds"})";

// What several tools take: a schema without its braces.
constexpr std::string_view session_text = R"("type":"string","minLength":1,"maxLength":256)";
constexpr std::string_view tag_text = R"("type":"string","minLength":1,"maxLength":128)";
constexpr std::string_view digest_text = R"("type":"string","pattern":"^[0-9a-f]{64}$")";
constexpr std::string_view uri_text = R"("type":"string","minLength":1,"maxLength":8192)";
constexpr std::string_view lease_span = R"("type":"integer","minimum":1000,"maximum":3600000)";

/// `"NAME":{TYPE,"description":"…"}`; an empty description: none.
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

/// Of an analysis, behind what is asked.
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

}  // namespace hondana::analyses_source

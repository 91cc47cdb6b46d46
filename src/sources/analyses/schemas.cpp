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
  if (!made) throw std::logic_error("a schema is no JSON: " + made.error().public_text);
  return std::move(*made);
}

/// Of what is asked. Members of an object, without its braces.
constexpr std::string_view question_members = R"(
"prompt":{"type":"string","minLength":1,"description":"What the models are asked. Width, compatibility forms and white space make no difference"},
"options":{"type":"object","description":"Whatever else decides the answer, such as temperature; a part of the key"},
"models":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":128},"description":"The models that are asked; a set, and a part of the key"},
"context":{"type":"array","maxItems":1024,"description":"Resources of this server that the answer rests on. When one changes, the analysis is forgotten","items":{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":8192},"version":{"type":"string","maxLength":8192,"description":"As analysis_claim gave it; without it the present one"}},"required":["uri"],"additionalProperties":false}})";

constexpr std::string_view task_member =
    R"("task":{"type":"string","enum":["basic","premium","critical"],"default":"basic","description":"How much depends on the answer: how long it is kept, and what it has to reach"})";

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
"round":{"type":"integer","minimum":0,"description":"From 1; 0: of none"},
"consensus":{"type":"object","properties":{"content":{"type":"string"},"confidence":{"$ref":"#/$defs/share"},"reasoning":{"type":"string"}},"required":["content","confidence"],"additionalProperties":false},
"vote":{"type":"object","properties":{"provider":{"$ref":"#/$defs/name"},"model":{"type":"string","maxLength":128},"content":{"type":"string"},"confidence":{"$ref":"#/$defs/share"},"reasoning":{"type":"string"},"cost":{"type":"number","minimum":0},"tokens":{"type":"integer","minimum":0},"agreement":{"$ref":"#/$defs/share","description":"With the consensus"}},"required":["provider","content","confidence"],"additionalProperties":false}})";

/// Of an analysis, behind what is asked.
constexpr std::string_view analysis_members = R"(
"thresholds":{"type":"object","description":"What it has to reach besides what the server wants of its task type","properties":{"confidence":{"$ref":"#/$defs/share"},"consensus":{"$ref":"#/$defs/share"},"providers":{"type":"integer","minimum":1}},"additionalProperties":false},
"consensus":{"$ref":"#/$defs/consensus"},
"votes":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/vote"},"description":"The last of each provider"},
"rounds":{"type":"array","maxItems":64,"items":{"type":"object","properties":{"number":{"type":"integer","minimum":1},"votes":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/vote"}},"consensus":{"$ref":"#/$defs/consensus"},"at":{"$ref":"#/$defs/time"},"milliseconds":{"$ref":"#/$defs/milliseconds"}},"required":["number"],"additionalProperties":false}},
"flow":{"type":"array","maxItems":4096,"items":{"type":"object","properties":{"round":{"$ref":"#/$defs/round"},"provider":{"type":"string","maxLength":128},"action":{"$ref":"#/$defs/name"},"at":{"$ref":"#/$defs/time"},"milliseconds":{"$ref":"#/$defs/milliseconds"},"note":{"type":"string"}},"required":["action"],"additionalProperties":false}},
"errors":{"type":"array","maxItems":4096,"items":{"type":"object","properties":{"provider":{"$ref":"#/$defs/name"},"round":{"$ref":"#/$defs/round"},"message":{"type":"string"},"at":{"$ref":"#/$defs/time"}},"required":["provider","message"],"additionalProperties":false}},
"totals":{"type":"object","properties":{"cost":{"type":"number","minimum":0},"tokens":{"type":"integer","minimum":0},"milliseconds":{"$ref":"#/$defs/milliseconds"}},"additionalProperties":false},
"session":{"type":"string","maxLength":256},
"tags":{"type":"array","maxItems":64,"items":{"$ref":"#/$defs/name"}},
"id":{"type":"string","description":"The server's, as it was read; what is written here is not looked at"},
"status":{"type":"string","enum":["computing","complete","below"],"description":"The same"},
"created":{"$ref":"#/$defs/time"},
"expires":{"$ref":"#/$defs/time"})";

std::string analysis_schema() {
  return R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + "," +
         std::string(analysis_members) + R"(},"required":["prompt"],"additionalProperties":false})";
}

constexpr std::string_view found_members = R"(
"analysis":{"type":"object","description":"As analysis_put takes it, with id, status, created and expires","required":["prompt","id","status"]},
"id":{"type":"string","description":"Of the analysis that was found or is being computed"},
"uri":{"type":"string","description":"Of the same. Subscribe to it to hear of rounds, of the answer, and when it is forgotten"},
"byPrompt":{"type":"string","description":"The URI of the newest final analysis of this prompt"},
"context":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},"version":{"type":"string"}},"required":["uri","version"]},"description":"With the versions that the key is made of"},
"why":{"type":"string","description":"Of failed: what went wrong"},
"until":{"type":"string","description":"RFC 3339: the end of the lease, or how long the failure is remembered"},
"retryAfterMs":{"type":"integer","minimum":0,"description":"When asking again may be of use"})";

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
      "analysis_claim", "Ask for a Wall-Bounce analysis, or to compute it",
      "Looks whether several models have been asked this already. outcome \"fresh\": there is a final answer, in analysis. "
      "\"claimed\": compute it and give it to analysis_put with this ticket before until (analysis may hold an old answer to "
      "use "
      "meanwhile). \"stale\": an old answer, which somebody else computes anew, or that has just failed. \"computing\": "
      "somebody else computes it; "
      "subscribe to uri, or ask again after retryAfterMs. \"failed\": computing it has just failed. Of all who ask the same at "
      "the same time, one is told to compute.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
"session":{"type":"string","maxLength":256,"description":"To find and invalidate analyses by"},
"tags":{"type":"array","maxItems":64,"items":{)" +
          std::string(tag_text) + R"(},"description":"The same"},
)" +
          schema_member(
              "leaseMs", lease_span,
              "For how long it is to be yours; each part that is put, and renew, keeps it going and makes it no shorter") +
          R"(,
"force":{"type":"boolean","default":false,"description":"Compute it anew, whatever there is"}
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
      "analysis_put", "Keep a Wall-Bounce analysis",
      "Keeps what was computed. step \"whole\" (usual): the finished analysis, with the ticket of analysis_claim, or without "
      "one "
      "when it was computed without a claim. \"part\": what there is after a round, which keeps the lease going. \"renew\": "
      "keeps it going without anything new. \"fail\": computing has failed, and why; nobody tries again for a while. "
      "\"give_up\": somebody else may compute it at once. prompt, options, models and context must be those claimed. Below its "
      "thresholds an analysis is kept and never served as final.",
      R"({"type":"object","properties":{
"ticket":{"type":"string","maxLength":512,"description":"As analysis_claim gave it; only \"whole\" goes without"},
"step":{"type":"string","enum":["whole","part","renew","fail","give_up"],"default":"whole"},
"analysis":)" +
          analysis_schema() + R"(,
)" + schema_member("leaseMs", lease_span, "Of renew: it ends no sooner than in so long, and no sooner than before") +
          R"(,
"why":{"type":"string","maxLength":4096,"description":"Of fail"}
},"additionalProperties":false,)" +
          std::string(definitions) + "}",
      R"({"type":"object","properties":{
"step":{"type":"string"},
"id":{"type":"string"},
"uri":{"type":"string"},
"byPrompt":{"type":"string","description":"Where a final one is found by its prompt"},
"status":{"type":"string","enum":["computing","complete","below"],"description":"complete: it is served as final; below: it is kept and not served as final, and whyNot says why"},
"whyNot":{"type":"string"},
"expires":{"type":"string","description":"RFC 3339: when it is stale"},
"until":{"type":"string","description":"RFC 3339: the end of the lease, of a part and of renew"}
},"required":["step"],"additionalProperties":false})");
  out.annotations.readOnlyHint = false;
  out.annotations.destructiveHint = false;
  return out;
}

tool get_entry() {
  auto out = named_tool(
      "analysis_get", "Look up a Wall-Bounce analysis",
      "Finds an analysis by what is asked (prompt, options, models, context), by its uri, or by the digest of its prompt, and "
      "claims nothing. outcome \"fresh\": final. \"stale\": final once, and old. \"below\": below its thresholds. "
      "\"computing\": "
      "not finished; analysis is what there is of it. \"failed\": computing it has just failed. \"missing\": there is none.",
      R"({"type":"object","properties":{)" + std::string(question_members) + "," + std::string(task_member) + R"(,
)" + schema_member("uri", uri_text, "Instead of the rest: wallbounce://analyses/ID") +
          "," +
          schema_member("digest", digest_text, "Instead of the rest: that of the prompt, as in wallbounce://by-prompt/DIGEST") +
          R"(},"additionalProperties":false})",
      R"({"type":"object","properties":{"outcome":{"type":"string","enum":["fresh","stale","below","computing","failed","missing"]},)" +
          std::string(found_members) + R"(},"required":["outcome"],"additionalProperties":false})");
  out.annotations.readOnlyHint = true;
  out.annotations.idempotentHint = true;
  return out;
}

tool invalidate_entry() {
  auto out = named_tool(
      "analysis_invalidate", "Forget Wall-Bounce analyses",
      "Forgets analyses, and takes the claims of those that are being computed: one by its uri, all of a session, with a tag, "
      "of "
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

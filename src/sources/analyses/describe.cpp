/// What entries say.
#include "sources/analyses/describe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "sources/analyses/figures.hpp"

namespace hondana::analyses_source {
namespace {

using analyses::status;
using analyses::summary;

std::string described(const summary& of, bool is_stale) {
  auto out = std::string(analyses::name_of(of.task)) + " analysis, " + state_of(of.how, is_stale);
  if (of.how != status::computing) {
    out += ": confidence " + decimals(of.confidence) + ", agreement " + decimals(of.agreement) + ", " +
           counted(of.providers, "provider") + ", " + counted(of.rounds, "round");
  } else if (of.rounds > 0) {
    out += ": " + counted(of.rounds, "round") + " so far";
  }
  if (!of.session.empty()) out += "; session " + of.session;
  return out;
}

/// Of what is always there, by its kind.
resource lasting_entry(std::string_view uri, std::string kind, std::string title, std::string description) {
  resource out;
  out.uri = uri;
  out.name = kind;
  out.title = std::move(title);
  out.description = std::move(description);
  out.mimeType = mime_of(format::markdown);
  out.kind = std::move(kind);
  return out;
}

resource_template make_template(std::string text, std::string name, std::string title, std::string description) {
  resource_template out;
  out.uriTemplate = std::move(text);
  out.name = std::move(name);
  out.title = std::move(title);
  out.description = std::move(description);
  out.mimeType = mime_of(format::markdown);
  return out;
}

}  // namespace

std::string_view mime_of(format as) noexcept { return as == format::json ? "application/json" : "text/markdown"; }

std::string version_of(const summary& of, bool is_stale) { return std::to_string(of.version) + (is_stale ? "-stale" : ""); }

double priority_of(const summary& of, analyses::instant now) {
  constexpr double lasting = 0.4;
  constexpr double half_life = 7;
  constexpr double while_computed = 0.1;
  if (of.how == status::computing) return while_computed;
  const auto days = std::max<std::int64_t>(std::chrono::floor<std::chrono::days>(now - of.changed).count(), 0);
  auto out = of.confidence * (lasting + (1 - lasting) * std::exp2(-static_cast<double>(days) / half_life));
  if (of.how == status::below) out /= 4;
  if (of.how == status::complete && of.expires <= now) out /= 2;
  return std::round(std::clamp(out, 0.0, 1.0) * 100) / 100;
}

resource entry_of(const summary& of, analyses::instant now) {
  const bool is_stale = of.how == status::complete && of.expires <= now;
  resource out;
  out.uri = analysis_uri(of.id);
  out.name = of.id;
  out.title = of.title;
  out.description = described(of, is_stale);
  out.mimeType = mime_of(format::markdown);
  out.kind = "analysis";
  out.version = version_of(of, is_stale);
  out.annotations.audience = {role::user, role::assistant};
  out.annotations.priority = priority_of(of, now);
  out.annotations.lastModified = of.changed;
  out.metadata.emplace_back("dev.hondana/status", state_of(of.how, is_stale));
  out.metadata.emplace_back("dev.hondana/taskType", std::string(analyses::name_of(of.task)));
  return out;
}

resource entry_of(const address& at, const summary& of, analyses::instant now) {
  auto out = entry_of(of, now);
  if (at.of == place::vote) {
    out.uri = vote_uri(of.id, at.provider);
    out.name = at.provider;
    out.description = "Vote of " + at.provider;
    out.kind = "vote";
  } else if (at.of == place::flow) {
    out.uri = flow_uri(of.id);
    out.name = of.id + "/flow";
    out.description = "Rounds, steps and errors in order";
    out.kind = "flow";
  } else if (at.of == place::by_prompt) {
    out.uri = by_prompt_uri(at.prompt);
    out.version = of.id + '-' + out.version;
  }
  if (at.as == format::json) out.mimeType = mime_of(format::json);
  return out;
}

resource index_entry() {
  return lasting_entry(index_uri, "analyses", "Wall-Bounce analyses",
                       "Answers that several language models agreed on, newest first.");
}

resource statistics_entry() {
  return lasting_entry(statistics_uri, "statistics", "Statistics of cached analyses",
                       "Hits, misses, cost and time saved, by task type.");
}

std::vector<resource_template> templates() {
  return {make_template("wallbounce://analyses{?session,task,tag,after,limit,format}", "analyses", "Wall-Bounce analyses",
                        "Analyses, newest first, also of one session, task type (basic, premium, critical) or tag; limit: 1 to "
                        "500; after: the id of the last one seen; format: markdown or json."),
          make_template("wallbounce://analyses/{id}{?format}", "analysis", "A Wall-Bounce analysis",
                        "Prompt, consensus, votes, context, cost and time; format: markdown or json."),
          make_template("wallbounce://analyses/{id}/votes/{provider}{?format}", "vote", "One vote of an analysis",
                        "The answer of one provider's model; format: markdown or json."),
          make_template("wallbounce://analyses/{id}/flow{?format}", "flow", "The flow of an analysis",
                        "Rounds, steps and errors in order; format: markdown or json."),
          make_template("wallbounce://by-prompt/{digest}{?format}", "by-prompt", "The analysis of a prompt",
                        "The newest final analysis of a prompt, by the digest of its normalized text. Tools return this URI as "
                        "byPrompt; format: markdown or json."),
          make_template("wallbounce://statistics{?format}", "statistics", "Statistics of analyses",
                        "Hits, misses, cost and time saved, by task type; format: markdown or json.")};
}

scheme_documentation describe() {
  scheme_documentation out;
  out.scheme = scheme_name;
  out.summary =
      "Analyses that several language models agreed on (Wall-Bounce): computed once, cached, and deleted when a resource that "
      "they are based on changes.";
  out.kinds = {{"analyses", "A list of analyses, newest first."},
               {"analysis", "One analysis: prompt, consensus, votes, context, cost and time."},
               {"vote", "The answer of one provider's model."},
               {"flow", "Rounds, steps and errors of an analysis, in order."},
               {"statistics", "Hits, misses, cost and time saved, by task type."}};
  out.forms = {
      {"wallbounce://analyses/{id}{?format}", "An analysis, also while it is computed. format is markdown (default) or json."},
      {"wallbounce://analyses/{id}/votes/{provider}{?format}", "One of its votes."},
      {"wallbounce://analyses/{id}/flow{?format}", "Its rounds, steps and errors."},
      {"wallbounce://by-prompt/{digest}{?format}",
       "The newest final analysis of a prompt whose context has not changed. digest: SHA-256 of the prompt in NFKC with each "
       "run of white space as one space, in 64 hexadecimal digits. Tools return this URI as byPrompt."},
      {"wallbounce://analyses{?session,task,tag,after,limit,format}",
       "Analyses, newest first: 50 of them, or limit. session, task and tag select some of them; after is the id of the last "
       "one seen."},
      {"wallbounce://statistics{?format}", "Hits, misses, cost and time saved, by task type."}};
  return out;
}

}  // namespace hondana::analyses_source

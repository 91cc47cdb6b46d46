/// Resources of analyses: their URIs, catalog entries, resource templates and scheme documentation.
#include "sources/analyses/analysis_resources.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/cache/analysis_key.hpp"

namespace hondana::analyses_source {
namespace {

constexpr std::size_t longest_value = 1024;

tl::unexpected<failure> not_there(std::string_view why) {
  return fail(errc::resource_not_found, std::string(why) + " wallbounce://analyses lists analyses.");
}

tl::unexpected<failure> wrong(std::string_view parameter, std::string_view why) {
  return fail(errc::invalid_argument, std::string(parameter) + ": " + std::string(why));
}

result<void> take(address& into, std::string_view name, std::string_view text) {
  if (name == "format") {
    if (text != "markdown" && text != "json") return wrong(name, "expected markdown or json");
    into.as = text == "json" ? format::json : format::markdown;
    return {};
  }
  if (into.of != place::index) return wrong(name, "unknown parameter; only format is known here");
  if (name == "session") {
    into.session = text;
  } else if (name == "tag") {
    into.tag = text;
  } else if (name == "task") {
    into.task = analyses::task_named(text);
    if (!into.task) return wrong(name, "expected basic, premium or critical");
  } else if (name == "after") {
    if (!is_id(text)) return wrong(name, "expected the id of an analysis, 32 lower-case hexadecimal digits");
    into.after = text;
  } else if (name == "limit") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into.limit);
    if (error != std::errc{} || end != text.data() + text.size() || into.limit < 1 || into.limit > most_index)
      return wrong(name, "expected a whole number from 1 to " + std::to_string(most_index));
  } else {
    return wrong(name.substr(0, 64), "unknown parameter; known ones are session, tag, task, after, limit and format");
  }
  return {};
}

result<void> read_query(address& into, std::string_view query) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const bool is_empty = query.front() == '&';
    const auto [name, written] = uri::take_parameter(query);
    if (is_empty) continue;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return wrong(name.substr(0, 64), "given twice");
    seen.push_back(name);
    const auto text = percent_decode(written);
    if (!text) return wrong(name.substr(0, 64), text.error().public_text);
    if (text->size() > longest_value) return wrong(name.substr(0, 64), "too long");
    HONDANA_TRY(take(into, name, *text));
  }
  return {};
}

result<void> read_analysis(address& into, std::string_view path) {
  const auto slash = std::min(path.find('/'), path.size());
  const auto id = path.substr(0, slash);
  if (!is_id(id)) return not_there("Analysis not found: an id has 32 lower-case hexadecimal digits.");
  into.id = id;
  into.of = place::analysis;
  if (slash == path.size()) return {};
  const auto rest = path.substr(slash + 1);
  if (rest == "flow") {
    into.of = place::flow;
    return {};
  }
  constexpr std::string_view votes = "votes/";
  if (!rest.starts_with(votes) || rest.size() == votes.size() || rest.find('/', votes.size()) != std::string_view::npos)
    return not_there("Resource not found: an analysis has flow and votes/PROVIDER.");
  HONDANA_TRY(auto provider, percent_decode(rest.substr(votes.size())));
  into.provider = std::move(provider);
  into.of = place::vote;
  return {};
}

}  // namespace

bool is_id(std::string_view text) noexcept {
  return text.size() == id_digits && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

result<address> parse_address(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != scheme_name || !parts.authority || parts.fragment) return not_there("Resource not found.");
  address made;
  auto path = parts.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (*parts.authority == "analyses") {
    if (!path.empty()) HONDANA_TRY(read_analysis(made, path));
  } else if (*parts.authority == "by-prompt") {
    auto digest = analyses::digest_spelled(path);
    if (!digest) return not_there("Prompt not found: its digest has 64 lower-case hexadecimal digits.");
    made.of = place::by_prompt;
    made.prompt = std::move(*digest);
  } else if (*parts.authority == "statistics" && path.empty()) {
    made.of = place::statistics;
  } else {
    return not_there("Resource not found.");
  }
  HONDANA_TRY(read_query(made, parts.query.value_or(std::string_view())));
  return made;
}

std::string analysis_uri(std::string_view id) { return std::string(analyses_prefix) + std::string(id); }

std::string flow_uri(std::string_view id) { return analysis_uri(id) + "/flow"; }

std::string vote_uri(std::string_view id, std::string_view provider) {
  return analysis_uri(id) + "/votes/" + percent_encode(provider);
}

std::string by_prompt_uri(std::string_view prompt) { return std::string(by_prompt_prefix) + analyses::spelled(prompt); }

std::string uri_of_index(const address& at) {
  std::string out(index_uri);
  char mark = '?';
  const auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out += std::exchange(mark, '&');
    out += std::string(name) + '=' + percent_encode(text);
  };
  add("session", at.session);
  add("tag", at.tag);
  add("task", at.task ? analyses::name_of(*at.task) : std::string_view());
  add("after", at.after);
  add("limit", at.limit == usual_index ? std::string() : std::to_string(at.limit));
  add("format", at.as == format::json ? "json" : "");
  return out;
}

std::optional<std::string> id_behind(std::string_view key) {
  if (std::is_lt(compare_by_segment(key, analyses_prefix))) return std::string();
  if (!key.starts_with(analyses_prefix)) return key == index_uri ? std::optional(std::string()) : std::nullopt;
  auto segment = key.substr(analyses_prefix.size());
  std::string out;
  for (const char c : segment.substr(0, id_digits)) {
    if (!ascii::is_lower_hex_digit(c)) break;
    out += c;
  }
  // After a whole id comes what follows it. For the prefix of an id, the list continues after the id right before that prefix.
  if (out.size() == id_digits) return out;
  out.resize(id_digits, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit) {
    if (*digit != '0') {
      *digit = *digit == 'a' ? '9' : static_cast<char>(*digit - 1);
      return out;
    }
    *digit = 'f';
  }
  return std::string();
}

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

/// The entry of a resource that always exists.
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

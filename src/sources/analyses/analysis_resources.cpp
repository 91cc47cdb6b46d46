/// Resources of analyses: their URIs, catalog entries, resource templates and scheme documentation.
#include "sources/analyses/analysis_resources.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <compare>
#include <span>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/query_parameters.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/cache/analysis_key.hpp"

namespace hondana::analyses_source {
namespace {

constexpr std::size_t max_filter_bytes = 1024;
constexpr std::array<std::string_view, 3> task_choices{"basic", "premium", "critical"};
constexpr std::array<std::string_view, 2> format_choices{"markdown", "json"};
/// Other resources have the last of them.
constexpr auto index_parameters = std::to_array<uri::query_parameter>({
    {.name = "session", .max_bytes = max_filter_bytes},
    {.name = "task", .type = uri::parameter_type::choice, .choices = task_choices},
    {.name = "tag", .max_bytes = max_filter_bytes},
    {.name = "after"},
    {.name = "limit", .type = uri::parameter_type::integer, .min = 1, .max = max_index_limit},
    {.name = "format", .type = uri::parameter_type::choice, .choices = format_choices},
});
/// By kind.
constexpr std::array<std::string_view, 6> uri_forms{index_uri,
                                                    "wallbounce://analyses/ID",
                                                    "wallbounce://analyses/ID/votes/PROVIDER",
                                                    "wallbounce://analyses/ID/flow",
                                                    "wallbounce://by-prompt/DIGEST",
                                                    statistics_uri};

tl::unexpected<failure> not_found(std::string_view reason) {
  return fail(errc::resource_not_found, std::string(reason) + " wallbounce://analyses lists analyses.");
}

result<void> read_parameters(address& address, std::optional<std::string_view> query) {
  const std::span<const uri::query_parameter> all(index_parameters);
  HONDANA_TRY(const auto values, uri::parse_query(query, address.kind == resource_kind::index ? all : all.last(1),
                                                  uri_forms.at(static_cast<std::size_t>(address.kind))));
  address.session = values.text("session");
  address.tag = values.text("tag");
  address.task = analyses::parse_task_type(values.text("task"));
  address.after_id = values.text("after");
  if (values.has("after") && !is_id(address.after_id))
    return values.invalid("after", "expected the id of an analysis, 32 lower-case hexadecimal digits.");
  address.limit = values.integer("limit").value_or(default_index_limit);
  if (values.text("format") == "json") address.format = output_format::json;
  return {};
}

result<void> parse_analysis_path(address& address, std::string_view path) {
  const auto slash = std::min(path.find('/'), path.size());
  const auto id = path.substr(0, slash);
  if (!is_id(id)) return not_found("Analysis not found: an id has 32 lower-case hexadecimal digits.");
  address.id = id;
  address.kind = resource_kind::analysis;
  if (slash == path.size()) return {};
  const auto subpath = path.substr(slash + 1);
  if (subpath == "flow") {
    address.kind = resource_kind::flow;
    return {};
  }
  constexpr std::string_view votes = "votes/";
  if (!subpath.starts_with(votes) || subpath.size() == votes.size() ||
      subpath.find('/', votes.size()) != std::string_view::npos)
    return not_found("Resource not found: an analysis has flow and votes/PROVIDER.");
  HONDANA_TRY(auto provider, percent_decode(subpath.substr(votes.size())));
  address.provider = std::move(provider);
  address.kind = resource_kind::vote;
  return {};
}

}  // namespace

bool is_id(std::string_view text) noexcept {
  return text.size() == id_digits && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

result<address> parse_address(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != scheme_name || !parts.authority || parts.fragment) return not_found("Resource not found.");
  address address;
  auto path = parts.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (*parts.authority == "analyses") {
    if (!path.empty()) HONDANA_TRY(parse_analysis_path(address, path));
  } else if (*parts.authority == "by-prompt") {
    auto digest = analyses::digest_from_hex(path);
    if (!digest) return not_found("Prompt not found: its digest has 64 lower-case hexadecimal digits.");
    address.kind = resource_kind::by_prompt;
    address.prompt_digest = std::move(*digest);
  } else if (*parts.authority == "statistics" && path.empty()) {
    address.kind = resource_kind::statistics;
  } else {
    return not_found("Resource not found.");
  }
  HONDANA_TRY(read_parameters(address, parts.query));
  return address;
}

std::string analysis_uri(std::string_view id) { return std::string(analyses_prefix) + std::string(id); }

std::string flow_uri(std::string_view id) { return analysis_uri(id) + "/flow"; }

std::string vote_uri(std::string_view id, std::string_view provider) {
  return analysis_uri(id) + "/votes/" + percent_encode(provider);
}

std::string by_prompt_uri(std::string_view prompt_digest) {
  return std::string(by_prompt_prefix) + analyses::digest_to_hex(prompt_digest);
}

std::string index_page_uri(const address& address) {
  std::string out(index_uri);
  char separator = '?';
  const auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out += std::exchange(separator, '&');
    out += std::string(name) + '=' + percent_encode(text);
  };
  add("session", address.session);
  add("tag", address.tag);
  add("task", address.task ? analyses::name_of(*address.task) : std::string_view());
  add("after", address.after_id);
  add("limit", address.limit == default_index_limit ? std::string() : std::to_string(address.limit));
  add("format", address.format == output_format::json ? "json" : "");
  return out;
}

std::optional<std::string> list_start_id(std::string_view key) {
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

using analyses::analysis_status;
using analyses::analysis_summary;

std::string describe_summary(const analysis_summary& summary, bool is_stale) {
  auto out = std::string(analyses::name_of(summary.task)) + " analysis, " + describe_status(summary.status, is_stale);
  if (summary.status != analysis_status::computing) {
    out += ": confidence " + format_decimals(summary.confidence) + ", agreement " + format_decimals(summary.agreement) + ", " +
           pluralize(summary.providers, "provider") + ", " + pluralize(summary.rounds, "round");
  } else if (summary.rounds > 0) {
    out += ": " + pluralize(summary.rounds, "round") + " so far";
  }
  if (!summary.session.empty()) out += "; session " + summary.session;
  return out;
}

/// The entry of a resource that always exists.
resource permanent_entry(std::string_view uri, std::string kind, std::string title, std::string description) {
  resource out;
  out.uri = uri;
  out.name = kind;
  out.title = std::move(title);
  out.description = std::move(description);
  out.mime_type = mime_type_of(output_format::markdown);
  out.kind = std::move(kind);
  return out;
}

resource_template make_template(std::string text, std::string name, std::string title, std::string description) {
  resource_template out;
  out.uri_template = std::move(text);
  out.name = std::move(name);
  out.title = std::move(title);
  out.description = std::move(description);
  out.mime_type = mime_type_of(output_format::markdown);
  return out;
}

}  // namespace

std::string_view mime_type_of(output_format format) noexcept {
  return format == output_format::json ? "application/json" : "text/markdown";
}

std::string version_of(const analysis_summary& summary, bool is_stale) {
  return std::to_string(summary.version) + (is_stale ? "-stale" : "");
}

double priority_of(const analysis_summary& summary, analyses::instant now) {
  constexpr double permanent_share = 0.4;
  constexpr double half_life_days = 7;
  constexpr double computing_priority = 0.1;
  if (summary.status == analysis_status::computing) return computing_priority;
  const auto days = std::max<std::int64_t>(std::chrono::floor<std::chrono::days>(now - summary.changed_at).count(), 0);
  auto out =
      summary.confidence * (permanent_share + (1 - permanent_share) * std::exp2(-static_cast<double>(days) / half_life_days));
  if (summary.status == analysis_status::below_thresholds) out /= 4;
  if (summary.status == analysis_status::complete && summary.expires_at <= now) out /= 2;
  return std::round(std::clamp(out, 0.0, 1.0) * 100) / 100;
}

resource make_entry(const analysis_summary& summary, analyses::instant now) {
  const bool is_stale = summary.status == analysis_status::complete && summary.expires_at <= now;
  resource out;
  out.uri = analysis_uri(summary.id);
  out.name = summary.id;
  out.title = summary.title;
  out.description = describe_summary(summary, is_stale);
  out.mime_type = mime_type_of(output_format::markdown);
  out.kind = "analysis";
  out.version = version_of(summary, is_stale);
  out.annotations.audience = {chat_role::user, chat_role::assistant};
  out.annotations.priority = priority_of(summary, now);
  out.annotations.last_modified = summary.changed_at;
  out.metadata.emplace_back("dev.hondana/status", describe_status(summary.status, is_stale));
  out.metadata.emplace_back("dev.hondana/taskType", std::string(analyses::name_of(summary.task)));
  return out;
}

resource make_entry(const address& address, const analysis_summary& summary, analyses::instant now) {
  auto out = make_entry(summary, now);
  if (address.kind == resource_kind::vote) {
    out.uri = vote_uri(summary.id, address.provider);
    out.name = address.provider;
    out.description = "Vote of " + address.provider;
    out.kind = "vote";
  } else if (address.kind == resource_kind::flow) {
    out.uri = flow_uri(summary.id);
    out.name = summary.id + "/flow";
    out.description = "Rounds, steps and errors in order";
    out.kind = "flow";
  } else if (address.kind == resource_kind::by_prompt) {
    out.uri = by_prompt_uri(address.prompt_digest);
    out.version = summary.id + '-' + out.version;
  }
  if (address.format == output_format::json) out.mime_type = mime_type_of(output_format::json);
  return out;
}

resource index_entry() {
  return permanent_entry(index_uri, "analyses", "Wall-Bounce analyses",
                         "Answers that several language models agreed on, newest first.");
}

resource statistics_entry() {
  return permanent_entry(statistics_uri, "statistics", "Statistics of cached analyses",
                         "Hits, misses, cost and time saved, by task type.");
}

std::vector<resource_template> make_templates() {
  return {make_template(std::string(index_uri) + uri::query_template(index_parameters), "analyses", "Wall-Bounce analyses",
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

scheme_documentation make_documentation() {
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
      {std::string(index_uri) + uri::query_template(index_parameters),
       "Analyses, newest first: 50 of them, or limit. session, task and tag select some of them; after is the id of the last "
       "one seen."},
      {"wallbounce://statistics{?format}", "Hits, misses, cost and time saved, by task type."}};
  return out;
}

}  // namespace hondana::analyses_source

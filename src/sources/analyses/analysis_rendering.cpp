/// Renders analyses as Markdown and as JSON.
#include "sources/analyses/analysis_rendering.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/json/utf8.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_json.hpp"

namespace hondana::analyses_source {
namespace {

std::string print_number(const char* format, double number) {
  char out[64];
  std::snprintf(out, sizeof out, format, number);
  return out;
}

}  // namespace

std::string format_decimals(double number) {
  auto out = print_number("%.4f", number);
  if (out.find('.') == std::string::npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string pluralize(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string format_duration(analyses::milliseconds duration) {
  using namespace std::chrono_literals;
  if (duration < 10s) return std::to_string(duration.count()) + " ms";
  if (duration < 10min) return std::to_string(std::chrono::floor<std::chrono::seconds>(duration).count()) + " s";
  if (duration < 10h) return std::to_string(std::chrono::floor<std::chrono::minutes>(duration).count()) + " min";
  return std::to_string(std::chrono::floor<std::chrono::hours>(duration).count()) + " h";
}

std::string describe_status(analyses::analysis_status status, bool is_stale) {
  if (status == analyses::analysis_status::computing) return "being computed";
  if (status == analyses::analysis_status::below_thresholds) return "below its thresholds";
  return is_stale ? "stale" : "final";
}

std::string format_percent(std::uint64_t part, std::uint64_t total) {
  if (total == 0) return "–";
  return print_number("%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(total));
}

namespace {

constexpr std::string_view markdown_characters = "\\`*_[]<>|~&#";

constexpr bool is_control(char c) noexcept { return (c >= 0 && c < ' ') || c == '\x7f'; }

}  // namespace

std::string escape_line(std::string_view text) {
  std::string sanitized;
  json::append_replacing(sanitized, text);
  std::string out;
  out.reserve(sanitized.size() + 8);
  for (const char c : sanitized) {
    if (markdown_characters.find(c) != std::string_view::npos) out += '\\';
    out += is_control(c) ? ' ' : c;
  }
  return out;
}

std::string quote_block(std::string_view text) {
  std::string sanitized;
  json::append_replacing(sanitized, text);
  std::string out;
  out.reserve(sanitized.size() + 64);
  bool begins_line = true;
  for (std::size_t position = 0; position < sanitized.size(); ++position) {
    char c = sanitized[position];
    // Markdown treats a lone carriage return as a line end, too.
    if (c == '\r') {
      if (position + 1 < sanitized.size() && sanitized[position + 1] == '\n') continue;
      c = '\n';
    }
    if (begins_line) out += c == '\n' ? ">" : "> ";
    begins_line = c == '\n';
    if (is_control(c) && c != '\n' && c != '\t') {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
  }
  if (!begins_line) out += '\n';
  return out;
}

std::string make_link(std::string_view label, std::string_view uri) {
  return "[" + std::string(label) + "](<" + std::string(uri) + ">)";
}

namespace {

value task_to_value(const analyses::task_statistics& counters) {
  return value::object{{"hits", counters.hits},
                       {"staleHits", counters.stale_hits},
                       {"misses", counters.misses},
                       {"failures", counters.failures},
                       {"computed", counters.computed},
                       {"below", counters.below_thresholds},
                       {"costSaved", counters.cost_saved},
                       {"costSpent", counters.cost_spent},
                       {"millisecondsSaved", counters.milliseconds_saved},
                       {"millisecondsSpent", counters.milliseconds_spent}};
}

}  // namespace

result<value> parse_stored(const std::string& json) {
  // Room for the few members that are added to a stored body.
  constexpr value::parse_limits limits{.max_bytes = analyses::max_analysis_bytes + 4096, .max_values = 2'000'000};
  auto result = value::parse(json, limits);
  if (!result)
    return fail(errc::internal, "The stored analysis is unreadable. Invalidate it, and compute it again.",
                result.error().public_text);
  return result;
}

result<analyses::analysis> decode_stored(const std::string& json) {
  auto result = analyses::decode_stored(json);
  if (!result)
    return fail(errc::internal, "The stored analysis is unreadable. Invalidate it, and compute it again.",
                result.error().public_text);
  return result;
}

result<value> extract_vote(const value& analysis, std::string_view provider) {
  const auto* votes = analysis.find("votes");
  const auto* elements = votes == nullptr ? nullptr : votes->as_array();
  std::string names;
  for (const auto& vote : elements == nullptr ? value::array{} : *elements) {
    const auto* name = vote.find("provider");
    const auto* text = name == nullptr ? nullptr : name->as_string();
    if (text == nullptr) continue;
    if (*text == provider) return vote;
    names += (names.empty() ? "" : ", ") + *text;
  }
  return fail(errc::resource_not_found,
              "Vote not found: this analysis has votes of these providers: " + (names.empty() ? "none" : names));
}

value extract_flow(const value& analysis) {
  value::object out;
  for (const auto* name : {"id", "status", "rounds", "flow", "errors"})
    if (const auto* member = analysis.find(name)) out.emplace_back(name, *member);
  return out;
}

value to_value(const analyses::analysis_summary& summary, analyses::instant now) {
  const bool is_stale = summary.status == analyses::analysis_status::complete && summary.expires_at <= now;
  value::object out{{"id", summary.id}, {"uri", analysis_uri(summary.id)}, {"status", analyses::name_of(summary.status)}};
  if (is_stale) out.emplace_back("stale", true);
  out.emplace_back("task", analyses::name_of(summary.task));
  out.emplace_back("title", summary.title);
  if (!summary.session.empty()) out.emplace_back("session", summary.session);
  out.emplace_back("created", model::format_iso_8601(summary.created_at));
  out.emplace_back("changed", model::format_iso_8601(summary.changed_at));
  out.emplace_back("expires", model::format_iso_8601(summary.expires_at));
  if (summary.status != analyses::analysis_status::computing) {
    out.emplace_back("confidence", summary.confidence);
    out.emplace_back("agreement", summary.agreement);
  }
  out.emplace_back("providers", summary.providers);
  out.emplace_back("rounds", summary.rounds);
  out.emplace_back("cost", summary.cost);
  out.emplace_back("milliseconds", summary.duration.count());
  out.emplace_back("bytes", summary.bytes);
  return out;
}

value index_to_value(const std::vector<analyses::analysis_summary>& summaries, analyses::instant now,
                     std::string_view next_uri) {
  value::array entries;
  entries.reserve(summaries.size());
  for (const auto& summary : summaries) entries.push_back(to_value(summary, now));
  value::object out{{"analyses", std::move(entries)}};
  if (!next_uri.empty()) out.emplace_back("next", next_uri);
  return out;
}

value to_value(const analyses::statistics& statistics, const analyses::store_info& info) {
  value::object by_task;
  for (std::size_t i = 0; i < analyses::task_type_count; ++i) {
    const auto task = static_cast<analyses::task_type>(i);
    by_task.emplace_back(analyses::name_of(task), task_to_value(statistics.for_task(task)));
  }
  value::object stored{{"entries", info.entries}, {"bytes", info.bytes}, {"claims", info.claims}};
  if (info.oldest) stored.emplace_back("oldest", model::format_iso_8601(*info.oldest));
  if (info.newest) stored.emplace_back("newest", model::format_iso_8601(*info.newest));
  return value::object{{"byTask", std::move(by_task)}, {"all", task_to_value(statistics.total())}, {"kept", std::move(stored)}};
}

namespace {

using analyses::analysis;
using analyses::analysis_summary;

std::string make_heading(const analysis_summary& summary, std::string_view prefix) {
  const auto title = summary.title.empty() ? summary.id : summary.title;
  return "# " + std::string(prefix) + escape_line(title) + "\n\n";
}

std::string number_or_dash(double number) { return number > 0 ? format_decimals(number) : "–"; }

void add_properties(std::string& out, const analysis_summary& summary, const analysis& analysis, bool is_stale) {
  const auto add_line = [&out](std::string_view name, const std::string& text) {
    if (!text.empty()) out += "- " + std::string(name) + ": " + text + '\n';
  };
  add_line("State", describe_status(summary.status, is_stale) + (is_stale ? ", to be computed again" : ""));
  add_line("Task type", std::string(analyses::name_of(analysis.task)));
  if (analysis.consensus) {
    add_line("Confidence", format_decimals(analysis.consensus->confidence));
    add_line("Agreement", format_decimals(analyses::agreement_of(analysis)));
  }
  const auto& required = analysis.required;
  if (required.confidence > 0 || required.consensus > 0 || required.providers > 1)
    add_line("Required", "confidence " + format_decimals(required.confidence) + ", agreement " +
                             format_decimals(required.consensus) + ", " + pluralize(required.providers, "provider"));
  const auto total = analyses::totals_of(analysis);
  add_line("Took", pluralize(analysis.rounds.size(), "round") + ", " + format_duration(total.duration) + ", cost " +
                       format_decimals(total.cost) + ", " + pluralize(total.tokens, "token"));
  add_line("Session", escape_line(analysis.session));
  std::string tags;
  for (const auto& tag : analysis.tags) tags += (tags.empty() ? "" : ", ") + escape_line(tag);
  add_line("Tags", tags);
  add_line("Created", model::format_iso_8601(summary.created_at));
  add_line(summary.status == analyses::analysis_status::computing ? "Claimed until" : "Expires",
           model::format_iso_8601(summary.expires_at));
}

void add_vote(std::string& out, const analyses::vote& vote) {
  out += quote_block(vote.content);
  if (!vote.reasoning.empty()) out += "\nReasoning:\n\n" + quote_block(vote.reasoning);
}

void add_errors(std::string& out, const std::vector<analyses::provider_error>& errors) {
  if (errors.empty()) return;
  out += "\n## Errors\n\n";
  for (const auto& error : errors) {
    out += "- " + escape_line(error.provider);
    if (error.round > 0) out += ", round " + std::to_string(error.round);
    if (error.time) out += ", " + model::format_iso_8601(*error.time);
    out += ": " + escape_line(error.message) + '\n';
  }
}

void add_vote_table(std::string& out, const std::vector<analyses::vote>& votes, const std::string& id) {
  out += "| Provider | Model | Confidence | Agreement | Cost | Tokens |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& vote : votes) {
    out += "| " +
           (id.empty() ? escape_line(vote.provider) : make_link(escape_line(vote.provider), vote_uri(id, vote.provider))) +
           " | " + escape_line(vote.model) + " | " + format_decimals(vote.confidence) + " | " + number_or_dash(vote.agreement) +
           " | " + number_or_dash(vote.cost) + " | " + (vote.tokens > 0 ? std::to_string(vote.tokens) : "–") + " |\n";
  }
}

void add_task(std::string& out, std::string_view name, const analyses::task_statistics& counters) {
  const auto lookups = counters.hits + counters.stale_hits + counters.misses + counters.failures;
  out += "| " + std::string(name) + " | " + std::to_string(counters.hits) + " | " + std::to_string(counters.stale_hits) +
         " | " + std::to_string(counters.misses) + " | " + std::to_string(counters.failures) + " | " +
         format_percent(counters.hits + counters.stale_hits, lookups) + " | " + std::to_string(counters.computed) + " | " +
         std::to_string(counters.below_thresholds) + " | " + format_decimals(counters.cost_saved) + " | " +
         format_decimals(counters.cost_spent) + " | " + format_duration(analyses::milliseconds(counters.milliseconds_saved)) +
         " | " + format_duration(analyses::milliseconds(counters.milliseconds_spent)) + " |\n";
}

}  // namespace

std::string to_markdown(const analysis_summary& summary, const analysis& analysis, bool is_stale) {
  auto out = make_heading(summary, "");
  add_properties(out, summary, analysis, is_stale);
  out += "\n## Prompt\n\n" + quote_block(analysis.question.prompt);
  if (!analysis.question.context.empty()) {
    out += "\n## Based on\n\n";
    for (const auto& resource : analysis.question.context)
      out += "- " + make_link(escape_line(resource.uri), resource.uri) +
             (resource.version.empty() ? "" : ", version " + escape_line(resource.version)) + '\n';
  }
  if (analysis.consensus) {
    out += "\n## Consensus\n\n" + quote_block(analysis.consensus->content);
    if (!analysis.consensus->reasoning.empty()) out += "\nReasoning:\n\n" + quote_block(analysis.consensus->reasoning);
  }
  if (!analysis.votes.empty()) {
    out += "\n## Votes\n\n";
    add_vote_table(out, analysis.votes, summary.id);
    for (const auto& vote : analysis.votes) {
      out += "\n### " + escape_line(vote.provider) + "\n\n";
      add_vote(out, vote);
    }
  }
  add_errors(out, analysis.errors);
  if (!analysis.rounds.empty() || !analysis.flow.empty())
    out += "\n" + make_link("Rounds and steps", flow_uri(summary.id)) + '\n';
  return out;
}

std::string vote_to_markdown(const analysis_summary& summary, const analyses::vote& vote) {
  auto out = make_heading(summary, escape_line(vote.provider) + " on ");
  if (!vote.model.empty()) out += "- Model: " + escape_line(vote.model) + '\n';
  out += "- Confidence: " + format_decimals(vote.confidence) +
         "\n- Agreement with the consensus: " + number_or_dash(vote.agreement) + "\n- Cost: " + number_or_dash(vote.cost) +
         ", " + pluralize(vote.tokens, "token") + "\n- Part of " + make_link("the analysis", analysis_uri(summary.id)) + "\n\n";
  add_vote(out, vote);
  return out;
}

std::string flow_to_markdown(const analysis_summary& summary, const analysis& analysis, bool is_stale) {
  auto out = make_heading(summary, "Rounds and steps: ");
  out += describe_status(summary.status, is_stale) + ", " + pluralize(analysis.rounds.size(), "round") + ". " +
         make_link("The analysis", analysis_uri(summary.id)) + ".\n";
  for (const auto& round : analysis.rounds) {
    out += "\n## Round " + std::to_string(round.number) + "\n\n";
    if (round.started_at) out += "From " + model::format_iso_8601(*round.started_at);
    if (round.duration.count() > 0) out += std::string(round.started_at ? ", for " : "For ") + format_duration(round.duration);
    if (round.started_at || round.duration.count() > 0) out += ".\n\n";
    if (!round.votes.empty()) add_vote_table(out, round.votes, {});
    for (const auto& vote : round.votes) {
      out += "\n### " + escape_line(vote.provider) + "\n\n";
      add_vote(out, vote);
    }
    if (round.consensus) {
      out += "\n### Consensus of round " + std::to_string(round.number) + ", confidence " +
             format_decimals(round.consensus->confidence) + "\n\n" + quote_block(round.consensus->content);
      if (!round.consensus->reasoning.empty()) out += "\nReasoning:\n\n" + quote_block(round.consensus->reasoning);
    } else {
      out += "\nNo consensus was reached.\n";
    }
  }
  if (!analysis.flow.empty()) {
    out += "\n## Steps\n\n";
    for (const auto& step : analysis.flow) {
      out += "- ";
      if (step.time) out += model::format_iso_8601(*step.time) + ' ';
      if (step.round > 0) out += "round " + std::to_string(step.round) + ": ";
      if (!step.provider.empty()) out += escape_line(step.provider) + ' ';
      out += escape_line(step.action);
      if (step.duration.count() > 0) out += " (" + format_duration(step.duration) + ')';
      if (!step.note.empty()) out += ": " + escape_line(step.note);
      out += '\n';
    }
  }
  add_errors(out, analysis.errors);
  return out;
}

std::string index_to_markdown(const std::vector<analysis_summary>& summaries, analyses::instant now,
                              std::string_view next_uri) {
  std::string out = "# Wall-Bounce analyses\n\n";
  if (summaries.empty()) return out + "No analyses.\n";
  out += "| When | Analysis | State | Task type | Confidence | Agreement | Providers | Rounds | Cost | Session |\n";
  out += "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& summary : summaries) {
    const bool is_stale = summary.status == analyses::analysis_status::complete && summary.expires_at <= now;
    out += "| " + model::format_iso_8601(summary.created_at) + " | " +
           make_link(escape_line(summary.title.empty() ? summary.id : summary.title), analysis_uri(summary.id)) + " | " +
           describe_status(summary.status, is_stale) + " | " + std::string(analyses::name_of(summary.task)) + " | " +
           number_or_dash(summary.confidence) + " | " + number_or_dash(summary.agreement) + " | " +
           std::to_string(summary.providers) + " | " + std::to_string(summary.rounds) + " | " + format_decimals(summary.cost) +
           " | " + escape_line(summary.session) + " |\n";
  }
  if (!next_uri.empty()) out += "\n" + make_link("Older ones", next_uri) + '\n';
  return out;
}

std::string to_markdown(const analyses::statistics& statistics, const analyses::store_info& info) {
  auto out = std::string("# Statistics of cached analyses\n\nStored: ") + std::to_string(info.entries) +
             (info.entries == 1 ? " analysis, " : " analyses, ") + pluralize(info.bytes, "byte") +
             " of JSON; claimed: " + std::to_string(info.claims) + ".";
  if (info.oldest) out += " Oldest: " + model::format_iso_8601(*info.oldest) + '.';
  if (info.newest) out += " Newest: " + model::format_iso_8601(*info.newest) + '.';
  out +=
      "\n\n| Task type | Hits | Stale hits | Misses | Failures | Served | Computed | Below thresholds | Cost saved | Cost "
      "spent | "
      "Time saved | Time spent |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < analyses::task_type_count; ++i) {
    const auto task = static_cast<analyses::task_type>(i);
    add_task(out, analyses::name_of(task), statistics.for_task(task));
  }
  add_task(out, "all", statistics.total());
  return out;
}

}  // namespace hondana::analyses_source

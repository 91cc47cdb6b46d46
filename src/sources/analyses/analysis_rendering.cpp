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

std::string printed(const char* how, double number) {
  char out[64];
  std::snprintf(out, sizeof out, how, number);
  return out;
}

}  // namespace

std::string decimals(double number) {
  auto out = printed("%.4f", number);
  if (out.find('.') == std::string::npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

std::string time_text(analyses::milliseconds took) {
  using namespace std::chrono_literals;
  if (took < 10s) return std::to_string(took.count()) + " ms";
  if (took < 10min) return std::to_string(std::chrono::floor<std::chrono::seconds>(took).count()) + " s";
  if (took < 10h) return std::to_string(std::chrono::floor<std::chrono::minutes>(took).count()) + " min";
  return std::to_string(std::chrono::floor<std::chrono::hours>(took).count()) + " h";
}

std::string state_of(analyses::status how, bool is_stale) {
  if (how == analyses::status::computing) return "being computed";
  if (how == analyses::status::below) return "below its thresholds";
  return is_stale ? "stale" : "final";
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "–";
  return printed("%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

namespace {

constexpr std::string_view meaningful_characters = "\\`*_[]<>|~&#";

constexpr bool is_control(char c) noexcept { return (c >= 0 && c < ' ') || c == '\x7f'; }

}  // namespace

std::string in_line(std::string_view text) {
  std::string whole;
  json::append_replacing(whole, text);
  std::string out;
  out.reserve(whole.size() + 8);
  for (const char c : whole) {
    if (meaningful_characters.find(c) != std::string_view::npos) out += '\\';
    out += is_control(c) ? ' ' : c;
  }
  return out;
}

std::string quotation_of(std::string_view text) {
  std::string whole;
  json::append_replacing(whole, text);
  std::string out;
  out.reserve(whole.size() + 64);
  bool begins_line = true;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    char c = whole[at];
    // Markdown treats a lone carriage return as a line end, too.
    if (c == '\r') {
      if (at + 1 < whole.size() && whole[at + 1] == '\n') continue;
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

std::string link_to(std::string_view label, std::string_view uri) {
  return "[" + std::string(label) + "](<" + std::string(uri) + ">)";
}

namespace {

value value_of_task(const analyses::task_statistics& of) {
  return value::object{{"hits", of.hits},
                       {"staleHits", of.stale_hits},
                       {"misses", of.misses},
                       {"failures", of.failures},
                       {"computed", of.computed},
                       {"below", of.below},
                       {"costSaved", of.cost_saved},
                       {"costSpent", of.cost_spent},
                       {"millisecondsSaved", of.milliseconds_saved},
                       {"millisecondsSpent", of.milliseconds_spent}};
}

}  // namespace

result<value> parsed(const std::string& json) {
  // Room for the few members that are added to a stored body.
  constexpr value::limits most{.bytes = analyses::most_bytes + 4096, .values = 2'000'000};
  auto made = value::parse(json, most);
  if (!made)
    return fail(errc::internal, "The stored analysis is unreadable. Invalidate it, and compute it again.",
                made.error().public_text);
  return made;
}

result<analyses::analysis> decoded(const std::string& json) {
  auto made = analyses::decode_kept(json);
  if (!made)
    return fail(errc::internal, "The stored analysis is unreadable. Invalidate it, and compute it again.",
                made.error().public_text);
  return made;
}

result<value> vote_in(const value& whole, std::string_view provider) {
  const auto* votes = whole.find("votes");
  const auto* all = votes == nullptr ? nullptr : votes->as_array();
  std::string names;
  for (const auto& one : all == nullptr ? value::array{} : *all) {
    const auto* name = one.find("provider");
    const auto* text = name == nullptr ? nullptr : name->as_string();
    if (text == nullptr) continue;
    if (*text == provider) return one;
    names += (names.empty() ? "" : ", ") + *text;
  }
  return fail(errc::resource_not_found,
              "Vote not found: this analysis has votes of these providers: " + (names.empty() ? "none" : names));
}

value flow_in(const value& whole) {
  value::object out;
  for (const auto* name : {"id", "status", "rounds", "flow", "errors"})
    if (const auto* found = whole.find(name)) out.emplace_back(name, *found);
  return out;
}

value value_of(const analyses::summary& of, analyses::instant now) {
  const bool is_stale = of.how == analyses::status::complete && of.expires <= now;
  value::object out{{"id", of.id}, {"uri", analysis_uri(of.id)}, {"status", analyses::name_of(of.how)}};
  if (is_stale) out.emplace_back("stale", true);
  out.emplace_back("task", analyses::name_of(of.task));
  out.emplace_back("title", of.title);
  if (!of.session.empty()) out.emplace_back("session", of.session);
  out.emplace_back("created", model::iso_8601(of.created));
  out.emplace_back("changed", model::iso_8601(of.changed));
  out.emplace_back("expires", model::iso_8601(of.expires));
  if (of.how != analyses::status::computing) {
    out.emplace_back("confidence", of.confidence);
    out.emplace_back("agreement", of.agreement);
  }
  out.emplace_back("providers", of.providers);
  out.emplace_back("rounds", of.rounds);
  out.emplace_back("cost", of.cost);
  out.emplace_back("milliseconds", of.took.count());
  out.emplace_back("bytes", of.bytes);
  return out;
}

value value_of_index(const std::vector<analyses::summary>& all, analyses::instant now, std::string_view next) {
  value::array entries;
  entries.reserve(all.size());
  for (const auto& one : all) entries.push_back(value_of(one, now));
  value::object out{{"analyses", std::move(entries)}};
  if (!next.empty()) out.emplace_back("next", next);
  return out;
}

value value_of(const analyses::statistics& what, const analyses::store_facts& facts) {
  value::object by_task;
  for (std::size_t i = 0; i < analyses::count_of_tasks; ++i) {
    const auto task = static_cast<analyses::task_type>(i);
    by_task.emplace_back(analyses::name_of(task), value_of_task(what.of(task)));
  }
  value::object kept{{"entries", facts.entries}, {"bytes", facts.bytes}, {"claims", facts.claims}};
  if (facts.oldest) kept.emplace_back("oldest", model::iso_8601(*facts.oldest));
  if (facts.newest) kept.emplace_back("newest", model::iso_8601(*facts.newest));
  return value::object{{"byTask", std::move(by_task)}, {"all", value_of_task(what.all())}, {"kept", std::move(kept)}};
}

namespace {

using analyses::analysis;
using analyses::summary;

std::string heading(const summary& about, std::string_view of) {
  const auto title = about.title.empty() ? about.id : about.title;
  return "# " + std::string(of) + in_line(title) + "\n\n";
}

std::string number_or_dash(double number) { return number > 0 ? decimals(number) : "–"; }

void add_facts(std::string& out, const summary& about, const analysis& what, bool is_stale) {
  const auto line = [&out](std::string_view name, const std::string& text) {
    if (!text.empty()) out += "- " + std::string(name) + ": " + text + '\n';
  };
  line("State", state_of(about.how, is_stale) + (is_stale ? ", to be computed again" : ""));
  line("Task type", std::string(analyses::name_of(what.task)));
  if (what.consensus) {
    line("Confidence", decimals(what.consensus->confidence));
    line("Agreement", decimals(analyses::agreement_of(what)));
  }
  const auto& wanted = what.wanted;
  if (wanted.confidence > 0 || wanted.consensus > 0 || wanted.providers > 1)
    line("Required", "confidence " + decimals(wanted.confidence) + ", agreement " + decimals(wanted.consensus) + ", " +
                         counted(wanted.providers, "provider"));
  const auto total = analyses::totals_of(what);
  line("Took", counted(what.rounds.size(), "round") + ", " + time_text(total.took) + ", cost " + decimals(total.cost) + ", " +
                   counted(total.tokens, "token"));
  line("Session", in_line(what.session));
  std::string tags;
  for (const auto& one : what.tags) tags += (tags.empty() ? "" : ", ") + in_line(one);
  line("Tags", tags);
  line("Created", model::iso_8601(about.created));
  line(about.how == analyses::status::computing ? "Claimed until" : "Expires", model::iso_8601(about.expires));
}

void add_vote(std::string& out, const analyses::vote& what) {
  out += quotation_of(what.content);
  if (!what.reasoning.empty()) out += "\nReasoning:\n\n" + quotation_of(what.reasoning);
}

void add_errors(std::string& out, const std::vector<analyses::provider_error>& all) {
  if (all.empty()) return;
  out += "\n## Errors\n\n";
  for (const auto& one : all) {
    out += "- " + in_line(one.provider);
    if (one.round > 0) out += ", round " + std::to_string(one.round);
    if (one.at) out += ", " + model::iso_8601(*one.at);
    out += ": " + in_line(one.message) + '\n';
  }
}

void add_table_of_votes(std::string& out, const std::vector<analyses::vote>& all, const std::string& id) {
  out += "| Provider | Model | Confidence | Agreement | Cost | Tokens |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& one : all) {
    out += "| " + (id.empty() ? in_line(one.provider) : link_to(in_line(one.provider), vote_uri(id, one.provider))) + " | " +
           in_line(one.model) + " | " + decimals(one.confidence) + " | " + number_or_dash(one.agreement) + " | " +
           number_or_dash(one.cost) + " | " + (one.tokens > 0 ? std::to_string(one.tokens) : "–") + " |\n";
  }
}

void add_task(std::string& out, std::string_view name, const analyses::task_statistics& of) {
  const auto lookups = of.hits + of.stale_hits + of.misses + of.failures;
  out += "| " + std::string(name) + " | " + std::to_string(of.hits) + " | " + std::to_string(of.stale_hits) + " | " +
         std::to_string(of.misses) + " | " + std::to_string(of.failures) + " | " +
         share_text(of.hits + of.stale_hits, lookups) + " | " + std::to_string(of.computed) + " | " + std::to_string(of.below) +
         " | " + decimals(of.cost_saved) + " | " + decimals(of.cost_spent) + " | " +
         time_text(analyses::milliseconds(of.milliseconds_saved)) + " | " +
         time_text(analyses::milliseconds(of.milliseconds_spent)) + " |\n";
}

}  // namespace

std::string markdown_of(const summary& about, const analysis& what, bool is_stale) {
  auto out = heading(about, "");
  add_facts(out, about, what, is_stale);
  out += "\n## Prompt\n\n" + quotation_of(what.asked.prompt);
  if (!what.asked.context.empty()) {
    out += "\n## Based on\n\n";
    for (const auto& one : what.asked.context)
      out +=
          "- " + link_to(in_line(one.uri), one.uri) + (one.version.empty() ? "" : ", version " + in_line(one.version)) + '\n';
  }
  if (what.consensus) {
    out += "\n## Consensus\n\n" + quotation_of(what.consensus->content);
    if (!what.consensus->reasoning.empty()) out += "\nReasoning:\n\n" + quotation_of(what.consensus->reasoning);
  }
  if (!what.votes.empty()) {
    out += "\n## Votes\n\n";
    add_table_of_votes(out, what.votes, about.id);
    for (const auto& one : what.votes) {
      out += "\n### " + in_line(one.provider) + "\n\n";
      add_vote(out, one);
    }
  }
  add_errors(out, what.errors);
  if (!what.rounds.empty() || !what.flow.empty()) out += "\n" + link_to("Rounds and steps", flow_uri(about.id)) + '\n';
  return out;
}

std::string markdown_of_vote(const summary& about, const analyses::vote& what) {
  auto out = heading(about, in_line(what.provider) + " on ");
  if (!what.model.empty()) out += "- Model: " + in_line(what.model) + '\n';
  out += "- Confidence: " + decimals(what.confidence) + "\n- Agreement with the consensus: " + number_or_dash(what.agreement) +
         "\n- Cost: " + number_or_dash(what.cost) + ", " + counted(what.tokens, "token") + "\n- Part of " +
         link_to("the analysis", analysis_uri(about.id)) + "\n\n";
  add_vote(out, what);
  return out;
}

std::string markdown_of_flow(const summary& about, const analysis& what, bool is_stale) {
  auto out = heading(about, "Rounds and steps: ");
  out += state_of(about.how, is_stale) + ", " + counted(what.rounds.size(), "round") + ". " +
         link_to("The analysis", analysis_uri(about.id)) + ".\n";
  for (const auto& one : what.rounds) {
    out += "\n## Round " + std::to_string(one.number) + "\n\n";
    if (one.at) out += "From " + model::iso_8601(*one.at);
    if (one.took.count() > 0) out += std::string(one.at ? ", for " : "For ") + time_text(one.took);
    if (one.at || one.took.count() > 0) out += ".\n\n";
    if (!one.votes.empty()) add_table_of_votes(out, one.votes, {});
    for (const auto& vote : one.votes) {
      out += "\n### " + in_line(vote.provider) + "\n\n";
      add_vote(out, vote);
    }
    if (one.consensus) {
      out += "\n### Consensus of round " + std::to_string(one.number) + ", confidence " + decimals(one.consensus->confidence) +
             "\n\n" + quotation_of(one.consensus->content);
      if (!one.consensus->reasoning.empty()) out += "\nReasoning:\n\n" + quotation_of(one.consensus->reasoning);
    } else {
      out += "\nNo consensus was reached.\n";
    }
  }
  if (!what.flow.empty()) {
    out += "\n## Steps\n\n";
    for (const auto& one : what.flow) {
      out += "- ";
      if (one.at) out += model::iso_8601(*one.at) + ' ';
      if (one.round > 0) out += "round " + std::to_string(one.round) + ": ";
      if (!one.provider.empty()) out += in_line(one.provider) + ' ';
      out += in_line(one.action);
      if (one.took.count() > 0) out += " (" + time_text(one.took) + ')';
      if (!one.note.empty()) out += ": " + in_line(one.note);
      out += '\n';
    }
  }
  add_errors(out, what.errors);
  return out;
}

std::string markdown_of_index(const std::vector<summary>& all, analyses::instant now, std::string_view next) {
  std::string out = "# Wall-Bounce analyses\n\n";
  if (all.empty()) return out + "No analyses.\n";
  out += "| When | Analysis | State | Task type | Confidence | Agreement | Providers | Rounds | Cost | Session |\n";
  out += "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& one : all) {
    const bool is_stale = one.how == analyses::status::complete && one.expires <= now;
    out += "| " + model::iso_8601(one.created) + " | " +
           link_to(in_line(one.title.empty() ? one.id : one.title), analysis_uri(one.id)) + " | " +
           state_of(one.how, is_stale) + " | " + std::string(analyses::name_of(one.task)) + " | " +
           number_or_dash(one.confidence) + " | " + number_or_dash(one.agreement) + " | " + std::to_string(one.providers) +
           " | " + std::to_string(one.rounds) + " | " + decimals(one.cost) + " | " + in_line(one.session) + " |\n";
  }
  if (!next.empty()) out += "\n" + link_to("Older ones", next) + '\n';
  return out;
}

std::string markdown_of(const analyses::statistics& what, const analyses::store_facts& facts) {
  auto out = std::string("# Statistics of cached analyses\n\nStored: ") + std::to_string(facts.entries) +
             (facts.entries == 1 ? " analysis, " : " analyses, ") + counted(facts.bytes, "byte") +
             " of JSON; claimed: " + std::to_string(facts.claims) + ".";
  if (facts.oldest) out += " Oldest: " + model::iso_8601(*facts.oldest) + '.';
  if (facts.newest) out += " Newest: " + model::iso_8601(*facts.newest) + '.';
  out +=
      "\n\n| Task type | Hits | Stale hits | Misses | Failures | Served | Computed | Below thresholds | Cost saved | Cost "
      "spent | "
      "Time saved | Time spent |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < analyses::count_of_tasks; ++i) {
    const auto task = static_cast<analyses::task_type>(i);
    add_task(out, analyses::name_of(task), what.of(task));
  }
  add_task(out, "all", what.all());
  return out;
}

}  // namespace hondana::analyses_source

/// Writing Markdown.
#include "sources/analyses/rendering.hpp"

#include <cstdint>
#include <optional>

#include "protocol/model/times.hpp"
#include "sources/analyses/figures.hpp"
#include "sources/analyses/markdown.hpp"

namespace hondana::analyses_source {
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

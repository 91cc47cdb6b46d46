/// Values made of what is stored.
#include "sources/analyses/documents.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/model/times.hpp"
#include "sources/analyses/address.hpp"
#include "sources/analyses/cache/analysis_json.hpp"

namespace hondana::analyses_source {
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
  // What is added to a body when it is told is little.
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

}  // namespace hondana::analyses_source

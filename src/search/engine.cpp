/// From a question to passages that the caller may see.
#include "search/engine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "catalog/filter.hpp"
#include "search/query.hpp"

namespace hondana::search {
namespace {

/// Passages with a word that are looked at, at most: weighing one takes about a microsecond.
constexpr std::size_t most_looked_at = 8'000;
/// Neighbours asked for: some are of what does not pass, or what the caller may not see.
constexpr std::size_t most_near = 400;
/// Candidates shown to the caller's rules at once.
constexpr std::size_t shown_at_once = 100;
/// Looking up an entry as it is now; beyond it, what was indexed is shown.
constexpr std::chrono::milliseconds longest_look_up{500};

bool is_without_answer(errc why) noexcept {
  return why == errc::timed_out || why == errc::overloaded || why == errc::source_unavailable || why == errc::unsupported;
}

bool may_have(const call& by, const bridge::surroundings& in, const resource& entry) {
  const auto through = in.gate->view_of(by.who);
  if (!in.gate->may_see(through.get(), entry) || !in.gate->may_read(through.get(), entry)) return false;
  return in.gate->admit(by.who, model::read_resource{entry.uri, entry.uri}).has_value();
}

/// The entry as the caller may see it now; nothing: not at all.
std::optional<resource> entry_now(const call& by, const bridge::surroundings& in, const resource& indexed) {
  auto asked = by;
  asked.deadline = std::min(by.deadline, std::chrono::steady_clock::now() + longest_look_up);
  auto entry = bridge::await<resource>(
      asked, [&](catalog::completion<resource> done) { in.catalog->describe(asked, indexed.uri, std::move(done)); });
  if (entry) return std::move(*entry);
  if (is_without_answer(entry.error().code)) return indexed;
  return std::nullopt;
}

struct weighed {
  candidate what;
  shown_passage shown;
  double score;
};

}  // namespace

std::vector<near_passage> engine::by_meaning(const call& by, const std::string& q, std::string& remark) const {
  std::vector<near_passage> out;
  if (!on_->embedder) return out;
  const auto near = on_->neighbours();
  auto vector = on_->embedder->of_query(q, by.stop);
  if (!vector) {
    remark = "searched by words alone: " + vector.error().public_text;
    return out;
  }
  if (auto asked = on_->kept->nearest(*vector, most_near)) {
    if (!*asked) {
      remark = "searched by words alone: " + asked->error().public_text;
      return out;
    }
    for (const auto& one : **asked) out.push_back({one.id, one.score});
    return out;
  }
  if (!near) return out;
  for (const auto& one : near->nearest(*vector, most_near)) out.push_back({{one.number}, one.closeness});
  return out;
}

result<hits> engine::find(const call& by, const bridge::surroundings& in, const question& what) const {
  const auto words = words_of(*on_->words, what.q);
  if (words.empty() && !on_->embedder) return fail(errc::invalid_argument, "q: expected a word to search for.");
  hits out;
  const auto state = on_->state();
  if (!state.is_complete) {
    out.is_complete = false;
    out.remark = state.problem.empty() ? "the index is not complete yet" : "the index is not complete: " + state.problem;
  }
  matches found;
  if (!words.empty()) {
    auto asked = on_->kept->find(words, what.which, most_looked_at);
    if (!asked) return tl::unexpected(std::move(asked.error()));
    found = std::move(*asked);
    if (!found.is_complete) {
      out.is_complete = false;
      if (out.remark.empty()) out.remark = "more passages have these words than can be looked at: add a rarer one";
    }
  }
  std::string by_words_alone;
  const auto near = by_meaning(by, what.q, by_words_alone);
  if (out.remark.empty()) out.remark = by_words_alone;
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
  const auto candidates = fused(std::move(found.all), near);
  const auto now = std::chrono::system_clock::now();
  std::vector<weighed> all;
  for (std::size_t begin = 0; begin < candidates.size(); begin += shown_at_once) {
    if (std::chrono::steady_clock::now() >= by.deadline) return fail(errc::timed_out, "The search took too long.");
    const auto end = std::min(begin + shown_at_once, candidates.size());
    std::vector<passage_id> ids;
    ids.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) ids.push_back(candidates[i].id);
    auto shown = on_->kept->show(ids);
    if (!shown) return tl::unexpected(std::move(shown.error()));
    std::size_t at = begin;
    for (auto& one : *shown) {
      while (candidates[at].id != one.id) ++at;
      if (!passes(what.which, one.of) || !may_have(by, in, entry_of(one.of))) continue;
      const double score = candidates[at].score * worth_of(one.of, now);
      all.push_back({candidates[at], std::move(one), score});
    }
    // What comes later cannot be worth so much more that it would come first.
    if (all.size() >= 4 * what.limit) break;
  }
  std::sort(all.begin(), all.end(), [](const weighed& one, const weighed& other) {
    if (one.score != other.score) return one.score > other.score;
    return one.what.score != other.what.score ? one.what.score > other.what.score : one.what.id < other.what.id;
  });
  std::map<std::string, std::pair<std::size_t, std::optional<resource>>> resources;
  for (auto& one : all) {
    if (out.all.size() == what.limit) break;
    if (by.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
    const auto [there, is_new] = resources.try_emplace(one.shown.of.uri);
    auto& [count, entry] = there->second;
    if (is_new) {
      entry = entry_now(by, in, entry_of(one.shown.of));
      if (entry && !may_have(by, in, *entry)) entry.reset();
    }
    if (!entry || count == most_of_one_resource) continue;
    ++count;
    hit made;
    made.entry = *entry;
    made.language = one.shown.of.language;
    made.score = std::clamp(one.score / (1 + weight_of_priority + weight_of_recency), 0.0, 1.0);
    made.why = reason_for(one.what, words, one.shown.of);
    made.has_changed = !entry->version.empty() && !one.shown.of.version.empty() && entry->version != one.shown.of.version;
    made.passage = std::move(one.shown.passage);
    if (made.has_changed) made.why += "; changed since it was indexed";
    out.all.push_back(std::move(made));
  }
  return out;
}

result<bridge::search_answer> engine::search(const call& by, const bridge::surroundings& in,
                                             const bridge::search_query& what) const {
  question asked{what.q, what.limit, {}};
  const auto& filter = what.filter;
  asked.which.uri_prefix = filter.uri_prefix;
  asked.which.mime_type = filter.mime_type;
  asked.which.kind = filter.kind;
  asked.which.audience = filter.audience;
  asked.which.min_priority = filter.min_priority;
  asked.which.modified_since = filter.modified_since;
  // What the store has no words for is asked of each result.
  const bool has_more = !filter.uri_pattern.empty() || !filter.name_pattern.empty() || !filter.text.empty();
  if (has_more) asked.limit = 50;
  auto found = find(by, in, asked);
  if (!found) return tl::unexpected(std::move(found.error()));
  const catalog::filter rest(filter);
  std::uint64_t steps = 0;
  bridge::search_answer out;
  out.is_complete = found->is_complete;
  for (auto& one : found->all) {
    if (out.hits.size() == what.limit) break;
    if (has_more && !rest.passes(one.entry, steps)) continue;
    bridge::search_hit made;
    if (one.passage.first_line != 0)
      made.range = "lines=" + std::to_string(one.passage.first_line) + '-' + std::to_string(one.passage.last_line);
    made.passage = std::move(one.passage.text);
    if (made.passage.empty()) made.passage = one.entry.description.empty() ? one.entry.title : one.entry.description;
    made.score = one.score;
    made.why = std::move(one.why);
    made.entry = std::move(one.entry);
    out.hits.push_back(std::move(made));
  }
  if (has_more && found->all.size() == asked.limit && out.hits.size() < what.limit) out.is_complete = false;
  return out;
}

}  // namespace hondana::search

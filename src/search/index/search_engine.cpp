/// Searches the index for a caller.
#include "search/index/search_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "search/index/access_filter.hpp"
#include "search/index/document_reader.hpp"
#include "search/index/index_state.hpp"
#include "search/index/ranking.hpp"
#include "search/index/search_query.hpp"
#include "server/catalog/list_filter.hpp"

namespace hondana::search {

/// The passages found for one query, by words and by meaning. Threads: one.
class lists {
 public:
  explicit lists(ground& on) : on_(on) {}

  /// Requests the vector of the query. Takes at most half of the time left until the deadline of `by`.
  void embed(const call& by, const std::string& q);
  /// Searches for the words. `in` and `what` must outlive this object. Errors: those of the store, in fixed words.
  [[nodiscard]] result<void> ask(state_of_index& in, const question& what, std::span<const wanted_word> words);

  /// More passages have the words than were examined.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// The problem of the index, in fixed words; empty: none.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Why there was no search by meaning, in fixed words; empty: there was one, or no vectors are configured.
  [[nodiscard]] const std::string& remark() const noexcept { return remark_; }

  /// The best passages that the caller may have, fused. `most` limits those found by words if none was found by meaning. Sets
  /// `is_cut` if there are more. Errors: as `sight::keep`.
  [[nodiscard]] result<std::vector<candidate>> fused(sight& through, std::size_t most, bool& is_cut);

 private:
  [[nodiscard]] result<std::vector<near_passage>> nearest(sight& through);
  [[nodiscard]] result<std::vector<near_passage>> nearest(std::size_t count) const;
  /// Removes passages whose texts were made differently than now.
  [[nodiscard]] result<void> leave_out_stale(std::vector<near_passage>& near) const;

  ground& on_;
  state_of_index* in_ = nullptr;
  const question* what_ = nullptr;
  std::vector<match> by_words_;
  std::vector<float> vector_;  // empty: no search by meaning
  bool has_more_ = false;
  std::string trouble_;
  std::string remark_;
};

namespace {

using clock = monotonic_clock;

/// Limit of passages with a word that are examined. Finding and scoring one takes 2 to 4 µs.
constexpr std::size_t most_looked_at = 4'000;
/// Numbers of neighbours to request, first and at most. Some of them do not match the filter, or the caller may not have them.
constexpr std::size_t first_near = 400;
constexpr std::size_t most_near = 3'200;

bool is_better(const match& one, const match& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.id < other.id;
}

}  // namespace

result<void> lists::ask(state_of_index& in, const question& what, std::span<const wanted_word> words) {
  in_ = &in;
  what_ = &what;
  if (words.empty()) return {};
  auto found = in.find(words, what.which, most_looked_at);
  if (!found) return tl::unexpected(unreadable(std::move(found.error())));
  by_words_ = std::move(found->all);
  has_more_ = !found->is_complete && found->remark.empty();
  trouble_ = std::move(found->remark);
  return {};
}

void lists::embed(const call& by, const std::string& q) {
  if (!on_.embedder) return;
  const auto now = clock::now();
  // Leave time for the results by words.
  const auto until = by.deadline == clock::time_point::max() ? by.deadline : now + (by.deadline - now) / 2;
  auto vector = on_.embedder->of_query(q, until, by.stop);
  if (vector) {
    const auto near = on_.neighbours();
    if (!near || near->dimension() == vector->size()) {
      vector_ = std::move(*vector);
      return;
    }
  }
  if (vector || vector.error().code == errc::content_changed) {
    on_.are_vectors_doubted = true;
    remark_ = "searched by words only: the vectors are being created again";
  } else if (vector.error().code == errc::timed_out) {
    remark_ = "searched by words only: the embedding service did not answer in time";
  } else {
    remark_ = "searched by words only: the embedding service returns no vectors now";
  }
}

result<std::vector<near_passage>> lists::nearest(std::size_t count) const {
  std::vector<near_passage> out;
  if (auto asked = in_->nearest(vector_, count)) {
    if (!*asked) return tl::unexpected(unreadable(std::move(asked->error())));
    for (const auto& one : **asked) out.push_back({one.id, one.score});
  } else if (const auto near = on_.neighbours()) {
    for (const auto& one : near->nearest(vector_, count)) out.push_back({{one.number}, one.closeness});
  }
  return out;
}

result<void> lists::leave_out_stale(std::vector<near_passage>& near) const {
  if (near.empty() || !what_->which.made) return {};
  std::vector<passage_id> ids;
  ids.reserve(near.size());
  for (const auto& one : near) ids.push_back(one.id);
  const auto left = in_->made_so(ids, *what_->which.made);
  if (!left) return tl::unexpected(unreadable(left.error()));
  auto next = left->begin();
  std::erase_if(near, [&](const near_passage& one) {
    if (next == left->end() || *next != one.id) return true;
    ++next;
    return false;
  });
  return {};
}

result<std::vector<near_passage>> lists::nearest(sight& through) {
  if (vector_.empty()) return std::vector<near_passage>();
  for (auto count = first_near;; count = most_near) {
    auto all = nearest(count);
    if (!all) {
      // The results by words are still valid.
      on_.say("search by meaning failed: " + all.error().private_text);
      remark_ = "searched by words only: search by meaning is unavailable now";
      vector_.clear();
      return std::vector<near_passage>();
    }
    const bool is_last = all->size() < count || count == most_near;
    HONDANA_TRY(leave_out_stale(*all));
    HONDANA_TRY(through.keep(*all, ranks_that_count, false));
    if (is_last || all->size() == ranks_that_count) return all;
  }
}

result<std::vector<candidate>> lists::fused(sight& through, std::size_t most, bool& is_cut) {
  HONDANA_TRY(auto near, nearest(through));
  if (!near.empty()) most = std::max(most, ranks_that_count);
  auto words = by_words_;
  // A caller who may see everything only needs the best ones, so sort only these.
  const auto counting = through.sees_all() ? std::min(words.size(), 2 * most) : words.size();
  if (counting < words.size()) {
    std::nth_element(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(counting), words.end(), is_better);
    words.resize(counting);
  }
  std::sort(words.begin(), words.end(), is_better);
  HONDANA_TRY(through.keep(words, most, true));
  is_cut = words.size() == most || near.size() == ranks_that_count;
  return search::fused(std::move(words), near);
}

namespace {

/// The first round examines this many times the number of wanted results. Later candidates cannot be weighted so much higher
/// that they would come first. More rounds are needed if many passages belong to one resource.
constexpr std::size_t times_as_many = 4;
constexpr std::size_t most_rounds = 3;
/// Time to look up the current entry. After it, the indexed entry is shown, unless access depends on attributes of entries.
constexpr std::chrono::milliseconds longest_look_up{500};

bool is_without_answer(errc why) noexcept {
  return why == errc::timed_out || why == errc::overloaded || why == errc::source_unavailable || why == errc::unsupported;
}

/// A passage with its weighted score.
struct weighed {
  candidate what;
  shown_passage shown;
  double score;
};

/// One search, from its lists to its results.
class finding {
 public:
  finding(const call& by, const tools::surroundings& in, ground& on, state_of_index& kept, const question& what,
          std::span<const wanted_word> words)
      : by_(by), in_(in), kept_(kept), what_(what), words_(words), sight_(by, in, on, kept, what.which) {}

  [[nodiscard]] const sight& through() const noexcept { return sight_; }
  /// Errors: those of the store; timed_out, cancelled.
  [[nodiscard]] result<std::vector<hit>> hits_of(lists& from);

 private:
  [[nodiscard]] result<std::vector<weighed>> weigh(std::span<const candidate> all, std::size_t most) const;
  struct taken {
    std::vector<hit> all{};
    bool has_hidden_some = false;  ///< The caller may not have some documents any more: rank again without them.
  };
  /// Takes the best results, with their current entries.
  [[nodiscard]] result<taken> take(std::vector<weighed> all);
  /// Null: the caller may not have it.
  [[nodiscard]] const resource* entry_now(const document& indexed);
  [[nodiscard]] hit hit_of(weighed from, const resource& entry) const;

  const call& by_;
  const tools::surroundings& in_;
  state_of_index& kept_;
  const question& what_;
  const std::span<const wanted_word> words_;
  sight sight_;
  std::map<std::string, std::optional<resource>> entries_;  // by URI
};

result<std::vector<hit>> finding::hits_of(lists& from) {
  auto most = times_as_many * what_.limit;
  for (std::size_t round = 1;; ++round) {
    bool is_cut = false;
    HONDANA_TRY(auto candidates, from.fused(sight_, std::min(most, most_by_words_alone), is_cut));
    HONDANA_TRY(auto all, weigh(candidates, most));
    is_cut = is_cut || all.size() < candidates.size();
    HONDANA_TRY(auto found, take(std::move(all)));
    const bool is_enough = found.all.size() == what_.limit || !is_cut;
    if ((!found.has_hidden_some && (is_enough || round >= most_rounds)) || round >= 2 * most_rounds)
      return std::move(found.all);
    if (!is_enough && round < most_rounds) most *= times_as_many;
  }
}

result<std::vector<weighed>> finding::weigh(std::span<const candidate> all, std::size_t most) const {
  const auto now = std::chrono::system_clock::now();
  std::vector<passage_id> ids;
  for (const auto& one : all.first(std::min(most, all.size()))) ids.push_back(one.id);
  if (monotonic_clock::now() >= by_.deadline) return fail(errc::timed_out, "The search took too long.");
  auto shown = kept_.show(ids);
  if (!shown) return tl::unexpected(unreadable(std::move(shown.error())));
  std::vector<weighed> out;
  out.reserve(shown->size());
  auto at = all.begin();
  for (auto& one : *shown) {
    while (at->id != one.id) ++at;
    // The document may have changed since the lists were reduced to those that the caller may have.
    if (!passes(what_.which, one.of) || one.of.made != making_of(*in_.catalog, one.of.uri)) continue;
    if (!sight_.may_have(entry_of(one.of))) continue;
    const double score = at->score * worth_of(one.of, now);
    out.push_back({*at, std::move(one), score});
  }
  std::sort(out.begin(), out.end(), [](const weighed& one, const weighed& other) {
    if (one.score != other.score) return one.score > other.score;
    return one.what.score != other.what.score ? one.what.score > other.what.score : one.what.id < other.what.id;
  });
  return out;
}

result<finding::taken> finding::take(std::vector<weighed> all) {
  taken out;
  std::map<std::string, std::size_t> counts;
  for (auto& one : all) {
    if (out.all.size() == what_.limit) break;
    if (monotonic_clock::now() >= by_.deadline) return fail(errc::timed_out, "The search took too long.");
    if (by_.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
    auto& count = counts[one.shown.of.uri];
    if (count == most_of_one_resource) continue;
    const auto* entry = entry_now(one.shown.of);
    if (entry == nullptr) {
      sight_.hide(one.shown.id);
      out.has_hidden_some = true;
      continue;
    }
    ++count;
    out.all.push_back(hit_of(std::move(one), *entry));
  }
  return out;
}

const resource* finding::entry_now(const document& indexed) {
  const auto [place, is_new] = entries_.try_emplace(indexed.uri);
  auto& entry = place->second;
  if (is_new) {
    auto asked = by_;
    asked.deadline = std::min(by_.deadline, monotonic_clock::now() + longest_look_up);
    auto found = tools::await<resource>(
        asked, [&](catalog::completion<resource> done) { in_.catalog->describe(asked, indexed.uri, std::move(done)); });
    if (found) {
      entry = std::move(*found);
    } else if (is_without_answer(found.error().code) && !sight_.looks_at_entries()) {
      entry = entry_of(indexed);
    }
    if (entry && !sight_.may_have(*entry)) entry.reset();
  }
  return entry ? &*entry : nullptr;
}

hit finding::hit_of(weighed from, const resource& entry) const {
  hit made;
  made.entry = entry;
  // The stored title and description may come from the content, and be better than those of the source.
  const auto& indexed = from.shown.of;
  const bool has_a_name_alone = is_provisional(entry);
  if ((has_a_name_alone || entry.title.empty()) && !indexed.title.empty()) made.entry.title = indexed.title;
  if (has_a_name_alone && !indexed.description.empty()) made.entry.description = indexed.description;
  made.language = from.shown.of.language;
  made.score = std::clamp(from.score / (1 + weight_of_priority + weight_of_recency), 0.0, 1.0);
  made.why = reason_for(from.what, words_, from.shown.of);
  // A passage found by name only has no indexed content that could have changed.
  made.has_changed = from.shown.passage.first_line != 0 && !entry.version.empty() && !from.shown.of.version.empty() &&
                     entry.version != from.shown.of.version;
  made.passage = std::move(from.shown.passage);
  if (made.has_changed) made.why += "; changed since it was indexed";
  return made;
}

}  // namespace

result<hits> engine::find(const call& by, const tools::surroundings& in, const question& what) const {
  const auto words = words_of(*on_->words, what.q);
  if (words.empty() && !on_->embedder) return fail(errc::invalid_argument, "q: expected a word to search for.");
  lists found(*on_);
  found.embed(by, what.q);
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
  auto asked = what;
  asked.which.made = makings_of(*in.catalog);
  // Everything below reads one state of the index.
  auto kept = on_->kept->at_once();
  if (!kept) return tl::unexpected(unreadable(std::move(kept.error())));
  HONDANA_TRY(found.ask(**kept, asked, words));
  finding results(by, in, *on_, **kept, asked, words);
  HONDANA_TRY(auto all, results.hits_of(found));
  auto [is_complete, remark] = completeness_for(by, in, *on_);
  hits out{std::move(all), is_complete, std::move(remark)};
  // Callers with restricted access must not learn how many passages there are.
  if (found.has_more() && results.through().sees_all()) {
    out.is_complete = false;
    if (out.remark.empty()) out.remark = "more passages have these words than can be checked; add a rarer word";
  }
  if (!found.trouble().empty()) {
    out.is_complete = false;
    out.remark = found.trouble();
  }
  if (out.remark.empty()) out.remark = found.remark();
  return out;
}

result<tools::search_answer> engine::search(const call& by, const tools::surroundings& in,
                                            const tools::search_query& what) const {
  question asked{what.q, what.limit, {}};
  const auto& filter = what.filter;
  begin_with(asked.which, filter.uri_prefix);
  asked.which.mime_type = filter.mime_type;
  asked.which.kind = filter.kind;
  asked.which.audience = filter.audience;
  asked.which.min_priority = filter.min_priority;
  asked.which.modified_since = filter.modified_since;
  // Conditions that the store does not support are checked for each result.
  const bool has_more = !filter.uri_pattern.empty() || !filter.name_pattern.empty() || !filter.text.empty();
  if (has_more) asked.limit = 50;
  auto found = find(by, in, asked);
  if (!found) return tl::unexpected(std::move(found.error()));
  // The store has checked the URI prefix already, in all its spellings.
  auto others = filter;
  others.uri_prefix.clear();
  const catalog::filter rest(std::move(others));
  std::uint64_t steps = 0;
  tools::search_answer out;
  out.is_complete = found->is_complete;
  for (auto& one : found->all) {
    if (out.hits.size() == what.limit) break;
    if (has_more && !rest.passes(one.entry, steps)) continue;
    tools::search_hit made;
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

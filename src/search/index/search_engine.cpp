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

#include "search/index/document_reader.hpp"
#include "search/index/passage_filter.hpp"
#include "search/index/ranking.hpp"
#include "search/index/search_query.hpp"
#include "search/index/shared_index.hpp"
#include "server/catalog/list_filter.hpp"

namespace hondana::search {

/// The passages found for one query, by words and by meaning. Threads: one.
class ranked_lists {
 public:
  explicit ranked_lists(shared_index& index) : index_(index) {}

  /// Requests the vector of the query. Takes at most half of the time left until the deadline of `context`.
  void embed_query(const request_context& context, const std::string& q);
  /// Searches for the words. `snapshot` and `query` must outlive this object. Errors: those of the store, in fixed words.
  [[nodiscard]] result<void> search_words(index_snapshot& snapshot, const index_query& query,
                                          std::span<const query_word> words);

  /// More passages have the words than were examined.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// The problem of the index, in fixed words; empty: none.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// Why there was no search by meaning, in fixed words; empty: there was one, or no vectors are configured.
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

  /// The best passages that the caller may have, fused. `max_passages` limits those found by words if none was found by
  /// meaning. Sets `is_truncated` if there are more. Errors: as `passage_filter::retain`.
  [[nodiscard]] result<std::vector<candidate>> fuse(passage_filter& filter, std::size_t max_passages, bool& is_truncated);

 private:
  [[nodiscard]] result<std::vector<near_passage>> nearest(passage_filter& filter);
  [[nodiscard]] result<std::vector<near_passage>> nearest(std::size_t count) const;
  /// Removes passages whose texts were made differently than now.
  [[nodiscard]] result<void> remove_stale(std::vector<near_passage>& passages) const;

  shared_index& index_;
  index_snapshot* snapshot_ = nullptr;
  const index_query* query_ = nullptr;
  std::vector<match> lexical_;
  std::vector<float> query_vector_;  // empty: no search by meaning
  bool has_more_ = false;
  std::string problem_;
  std::string note_;
};

namespace {

using clock = monotonic_clock;

/// Limit of passages with a word that are examined. Finding and scoring one takes 2 to 4 µs.
constexpr std::size_t max_examined = 4'000;
/// Numbers of neighbours to request, first and at most. Some of them do not match the filter, or the caller may not have them.
constexpr std::size_t first_neighbours = 400;
constexpr std::size_t max_neighbours = 3'200;

bool is_better(const match& left, const match& right) noexcept {
  return left.score != right.score ? left.score > right.score : left.id < right.id;
}

}  // namespace

result<void> ranked_lists::search_words(index_snapshot& snapshot, const index_query& query, std::span<const query_word> words) {
  snapshot_ = &snapshot;
  query_ = &query;
  if (words.empty()) return {};
  auto matched = snapshot.find(words, query.filter, max_examined);
  if (!matched) return tl::unexpected(sanitize_failure(std::move(matched.error())));
  lexical_ = std::move(matched->passages);
  has_more_ = !matched->is_complete && matched->problem.empty();
  problem_ = std::move(matched->problem);
  return {};
}

void ranked_lists::embed_query(const request_context& context, const std::string& q) {
  if (!index_.embedder) return;
  const auto now = clock::now();
  // Leave time for the results by words.
  const auto deadline = context.deadline == clock::time_point::max() ? context.deadline : now + (context.deadline - now) / 2;
  auto vector = index_.embedder->embed_query(q, deadline, context.stop);
  if (vector) {
    const auto vectors = index_.vectors();
    if (!vectors || vectors->dimension() == vector->size()) {
      query_vector_ = std::move(*vector);
      return;
    }
  }
  if (vector || vector.error().code == errc::content_changed) {
    index_.has_dimension_mismatch = true;
    note_ = "searched by words only: the vectors are being created again";
  } else if (vector.error().code == errc::timed_out) {
    note_ = "searched by words only: the embedding service did not answer in time";
  } else {
    note_ = "searched by words only: the embedding service returns no vectors now";
  }
}

result<std::vector<near_passage>> ranked_lists::nearest(std::size_t count) const {
  std::vector<near_passage> out;
  if (auto response = snapshot_->nearest(query_vector_, count)) {
    if (!*response) return tl::unexpected(sanitize_failure(std::move(response->error())));
    for (const auto& entry : **response) out.push_back({entry.id, entry.score});
  } else if (const auto vectors = index_.vectors()) {
    for (const auto& entry : vectors->nearest(query_vector_, count)) out.push_back({{entry.number}, entry.similarity});
  }
  return out;
}

result<void> ranked_lists::remove_stale(std::vector<near_passage>& passages) const {
  if (passages.empty() || !query_->filter.processing) return {};
  std::vector<passage_id> ids;
  ids.reserve(passages.size());
  for (const auto& entry : passages) ids.push_back(entry.id);
  const auto current = snapshot_->filter_by_processing(ids, *query_->filter.processing);
  if (!current) return tl::unexpected(sanitize_failure(current.error()));
  auto next = current->begin();
  std::erase_if(passages, [&](const near_passage& passage) {
    if (next == current->end() || *next != passage.id) return true;
    ++next;
    return false;
  });
  return {};
}

result<std::vector<near_passage>> ranked_lists::nearest(passage_filter& filter) {
  if (query_vector_.empty()) return std::vector<near_passage>();
  for (auto count = first_neighbours;; count = max_neighbours) {
    auto passages = nearest(count);
    if (!passages) {
      // The results by words are still valid.
      index_.log_line("search by meaning failed: " + passages.error().private_text);
      note_ = "searched by words only: search by meaning is unavailable now";
      query_vector_.clear();
      return std::vector<near_passage>();
    }
    const bool is_last = passages->size() < count || count == max_neighbours;
    HONDANA_TRY(remove_stale(*passages));
    HONDANA_TRY(filter.retain(*passages, max_fused_ranks, false));
    if (is_last || passages->size() == max_fused_ranks) return passages;
  }
}

result<std::vector<candidate>> ranked_lists::fuse(passage_filter& filter, std::size_t max_passages, bool& is_truncated) {
  HONDANA_TRY(auto semantic, nearest(filter));
  if (!semantic.empty()) max_passages = std::max(max_passages, max_fused_ranks);
  auto words = lexical_;
  // A caller who may see everything only needs the best ones, so sort only these.
  const auto count = filter.sees_all() ? std::min(words.size(), 2 * max_passages) : words.size();
  if (count < words.size()) {
    std::nth_element(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), words.end(), is_better);
    words.resize(count);
  }
  std::sort(words.begin(), words.end(), is_better);
  HONDANA_TRY(filter.retain(words, max_passages, true));
  is_truncated = words.size() == max_passages || semantic.size() == max_fused_ranks;
  return search::fuse(std::move(words), semantic);
}

namespace {

/// The first round examines this many times the number of wanted results. Later candidates cannot be weighted so much higher
/// that they would come first. More rounds are needed if many passages belong to one resource.
constexpr std::size_t oversampling = 4;
constexpr std::size_t max_rounds = 3;
/// Time to look up the current entry. After it, the indexed entry is shown, unless access depends on attributes of entries.
constexpr std::chrono::milliseconds lookup_timeout{500};

bool is_unavailable(errc code) noexcept {
  return code == errc::timed_out || code == errc::overloaded || code == errc::source_unavailable || code == errc::unsupported;
}

/// A passage with its weighted score.
struct weighted_passage {
  candidate ranked;
  document_passage source;
  double score;
};

/// One search, from its lists to its results.
class search_run {
 public:
  search_run(const request_context& context, const tools::tool_services& services, shared_index& index,
             index_snapshot& snapshot, const index_query& query, std::span<const query_word> words)
      : context_(context),
        services_(services),
        snapshot_(snapshot),
        query_(query),
        words_(words),
        filter_(context, services, index, snapshot, query.filter) {}

  [[nodiscard]] const passage_filter& filter() const noexcept { return filter_; }
  /// Errors: those of the store; timed_out, cancelled.
  [[nodiscard]] result<std::vector<hit>> collect_hits(ranked_lists& lists);

 private:
  [[nodiscard]] result<std::vector<weighted_passage>> weigh(std::span<const candidate> candidates,
                                                            std::size_t max_passages) const;
  struct selection {
    std::vector<hit> hits{};
    bool has_hidden = false;  ///< The caller may not have some documents any more: rank again without them.
  };
  /// Takes the best results, with their current entries.
  [[nodiscard]] result<selection> select(std::vector<weighted_passage> passages);
  /// Null: the caller may not have it.
  [[nodiscard]] const resource* current_entry(const document& indexed);
  [[nodiscard]] hit make_hit(weighted_passage passage, const resource& entry) const;

  const request_context& context_;
  const tools::tool_services& services_;
  index_snapshot& snapshot_;
  const index_query& query_;
  const std::span<const query_word> words_;
  passage_filter filter_;
  std::map<std::string, std::optional<resource>> entries_;  // by URI
};

result<std::vector<hit>> search_run::collect_hits(ranked_lists& lists) {
  auto max_passages = oversampling * query_.limit;
  for (std::size_t round = 1;; ++round) {
    bool is_truncated = false;
    HONDANA_TRY(auto candidates, lists.fuse(filter_, std::min(max_passages, max_lexical_matches), is_truncated));
    HONDANA_TRY(auto weighted, weigh(candidates, max_passages));
    is_truncated = is_truncated || weighted.size() < candidates.size();
    HONDANA_TRY(auto selected, select(std::move(weighted)));
    const bool is_enough = selected.hits.size() == query_.limit || !is_truncated;
    if ((!selected.has_hidden && (is_enough || round >= max_rounds)) || round >= 2 * max_rounds)
      return std::move(selected.hits);
    if (!is_enough && round < max_rounds) max_passages *= oversampling;
  }
}

result<std::vector<weighted_passage>> search_run::weigh(std::span<const candidate> candidates, std::size_t max_passages) const {
  const auto now = std::chrono::system_clock::now();
  std::vector<passage_id> ids;
  for (const auto& entry : candidates.first(std::min(max_passages, candidates.size()))) ids.push_back(entry.id);
  if (monotonic_clock::now() >= context_.deadline) return fail(errc::timed_out, "The search took too long.");
  auto loaded = snapshot_.load(ids);
  if (!loaded) return tl::unexpected(sanitize_failure(std::move(loaded.error())));
  std::vector<weighted_passage> out;
  out.reserve(loaded->size());
  auto ranked = candidates.begin();
  for (auto& passage : *loaded) {
    while (ranked->id != passage.id) ++ranked;
    // The document may have changed since the lists were reduced to those that the caller may have.
    if (!passes(query_.filter, passage.metadata) ||
        passage.metadata.processing != processing_id(*services_.catalog, passage.metadata.uri))
      continue;
    if (!filter_.may_have(make_entry(passage.metadata))) continue;
    const double score = ranked->score * document_weight(passage.metadata, now);
    out.push_back({*ranked, std::move(passage), score});
  }
  std::sort(out.begin(), out.end(), [](const weighted_passage& left, const weighted_passage& right) {
    if (left.score != right.score) return left.score > right.score;
    return left.ranked.score != right.ranked.score ? left.ranked.score > right.ranked.score : left.ranked.id < right.ranked.id;
  });
  return out;
}

result<search_run::selection> search_run::select(std::vector<weighted_passage> passages) {
  selection out;
  std::map<std::string, std::size_t> counts;
  for (auto& passage : passages) {
    if (out.hits.size() == query_.limit) break;
    if (monotonic_clock::now() >= context_.deadline) return fail(errc::timed_out, "The search took too long.");
    if (context_.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
    auto& count = counts[passage.source.metadata.uri];
    if (count == max_per_resource) continue;
    const auto* entry = current_entry(passage.source.metadata);
    if (entry == nullptr) {
      filter_.hide(passage.source.id);
      out.has_hidden = true;
      continue;
    }
    ++count;
    out.hits.push_back(make_hit(std::move(passage), *entry));
  }
  return out;
}

const resource* search_run::current_entry(const document& indexed) {
  const auto [position, is_new] = entries_.try_emplace(indexed.uri);
  auto& entry = position->second;
  if (is_new) {
    auto bounded = context_;
    bounded.deadline = std::min(context_.deadline, monotonic_clock::now() + lookup_timeout);
    auto current = tools::await<resource>(bounded, [&](catalog::completion<resource> completion) {
      services_.catalog->describe(bounded, indexed.uri, std::move(completion));
    });
    if (current) {
      entry = std::move(*current);
    } else if (is_unavailable(current.error().code) && !filter_.checks_entries()) {
      entry = make_entry(indexed);
    }
    if (entry && !filter_.may_have(*entry)) entry.reset();
  }
  return entry ? &*entry : nullptr;
}

hit search_run::make_hit(weighted_passage passage, const resource& entry) const {
  hit out;
  out.entry = entry;
  // The stored title and description may come from the content, and be better than those of the source.
  const auto& indexed = passage.source.metadata;
  const bool has_name_only = is_provisional(entry);
  if ((has_name_only || entry.title.empty()) && !indexed.title.empty()) out.entry.title = indexed.title;
  if (has_name_only && !indexed.description.empty()) out.entry.description = indexed.description;
  out.language = passage.source.metadata.language;
  out.score = std::clamp(passage.score / (1 + priority_weight + recency_weight), 0.0, 1.0);
  out.reason = explain_rank(passage.ranked, words_, passage.source.metadata);
  // A passage found by name only has no indexed content that could have changed.
  out.has_changed = passage.source.passage.first_line != 0 && !entry.version.empty() &&
                    !passage.source.metadata.version.empty() && entry.version != passage.source.metadata.version;
  out.passage = std::move(passage.source.passage);
  if (out.has_changed) out.reason += "; changed since it was indexed";
  return out;
}

}  // namespace

result<search_results> engine::find(const request_context& context, const tools::tool_services& services,
                                    const index_query& query) const {
  const auto words = parse_words(*index_->tokenizer, query.q);
  if (words.empty() && !index_->embedder) return fail(errc::invalid_argument, "q: expected a word to search for.");
  ranked_lists lists(*index_);
  lists.embed_query(context, query.q);
  if (context.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
  auto current_query = query;
  current_query.filter.processing = processing_ids(*services.catalog);
  // Everything below reads one state of the index.
  auto snapshot = index_->storage->snapshot();
  if (!snapshot) return tl::unexpected(sanitize_failure(std::move(snapshot.error())));
  HONDANA_TRY(lists.search_words(**snapshot, current_query, words));
  search_run run(context, services, *index_, **snapshot, current_query, words);
  HONDANA_TRY(auto hits, run.collect_hits(lists));
  auto [is_complete, reason] = completeness_for(context, services, *index_);
  search_results out{std::move(hits), is_complete, std::move(reason)};
  // Callers with restricted access must not learn how many passages there are.
  if (lists.has_more() && run.filter().sees_all()) {
    out.is_complete = false;
    if (out.note.empty()) out.note = "more passages have these words than can be checked; add a rarer word";
  }
  if (!lists.problem().empty()) {
    out.is_complete = false;
    out.note = lists.problem();
  }
  if (out.note.empty()) out.note = lists.note();
  return out;
}

result<tools::search_answer> engine::search(const request_context& context, const tools::tool_services& services,
                                            const tools::search_query& query) const {
  index_query unpaged{query.text, query.limit, {}};
  const auto& filter = query.filter;
  set_prefix(unpaged.filter, filter.uri_prefix);
  unpaged.filter.mime_type = filter.mime_type;
  unpaged.filter.kind = filter.kind;
  unpaged.filter.audience = filter.audience;
  unpaged.filter.min_priority = filter.min_priority;
  unpaged.filter.modified_since = filter.modified_since;
  // Conditions that the store does not support are checked for each result.
  const bool needs_post_filter = !filter.uri_pattern.empty() || !filter.name_pattern.empty() || !filter.text.empty();
  if (needs_post_filter) unpaged.limit = 50;
  auto results = find(context, services, unpaged);
  if (!results) return tl::unexpected(std::move(results.error()));
  // The store has checked the URI prefix already, in all its spellings.
  auto conditions = filter;
  conditions.uri_prefix.clear();
  const catalog::list_filter post_filter(std::move(conditions));
  std::uint64_t steps = 0;
  tools::search_answer out;
  out.is_complete = results->is_complete;
  for (auto& result : results->hits) {
    if (out.hits.size() == query.limit) break;
    if (needs_post_filter && !post_filter.matches(result.entry, steps)) continue;
    tools::search_hit answer_hit;
    if (result.passage.first_line != 0)
      answer_hit.range = "lines=" + std::to_string(result.passage.first_line) + '-' + std::to_string(result.passage.last_line);
    answer_hit.passage = std::move(result.passage.text);
    if (answer_hit.passage.empty())
      answer_hit.passage = result.entry.description.empty() ? result.entry.title : result.entry.description;
    answer_hit.score = result.score;
    answer_hit.reason = std::move(result.reason);
    answer_hit.entry = std::move(result.entry);
    out.hits.push_back(std::move(answer_hit));
  }
  if (needs_post_filter && results->hits.size() == unpaged.limit && out.hits.size() < query.limit) out.is_complete = false;
  return out;
}

}  // namespace hondana::search

/// The provider of search:///.
#include "search/index/search_provider.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/value.hpp>

#include "protocol/model/iso_8601.hpp"
#include "search/index/access_filter.hpp"
#include "search/index/search_query.hpp"

namespace hondana::search {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr const char* state_title = "Search";
/// Limit of waiting requests. They occupy at most half of the threads of this source; the others are for searches.
constexpr std::size_t most_waiting = 4;
constexpr std::chrono::minutes longest_wait{10};

value member_of(const hit& one) {
  value::object out{{"uri", one.entry.uri}, {"name", one.entry.name}};
  const auto add = [&out](const char* name, const std::string& text) {
    if (!text.empty()) out.emplace_back(name, text);
  };
  add("title", one.entry.title);
  add("mimeType", one.entry.mimeType);
  add("heading", one.passage.heading);
  if (one.passage.first_line != 0) {
    out.emplace_back("range", "lines=" + std::to_string(one.passage.first_line) + '-' + std::to_string(one.passage.last_line));
  }
  if (one.passage.page != 0) out.emplace_back("page", one.passage.page);
  out.emplace_back("passage", one.passage.text.empty() ? one.entry.description : one.passage.text);
  out.emplace_back("score", one.score);
  out.emplace_back("why", one.why);
  add("language", one.language);
  const auto& notes = one.entry.annotations;
  if (notes.priority) out.emplace_back("priority", *notes.priority);
  if (!notes.audience.empty()) {
    value::array audience;
    for (const auto who : notes.audience) audience.emplace_back(who == role::user ? "user" : "assistant");
    out.emplace_back("audience", std::move(audience));
  }
  if (notes.lastModified) out.emplace_back("lastModified", model::iso_8601(*notes.lastModified));
  return out;
}

reading json_reading(value what) { return text_reading(what.to_text(), std::string(json_type)); }

/// The state of the index for a caller who may not see everything: without counts.
value value_of(const completeness& how, const search_state& state) {
  value::object out{{"isComplete", how.is_complete}, {"words", state.words}};
  if (!state.vectors_from.empty()) out.emplace_back("vectorsFrom", state.vectors_from);
  if (!how.remark.empty()) out.emplace_back("problem", how.remark);
  return out;
}

value value_of(const search_state& state) {
  value::object out{{"resources", state.resources}, {"passages", state.passages},      {"withoutText", state.without_text},
                    {"waiting", state.waiting},     {"isComplete", state.is_complete}, {"bytes", state.bytes},
                    {"words", state.words}};
  if (!state.vectors_from.empty()) {
    out.emplace_back("vectors", state.vectors);
    out.emplace_back("vectorsFrom", state.vectors_from);
  }
  if (!state.problem.empty()) out.emplace_back("problem", state.problem);
  return out;
}

std::string words_for(const search_state& state) {
  auto out = std::to_string(state.resources) + " resources, " + std::to_string(state.passages) + " passages";
  if (!state.vectors_from.empty()) out += ", " + std::to_string(state.vectors) + " with vectors";
  if (!state.is_complete) out += state.waiting > 0 ? "; indexing, " + std::to_string(state.waiting) + " waiting" : "; indexing";
  return out;
}

resource state_entry() {
  resource out;
  out.uri = search_uri;
  out.name = "search";
  out.title = state_title;
  out.description = "State of the search index. Search with search:///?q=WORDS.";
  out.mimeType = json_type;
  out.kind = "state";
  return out;
}

}  // namespace

scheme_documentation describe_search() {
  return {
      "search",
      "Passages of all resources of the server, found by words and, with an embedding service, by meaning.",
      {{"state", "State of the index"}, {"results", "Passages that were found, best first"}},
      {{std::string(search_uri), "State of the index, as JSON"},
       {std::string(waiting_template), "The same, when everything that exists now is indexed; sends progress notifications"},
       {std::string(search_template),
        "Passages with these words, as JSON, each with its resource, range, heading, score and reason (why)"}}};
}

std::vector<resource_template> search_provider::templates() const {
  resource_template searching;
  searching.uriTemplate = search_template;
  searching.name = "search";
  searching.title = "Search everything";
  searching.description =
      "Finds passages of all resources by words, in Japanese too, best first. q: words; limit: 1 to 50; lang: ja, en, …; "
      "scheme: file, docs, …; uriPrefix; minPriority: 0 to 1; audience: user or assistant; modifiedSince: 2025-01-12; owner: "
      "an e-mail address or a name, as in dev.hondana/owner of _meta.";
  searching.mimeType = json_type;
  resource_template waiting;
  waiting.uriTemplate = waiting_template;
  waiting.name = "search-state";
  waiting.title = "State of the search index";
  waiting.description = "wait=complete: answers when everything that exists now is indexed.";
  waiting.mimeType = json_type;
  return {searching, waiting};
}

result<list_result> search_provider::list(const list_request& request) {
  list_result out;
  auto entry = state_entry();
  if (request.limit > 0 && compare_by_segment(request.after, entry.uri) < 0) out.entries.push_back(std::move(entry));
  return out;
}

result<resource> search_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto asked, parse_address(request.uri));
  auto out = state_entry();
  if (asked.what.q.empty()) return out;
  out.uri = request.uri;
  out.name = "search results";
  out.title = asked.what.q;
  out.description = "Passages found for these words";
  out.kind = "results";
  return out;
}

namespace {

/// Counts a waiting request during its lifetime.
class turn {
 public:
  turn(std::atomic<std::size_t>& all, std::size_t most) : all_(all), is_taken_(all_.fetch_add(1) < most) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() { --all_; }
  [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

 private:
  std::atomic<std::size_t>& all_;
  const bool is_taken_;
};

}  // namespace

result<void> search_provider::wait_for(const read_request& request, bool tells_numbers) const {
  const turn mine(waiting_, most_waiting);
  if (!mine.is_taken())
    return fail(errc::overloaded,
                "search: " + std::to_string(most_waiting) +
                    " requests already wait for the index, which is the maximum. Read search:/// to see its state.");
  std::uint64_t done = 0;
  const auto begin = monotonic_clock::now();
  const auto until = std::min(request.deadline, begin + longest_wait);
  if (!tells_numbers) {
    // Do not reveal counts, or whether something is missing that the caller may not see; `completeness_for` says what the
    // caller may know. So report seconds, and wait for any finished scan.
    const auto hears = [&](const search_state&) {
      const auto passed = std::chrono::duration_cast<std::chrono::seconds>(monotonic_clock::now() - begin).count();
      if (!request.report || static_cast<std::uint64_t>(passed) <= done) return;
      done = static_cast<std::uint64_t>(passed);
      request.report({static_cast<double>(done), std::nullopt, "indexing for " + std::to_string(done) + " s"});
    };
    return wait_(look_end::any, until, hears, request.stop);
  }
  const auto hears = [&](const search_state& state) {
    if (!request.report || state.resources <= done) return;
    done = state.resources;
    request.report({static_cast<double>(done), static_cast<double>(done + state.waiting), words_for(state)});
  };
  return wait_(look_end::complete, until, hears, request.stop);
}

result<reading> search_provider::read_state(const read_request& request, bool waits) const {
  const auto where = on_->where();
  if (!where) return fail(errc::source_unavailable, "search: the index is not part of a server yet");
  const auto in = where->now();
  const bool sees_all = sees_everything(request, in);
  if (waits && wait_) {
    HONDANA_TRY(wait_for(request, sees_all));
  }
  const auto state = on_->state();
  return json_reading(sees_all ? value_of(state) : value_of(completeness_for(request, in, *on_), state));
}

result<reading> search_provider::read(const read_request& request) {
  HONDANA_TRY(auto asked, parse_address(request.uri));
  if (asked.what.q.empty()) return read_state(request, asked.waits);
  const auto where = on_->where();
  if (!where) return fail(errc::source_unavailable, "search: the index is not part of a server yet");
  auto found = by_->find(request, where->now(), asked.what);
  if (!found) return tl::unexpected(std::move(found.error()));
  value::array results;
  results.reserve(found->all.size());
  for (const auto& one : found->all) results.push_back(member_of(one));
  value::object out{{"q", asked.what.q}, {"results", std::move(results)}, {"isComplete", found->is_complete}};
  if (!found->remark.empty()) out.emplace_back("remark", found->remark);
  return json_reading(std::move(out));
}

result<complete_result> search_provider::complete(const complete_request& request) {
  // Fixed values, so that completion reveals nothing that the caller may not see.
  static const std::vector<std::string> languages{"ja", "en", "de", "fr", "es", "it", "pt", "nl", "zh", "ko", "ru"};
  static const std::vector<std::string> audiences{"user", "assistant"};
  static const std::vector<std::string> priorities{"0.25", "0.5", "0.75", "0.9"};
  static const std::vector<std::string> limits{"5", "10", "20", "50"};
  static const std::vector<std::string> waits{"complete"};
  if (request.argument == "lang") return complete_from(request.value, languages);
  if (request.argument == "audience") return complete_from(request.value, audiences);
  if (request.argument == "minPriority") return complete_from(request.value, priorities);
  if (request.argument == "limit") return complete_from(request.value, limits);
  if (request.argument == "wait") return complete_from(request.value, waits);
  if (request.argument != "scheme" && request.argument != "uriPrefix") return complete_result{};
  const auto where = on_->where();
  if (!where) return complete_result{};
  const auto in = where->now();
  const auto through = in.gate->view_of(request.who);
  std::vector<std::string> values;
  for (const auto& source : in.catalog->sources()) {
    for (const auto& claim : source->what()->claims()) {
      // Completion does not reveal sources that are hidden from the caller.
      if (!in.gate->may_see(through.get(), claim)) continue;
      auto value = request.argument == "scheme" ? claim.substr(0, claim.find(':')) : claim;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    }
  }
  return complete_from(request.value, values);
}

hondana::health search_provider::health() const {
  const auto state = on_->state();
  if (!state.problem.empty()) return {false, state.problem};
  return {true, state.is_complete ? "complete" : "indexing"};
}

}  // namespace hondana::search

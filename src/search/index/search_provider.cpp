/// The provider of search:///.
#include "search/index/search_provider.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/value.hpp>

#include "protocol/model/iso_8601.hpp"
#include "search/index/passage_filter.hpp"
#include "search/index/search_query.hpp"

namespace hondana::search {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr const char* state_title = "Search";
/// Limit of waiting requests. They occupy at most half of the threads of this source; the others are for searches.
constexpr std::size_t max_waiting = 4;
constexpr std::chrono::minutes max_wait{10};

value to_value(const hit& match) {
  value::object out{{"uri", match.entry.uri}, {"name", match.entry.name}};
  const auto add = [&out](const char* name, const std::string& text) {
    if (!text.empty()) out.emplace_back(name, text);
  };
  add("title", match.entry.title);
  add("mimeType", match.entry.mime_type);
  add("heading", match.passage.heading);
  if (match.passage.first_line != 0) {
    out.emplace_back("range",
                     "lines=" + std::to_string(match.passage.first_line) + '-' + std::to_string(match.passage.last_line));
  }
  if (match.passage.page != 0) out.emplace_back("page", match.passage.page);
  out.emplace_back("passage", match.passage.text.empty() ? match.entry.description : match.passage.text);
  out.emplace_back("score", match.score);
  out.emplace_back("explanation", match.reason);
  add("language", match.language);
  const auto& annotations = match.entry.annotations;
  if (annotations.priority) out.emplace_back("priority", *annotations.priority);
  if (!annotations.audience.empty()) {
    value::array audience;
    for (const auto recipient : annotations.audience)
      audience.emplace_back(recipient == chat_role::user ? "user" : "assistant");
    out.emplace_back("audience", std::move(audience));
  }
  if (annotations.last_modified) out.emplace_back("lastModified", model::format_iso_8601(*annotations.last_modified));
  return out;
}

read_result json_reading(value content) { return text_read_result(content.to_text(), std::string(json_type)); }

/// The state of the index for a caller who may not see everything: without counts.
value to_value(const completeness& status, const search_state& state) {
  value::object out{{"isComplete", status.is_complete}, {"tokenizer", state.tokenizer}};
  if (!state.vector_source.empty()) out.emplace_back("vectorsFrom", state.vector_source);
  if (!status.reason.empty()) out.emplace_back("error", status.reason);
  return out;
}

value to_value(const search_state& state) {
  value::object out{{"resources", state.resources}, {"passages", state.passages},      {"withoutText", state.without_text},
                    {"waiting", state.pending},     {"isComplete", state.is_complete}, {"bytes", state.bytes},
                    {"tokenizer", state.tokenizer}};
  if (!state.vector_source.empty()) {
    out.emplace_back("vectors", state.vectors);
    out.emplace_back("vectorsFrom", state.vector_source);
  }
  if (!state.problem.empty()) out.emplace_back("error", state.problem);
  return out;
}

std::string describe_progress(const search_state& state) {
  auto out = std::to_string(state.resources) + " resources, " + std::to_string(state.passages) + " passages";
  if (!state.vector_source.empty()) out += ", " + std::to_string(state.vectors) + " with vectors";
  if (!state.is_complete) out += state.pending > 0 ? "; indexing, " + std::to_string(state.pending) + " waiting" : "; indexing";
  return out;
}

resource state_entry() {
  resource out;
  out.uri = search_uri;
  out.name = "search";
  out.title = state_title;
  out.description = "State of the search index. Search with search:///?q=WORDS.";
  out.mime_type = json_type;
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
  resource_template search_uris;
  search_uris.uri_template = search_template;
  search_uris.name = "search";
  search_uris.title = "Search everything";
  search_uris.description =
      "Finds passages of all resources by words, in Japanese too, best first. q: words; limit: 1 to 50; lang: ja, en, …; "
      "scheme: file, docs, …; uriPrefix; minPriority: 0 to 1; audience: user or assistant; modifiedSince: 2025-01-12; owner: "
      "an e-mail address or a name, as in dev.hondana/owner of _meta.";
  search_uris.mime_type = json_type;
  resource_template wait_uri;
  wait_uri.uri_template = waiting_template;
  wait_uri.name = "search-state";
  wait_uri.title = "State of the search index";
  wait_uri.description = "wait=complete: answers when everything that exists now is indexed.";
  wait_uri.mime_type = json_type;
  return {search_uris, wait_uri};
}

result<list_result> search_provider::list(const list_request& request) {
  list_result out;
  auto entry = state_entry();
  if (request.limit > 0 && compare_by_segment(request.after_key, entry.uri) < 0) out.entries.push_back(std::move(entry));
  return out;
}

result<resource> search_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto parsed, parse_address(request.uri));
  auto out = state_entry();
  if (parsed.query.q.empty()) return out;
  out.uri = request.uri;
  out.name = "search results";
  out.title = parsed.query.q;
  out.description = "Passages found for these words";
  out.kind = "results";
  return out;
}

namespace {

/// Counts a waiting request during its lifetime.
class wait_slot {
 public:
  wait_slot(std::atomic<std::size_t>& count, std::size_t max) : count_(count), is_acquired_(count_.fetch_add(1) < max) {}
  wait_slot(const wait_slot&) = delete;
  wait_slot& operator=(const wait_slot&) = delete;
  ~wait_slot() { --count_; }
  [[nodiscard]] bool is_acquired() const noexcept { return is_acquired_; }

 private:
  std::atomic<std::size_t>& count_;
  const bool is_acquired_;
};

}  // namespace

result<void> search_provider::wait_for(const read_request& request, bool reports_counts) const {
  const wait_slot slot(waiting_requests_, max_waiting);
  if (!slot.is_acquired())
    return fail(errc::overloaded,
                "search: " + std::to_string(max_waiting) +
                    " requests already wait for the index, which is the maximum. Read search:/// to see its state.");
  std::uint64_t reported = 0;
  const auto begin = monotonic_clock::now();
  const auto deadline = std::min(request.deadline, begin + max_wait);
  if (!reports_counts) {
    // Do not reveal counts, or whether something is missing that the caller may not see; `completeness_for` says what the
    // caller may know. So report seconds, and wait for any finished scan.
    const auto on_progress = [&](const search_state&) {
      const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(monotonic_clock::now() - begin).count();
      if (!request.report_progress || static_cast<std::uint64_t>(elapsed) <= reported) return;
      reported = static_cast<std::uint64_t>(elapsed);
      request.report_progress({static_cast<double>(reported), std::nullopt, "indexing for " + std::to_string(reported) + " s"});
    };
    return wait_(scan_end::any, deadline, on_progress, request.stop);
  }
  const auto on_progress = [&](const search_state& state) {
    if (!request.report_progress || state.resources <= reported) return;
    reported = state.resources;
    request.report_progress(
        {static_cast<double>(reported), static_cast<double>(reported + state.pending), describe_progress(state)});
  };
  return wait_(scan_end::complete, deadline, on_progress, request.stop);
}

result<read_result> search_provider::read_state(const read_request& request, bool waits) const {
  const auto holder = index_->services();
  if (!holder) return fail(errc::source_unavailable, "search: the index is not part of a server yet");
  const auto services = holder->current();
  const bool sees_all = is_unrestricted(request, services);
  if (waits && wait_) {
    HONDANA_TRY(wait_for(request, sees_all));
  }
  const auto state = index_->state();
  return json_reading(sees_all ? to_value(state) : to_value(completeness_for(request, services, *index_), state));
}

result<read_result> search_provider::read(const read_request& request) {
  HONDANA_TRY(auto parsed, parse_address(request.uri));
  if (parsed.query.q.empty()) return read_state(request, parsed.waits);
  const auto holder = index_->services();
  if (!holder) return fail(errc::source_unavailable, "search: the index is not part of a server yet");
  auto answer = engine_->find(request, holder->current(), parsed.query);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  value::array results;
  results.reserve(answer->hits.size());
  for (const auto& match : answer->hits) results.push_back(to_value(match));
  value::object out{{"q", parsed.query.q}, {"results", std::move(results)}, {"isComplete", answer->is_complete}};
  if (!answer->note.empty()) out.emplace_back("warning", answer->note);
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
  const auto holder = index_->services();
  if (!holder) return complete_result{};
  const auto services = holder->current();
  const auto filter = services.gate->filter_of(request.caller);
  std::vector<std::string> values;
  for (const auto& source : services.catalog->sources()) {
    for (const auto& claim : source->get_provider()->claims()) {
      // Completion does not reveal sources that are hidden from the caller.
      if (!services.gate->may_see(filter.get(), claim)) continue;
      auto value = request.argument == "scheme" ? claim.substr(0, claim.find(':')) : claim;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    }
  }
  return complete_from(request.value, values);
}

hondana::provider_health search_provider::health() const {
  const auto state = index_->state();
  if (!state.problem.empty()) return {false, state.problem};
  return {true, state.is_complete ? "complete" : "indexing"};
}

}  // namespace hondana::search

/// The provider of analyses: resources, completion and change notifications.
#include "sources/analyses/analyses_provider.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "os/disk/private_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/analysis_lookup.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/analysis_tools.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/config/section.hpp"

namespace hondana::analyses_source {

/// Completion values: ids of analyses that the caller may see; providers, sessions, tags and digests of analyses that it may
/// read.
[[nodiscard]] result<complete_result> complete_argument(const complete_request& request, const provider_state& state,
                                                        analyses::cache& cache);

namespace {

constexpr std::size_t max_page_entries = 1000;

}  // namespace

analyses_provider::analyses_provider(provider_options options)
    : state_(std::make_shared<provider_state>(std::move(options))), watcher_(std::make_shared<context_watcher>(state_)) {}

analyses_provider::~analyses_provider() { watcher_->stop(); }

std::vector<std::string> analyses_provider::claims() const {
  return {std::string(index_uri), std::string(by_prompt_base_uri), std::string(statistics_uri)};
}

scheme_documentation analyses_provider::documentation() const { return analyses_source::make_documentation(); }

std::vector<resource_template> analyses_provider::templates() const { return analyses_source::make_templates(); }

result<list_result> analyses_provider::list(const list_request& request) {
  auto page = make_page(request);
  // An unavailable store must not break the lists of other sources. Health, the log, `hondana check` and reads report the
  // reason. When the store is back, clients are notified that the list changed.
  const bool is_unavailable = !page && (page.error().code == errc::source_unavailable || page.error().code == errc::timed_out);
  if (!is_unavailable || model::is_index(request.caller)) return page;
  state_->report_omission(page.error());
  return list_result{};
}

result<void> analyses_provider::inventory(const request_context& request,
                                          const std::function<void(const inventory_item&)>& visitor) {
  list_request page_request;
  static_cast<request_context&>(page_request) = request;
  for (;;) {
    const auto page = make_page(page_request);
    if (!page) return tl::unexpected(page.error());
    for (const auto& entry : page->entries) visitor({entry.name, entry.uri, true, {}});
    if (!page->next_key) return {};
    page_request.after_key = *page->next_key;
  }
}

result<list_result> analyses_provider::make_page(const list_request& request) const {
  if (auto problem = state_->monitored_problem()) return tl::unexpected(std::move(*problem));
  list_result out;
  const auto is_after = [&](std::string_view uri) {
    return request.after_key.empty() || std::is_gt(compare_by_segment(uri, request.after_key));
  };
  if (request.limit == 0) return out;
  HONDANA_TRY(auto cache, state_->get_cache());
  if (is_after(index_uri)) out.entries.push_back(index_entry());
  auto after_id = request.after_key.empty() ? std::optional(std::string()) : list_start_id(request.after_key);
  if (after_id) {
    const auto now = approximate_now();
    for (bool is_last = false; !is_last;) {
      if (out.entries.size() >= request.limit) {
        out.next_key = out.entries.back().uri;
        return out;
      }
      if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
      auto page = cache->store().list({}, *after_id, std::min(request.limit - out.entries.size(), max_page_entries));
      if (!page) return tl::unexpected(std::move(page.error()));
      is_last = page->is_last;
      after_id = page->next;
      for (const auto& summary : page->summaries) {
        if (is_after(analysis_uri(summary.id))) out.entries.push_back(make_entry(state_->mask_secrets(summary), now));
      }
    }
  }
  if (is_after(statistics_uri)) {
    if (out.entries.size() >= request.limit) {
      out.next_key = out.entries.back().uri;
      return out;
    }
    out.entries.push_back(statistics_entry());
  }
  return out;
}

result<resource> analyses_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto address, parse_address(request.uri));
  if (address.kind == resource_kind::index || address.kind == resource_kind::statistics) {
    auto entry = address.kind == resource_kind::index ? index_entry() : statistics_entry();
    entry.uri = request.uri;
    if (address.format == output_format::json) entry.mime_type = mime_type_of(output_format::json);
    return entry;
  }
  HONDANA_TRY(auto cache, state_->get_cache());
  const auto with_uri = [&](resource entry) {
    entry.uri = request.uri;
    return entry;
  };
  if (address.kind == resource_kind::by_prompt) {
    HONDANA_TRY(const auto match, find_by_prompt(*state_, *watcher_, request, address.prompt_digest, *cache));
    return with_uri(make_entry(address, state_->mask_secrets(match.summary), approximate_now()));
  }
  HONDANA_TRY(auto summary, cache->store().get_summary(address.id));
  if (!summary) return analysis_not_found();
  if (address.kind == resource_kind::vote) {
    HONDANA_TRY(auto stored, cache->get(address.id));
    if (!stored) return analysis_not_found();
    const auto has_vote = analyses::decode_analysis(*stored).map([&](const analyses::analysis& analysis) {
      return std::any_of(analysis.votes.begin(), analysis.votes.end(),
                         [&](const auto& vote) { return vote.provider == address.provider; });
    });
    if (!has_vote) return tl::unexpected(has_vote.error());
    if (!*has_vote) return fail(errc::resource_not_found, "Vote not found: this analysis has no vote of that provider.");
  }
  return with_uri(make_entry(address, state_->mask_secrets(*summary), approximate_now()));
}

void analyses_provider::set_listener(std::shared_ptr<change_listener> listener) { watcher_->set_listener(std::move(listener)); }
void analyses_provider::watch(const std::string& uri) { watcher_->add_subscription(uri); }
void analyses_provider::unwatch(const std::string& uri) { watcher_->remove_subscription(uri); }

hondana::system_requirements analyses_provider::requirements() const { return state_->options.requirements; }

provider_traits analyses_provider::traits() const noexcept {
  return {.masking = state_->options.redact ? secret_masking::by_server : secret_masking::none};
}

hondana::provider_health analyses_provider::health() const {
  const auto problem = state_->problem();
  return problem ? hondana::provider_health{false, problem->public_text} : hondana::provider_health{};
}

std::vector<source_tool> analyses_provider::tools() { return make_tools(state_, watcher_); }

void analyses_provider::set_host(std::shared_ptr<provider_host> host) { watcher_->set_host(std::move(host)); }

void analyses_provider::resource_changed(std::string_view uri) { watcher_->resource_changed(uri); }

namespace {

using provider_clock = monotonic_clock;

constexpr std::size_t index_page_size = 500;
constexpr std::size_t max_index_examined = 20'000;
constexpr std::chrono::seconds validator_ttl{1};

result<std::string> render_text(const address& address, const provider_state& state, const analyses::cache_entry& entry) {
  auto json = state.mask_secrets(entry);
  const bool is_whole_analysis = address.kind == resource_kind::analysis || address.kind == resource_kind::by_prompt;
  if (address.format == output_format::json) {
    if (is_whole_analysis) return json;
    HONDANA_TRY(auto analysis_json, parse_stored(json));
    if (address.kind == resource_kind::flow) return extract_flow(analysis_json).to_text();
    return extract_vote(analysis_json, address.provider).map([](const value& vote) { return vote.to_text(); });
  }
  HONDANA_TRY(auto analysis, decode_stored(json));
  const auto summary = state.mask_secrets(entry.summary);
  if (is_whole_analysis) return to_markdown(summary, analysis, entry.is_stale);
  if (address.kind == resource_kind::flow) return flow_to_markdown(summary, analysis, entry.is_stale);
  const auto vote = std::find_if(analysis.votes.begin(), analysis.votes.end(),
                                 [&](const auto& candidate) { return candidate.provider == address.provider; });
  if (vote != analysis.votes.end()) return vote_to_markdown(summary, *vote);
  // Returns the error that names the existing providers.
  return parse_stored(json)
      .and_then([&](const value& stored) { return extract_vote(stored, address.provider); })
      .map([](const value& extracted) { return extracted.to_text(); });
}

read_result make_read_result(const address& address, std::string text) {
  auto result = text_read_result(std::move(text), std::string(mime_type_of(address.format)));
  result.contents.front().kind = content_kind::text;
  return result;
}

}  // namespace

std::shared_ptr<const cache_validator> analyses_provider::make_validator(const cache_pointer& cache,
                                                                         analysis_validator::snapshot snapshot,
                                                                         const analyses::analysis_summary& summary,
                                                                         bool is_stale) const {
  const auto now = cache->store().now();
  if (!now || !state_->options.watch) return nullptr;
  const auto time_left =
      (summary.status == analyses::analysis_status::complete && !is_stale ? summary.expires_at : summary.removed_at) - *now;
  return std::make_shared<analysis_validator>(
      cache, watcher_->change_counter(), snapshot,
      provider_clock::now() + std::min<provider_clock::duration>(time_left, validator_ttl));
}

result<read_result> analyses_provider::read(const read_request& request) {
  HONDANA_TRY(auto address, parse_address(request.uri));
  HONDANA_TRY(auto cache, state_->get_cache());
  if (address.kind == resource_kind::index) return read_index(request, address, *cache);
  if (address.kind == resource_kind::statistics) return read_statistics(address, *cache);
  const analysis_validator::snapshot snapshot{cache->generation(), watcher_->change_counter()->load()};
  if (address.kind != resource_kind::by_prompt) return read_analysis(request, address, address.id, true, snapshot, cache);
  HONDANA_TRY(const auto match, find_by_prompt(*state_, *watcher_, request, address.prompt_digest, *cache));
  // With scopes, the target of the prompt depends on the caller, so the result must not be cached for others.
  return read_analysis(request, address, match.summary.id, match.is_watched && !request.caller.auth_info, snapshot, cache);
}

result<read_result> analyses_provider::read_analysis(const read_request& request, const address& address, const std::string& id,
                                                     bool is_cacheable, analysis_validator::snapshot snapshot,
                                                     const cache_pointer& cache) const {
  const auto version_text = [&](const analyses::analysis_summary& summary, bool is_stale) {
    return (address.kind == resource_kind::by_prompt ? summary.id + '-' : std::string()) + version_of(summary, is_stale);
  };
  if (request.cached_version) {
    HONDANA_TRY(const auto summary, cache->store().get_summary(id));
    if (!summary) return analysis_not_found();
    const auto now = cache->store().now();
    if (now && version_text(*summary, is_stale_at(*summary, *now)) == *request.cached_version) {
      read_result unchanged;
      unchanged.version = *request.cached_version;
      if (is_cacheable) unchanged.validator = make_validator(cache, snapshot, *summary, is_stale_at(*summary, *now));
      return unchanged;
    }
  }
  HONDANA_TRY(auto stored, cache->get(id));
  if (!stored) return analysis_not_found();
  const auto& entry = *stored;
  HONDANA_TRY(auto text, render_text(address, *state_, entry));
  auto result = make_read_result(address, std::move(text));
  result.version = version_text(entry.summary, entry.is_stale);
  if (is_cacheable) result.validator = make_validator(cache, snapshot, entry.summary, entry.is_stale);
  if (address.kind == resource_kind::by_prompt)
    result.contents.front().metadata.emplace_back("dev.hondana/analysis", analysis_uri(id));
  return result;
}

result<read_result> analyses_provider::read_index(const read_request& request, const address& address,
                                                  analyses::cache& cache) const {
  analyses::list_filter filter;
  filter.session = address.session;
  filter.tag = address.tag;
  filter.task = address.task;
  const auto now = approximate_now();
  std::vector<analyses::analysis_summary> summaries;
  auto after_id = address.after_id;
  bool has_more = true;
  // Entries that the caller may not see are skipped. The number of entries checked is limited.
  for (std::size_t examined = 0; has_more && summaries.size() <= address.limit && examined < max_index_examined;) {
    if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    auto page = cache.store().list(filter, after_id, index_page_size);
    if (!page) return tl::unexpected(std::move(page.error()));
    examined += index_page_size;
    has_more = !page->is_last;
    after_id = page->next;
    for (auto& summary : page->summaries) {
      if (state_->may_read(request.caller, make_entry(summary, now)))
        summaries.push_back(state_->mask_secrets(std::move(summary)));
      if (summaries.size() > address.limit) break;
    }
  }
  has_more = has_more || summaries.size() > address.limit;
  if (summaries.size() > address.limit) {
    summaries.resize(address.limit);
    after_id = summaries.back().id;
  }
  auto next_page = address;
  next_page.after_id = after_id;
  const auto next_uri = has_more ? index_page_uri(next_page) : std::string();
  return make_read_result(address, address.format == output_format::json ? index_to_value(summaries, now, next_uri).to_text()
                                                                         : index_to_markdown(summaries, now, next_uri));
}

result<read_result> analyses_provider::read_statistics(const address& address, const analyses::cache& cache) const {
  HONDANA_TRY(const auto statistics, cache.read_statistics());
  HONDANA_TRY(const auto info, cache.store().read_info());
  return make_read_result(
      address, address.format == output_format::json ? to_value(statistics, info).to_text() : to_markdown(statistics, info));
}

namespace {

using name_kind = analyses::analysis_store::name_kind;

constexpr std::size_t max_completions = 100;
/// The newest analyses that are checked, if access must be checked for each.
constexpr std::size_t max_completion_examined = 2'000;
/// The same limit if contents must be read, too.
constexpr std::size_t max_completion_opened = 50;

using predicate = std::function<bool(const analyses::analysis_summary&)>;

/// Calls `visitor` for the newest analyses for which `is_visible` returns true, until `visitor` returns false.
result<void> for_each_visible(const complete_request& request, const analyses::cache& cache, const predicate& is_visible,
                              const predicate& visitor) {
  constexpr std::size_t completion_page_size = 500;
  std::string after_id;
  for (std::size_t examined = 0; examined < max_completion_examined;) {
    const auto page = cache.store().list({}, after_id, completion_page_size);
    if (!page) return tl::unexpected(page.error());
    for (const auto& summary : page->summaries) {
      if (is_visible(summary) && !visitor(summary)) return {};
    }
    examined += completion_page_size;
    after_id = page->next;
    if (page->is_last || request.stop.stop_requested()) break;
  }
  return {};
}

result<std::vector<std::string>> collect_texts(const complete_request& request, const analyses::cache& cache,
                                               const predicate& is_visible,
                                               const std::function<std::string(const analyses::analysis_summary&)>& to_text) {
  std::vector<std::string> out;
  std::set<std::string, std::less<>> seen_texts;
  auto visited = for_each_visible(request, cache, is_visible, [&](const analyses::analysis_summary& summary) {
    auto text = to_text(summary);
    if (!text.empty() && seen_texts.insert(text).second) out.push_back(std::move(text));
    return true;
  });
  if (!visited) return tl::unexpected(std::move(visited.error()));
  return out;
}

result<void> add_providers(const analyses::cache& cache, const std::string& id, std::set<std::string, std::less<>>& names) {
  HONDANA_TRY(const auto stored, cache.get(id));
  if (!stored) return {};
  const auto analysis = analyses::decode_analysis(*stored);
  if (!analysis) return tl::unexpected(analysis.error());
  for (const auto& vote : analysis->votes) names.insert(vote.provider);
  return {};
}

result<std::vector<std::string>> complete_providers(const complete_request& request, const analyses::cache& cache,
                                                    const predicate& is_readable) {
  std::set<std::string, std::less<>> names;
  const auto id = request.context_value("id");
  result<void> status;
  if (is_id(id)) {
    HONDANA_TRY(const auto summary, cache.store().get_summary(id));
    if (summary && is_readable(*summary)) status = add_providers(cache, id, names);
  } else {
    std::size_t opened = 0;
    result<void> added;
    status = for_each_visible(request, cache, is_readable, [&](const analyses::analysis_summary& summary) {
      added = add_providers(cache, summary.id, names);
      return added && ++opened < max_completion_opened;
    });
    if (status) status = std::move(added);
  }
  if (!status) return tl::unexpected(std::move(status.error()));
  return std::vector<std::string>(names.begin(), names.end());
}

result<std::vector<std::string>> complete_values(const complete_request& request, const provider_state& state,
                                                 const analyses::cache& cache) {
  const auto& name = request.argument;
  const bool sees_all = request.caller.access_filter == nullptr;
  const auto now = approximate_now();
  const predicate is_visible = [&](const analyses::analysis_summary& summary) {
    return provider_state::may_see(request.caller, make_entry(summary, now));
  };
  // Except for ids, the values come from the contents of analyses, so the caller must be able to read them.
  const predicate is_readable = [&](const analyses::analysis_summary& summary) {
    return state.may_read(request.caller, make_entry(summary, now)).has_value();
  };
  if (name == "id" || name == "after") {
    if (sees_all) return cache.store().list_names(name_kind::id, request.value, max_completions);
    return collect_texts(request, cache, is_visible, [](const analyses::analysis_summary& summary) { return summary.id; });
  }
  if (name == "session") {
    if (sees_all) return cache.store().list_names(name_kind::session, request.value, max_completions);
    return collect_texts(request, cache, is_readable,
                         [](const analyses::analysis_summary& summary) { return summary.session; });
  }
  if (name == "provider") {
    if (sees_all && !is_id(request.context_value("id")))
      return cache.store().list_names(name_kind::provider, request.value, max_completions);
    return complete_providers(request, cache, is_readable);
  }
  // A summary does not contain the tags. So a caller that may not see all analyses gets no tags.
  if (name == "tag") {
    if (sees_all) return cache.store().list_names(name_kind::tag, request.value, max_completions);
    return std::vector<std::string>();
  }
  if (name == "digest")
    return collect_texts(request, cache, is_readable, [](const analyses::analysis_summary& summary) {
      return analyses::digest_to_hex(summary.key.prompt_digest);
    });
  return std::vector<std::string>();
}

}  // namespace

result<complete_result> complete_argument(const complete_request& request, const provider_state& state,
                                          analyses::cache& cache) {
  HONDANA_TRY(auto values, complete_values(request, state, cache));
  return complete_from(request.value, values);
}

result<complete_result> analyses_provider::complete(const complete_request& request) {
  static const std::vector<std::string> formats{"markdown", "json"};
  static const std::vector<std::string> tasks{"basic", "premium", "critical"};
  static const std::vector<std::string> limits{"10", "50", "100", "500"};
  if (request.argument == "format") return complete_from(request.value, formats);
  if (request.argument == "task") return complete_from(request.value, tasks);
  if (request.argument == "limit") return complete_from(request.value, limits);
  HONDANA_TRY(auto cache, state_->get_cache());
  return complete_argument(request, *state_, *cache);
}

}  // namespace hondana::analyses_source

// This folder's name, as the table of providers spells it.
namespace hondana::analyses {

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  auto parsed = analyses_source::parse_settings(section);
  if (!parsed) return tl::unexpected(std::move(parsed.error()));
  auto requirements = analyses_source::requirements_of(*parsed);
  if (!requirements)
    return tl::unexpected(section.error_at(parsed->redis ? "redis_url" : "store", requirements.error().public_text));
  // Create the folder now: the sandbox gives write access only to folders that exist when it starts.
  if (!parsed->redis && !parsed->path.empty()) {
    const auto folder = std::filesystem::path(parsed->path).parent_path().string();
    if (auto created = disk::make_private_folder(folder); !created)
      return tl::unexpected(section.error_at("store", created.error().public_text));
  }
  analyses_source::provider_options options;
  options.requirements = std::move(*requirements);
  options.redact = parsed->redact;
  options.watch = parsed->watch;
  options.check_interval = parsed->check_interval;
  options.log = log;
  options.open_cache = [settings = std::move(*parsed), log] { return analyses_source::open_cache(settings, log); };
  return std::make_shared<analyses_source::analyses_provider>(std::move(options));
}

scheme_documentation describe_scheme() { return analyses_source::make_documentation(); }

}  // namespace hondana::analyses

/// Finds and deletes analyses for a caller, within the caller's access rights.
#include "sources/analyses/analysis_lookup.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/context_watcher.hpp"

namespace hondana::analyses_source {
namespace {

/// For one prompt: the newest analyses that are considered, and how many of these are opened to check their context.
constexpr std::size_t max_examined_per_prompt = 20'000;
constexpr std::size_t max_opened_per_prompt = 200;
constexpr std::size_t lookup_page_size = 200;

struct context_status {
  bool is_current = true;
  bool is_watched = false;
};

result<context_status> check_context(const provider_state& state, context_watcher& watcher, const request_context& request,
                                     const analyses::cache_entry& entry) {
  HONDANA_TRY(const auto analysis, analyses::decode_analysis(entry));
  const auto& context = analysis.question.context;
  if (context.empty()) return context_status{true, true};
  std::vector<std::string> changed_uris;
  // Read before the versions are checked, so that later changes are noticed.
  const bool is_watched = watcher.is_watching(context);
  const auto is_current = are_versions_current(state, watcher, request, context, changed_uris);
  if (is_current && *is_current) return context_status{true, is_watched};
  for (const auto& uri : changed_uris) {
    watcher.watch_resource(uri);
    watcher.resource_changed(uri);
  }
  if (!is_current) return tl::unexpected(is_current.error());
  return context_status{false, false};
}

}  // namespace

bool is_stale_at(const analyses::analysis_summary& summary, analyses::instant now) {
  return summary.status == analyses::analysis_status::complete && summary.expires_at <= now;
}

tl::unexpected<failure> analysis_not_found() {
  return fail(errc::resource_not_found,
              "Analysis not found: it was deleted, its context changed or is not served here, you may not read it, or it never "
              "existed. wallbounce://analyses lists analyses.");
}

result<bool> is_context_current(const provider_state& state, context_watcher& watcher, const request_context& request,
                                const analyses::cache_entry& entry) {
  return check_context(state, watcher, request, entry).map([](const context_status& status) { return status.is_current; });
}

result<prompt_match> find_by_prompt(const provider_state& state, context_watcher& watcher, const request_context& request,
                                    const std::string& prompt_digest, const analyses::cache& cache) {
  analyses::list_filter filter;
  filter.prompt_digest = prompt_digest;
  HONDANA_TRY(const auto now, cache.store().now());
  std::optional<failure> access_error;
  const auto match_if_current = [&](const analyses::analysis_summary& summary) -> result<std::optional<prompt_match>> {
    HONDANA_TRY(const auto entry, cache.get(summary.id));
    if (!entry) return std::nullopt;
    return check_context(state, watcher, request, *entry).map([&](const context_status& status) {
      return status.is_current ? std::optional(prompt_match{summary, status.is_watched}) : std::nullopt;
    });
  };
  // Fresh analyses come first, then the newest. Analyses that are not final, and those that the caller may not read, are judged
  // by their summary only.
  std::vector<analyses::analysis_summary> stale;
  std::size_t opened = 0;
  std::string after_id;
  bool has_more = true;
  for (std::size_t examined = 0; has_more && examined < max_examined_per_prompt && opened < max_opened_per_prompt;
       examined += lookup_page_size) {
    HONDANA_TRY(check_cancellation(request));
    auto page = cache.store().list(filter, after_id, lookup_page_size);
    if (!page) return tl::unexpected(std::move(page.error()));
    has_more = !page->is_last;
    after_id = page->next;
    for (const auto& summary : page->summaries) {
      if (summary.status != analyses::analysis_status::complete || opened == max_opened_per_prompt) continue;
      const bool is_stale = is_stale_at(summary, now);
      if (is_stale && stale.size() == max_opened_per_prompt) continue;
      if (auto access = state.may_read(request.caller, make_entry(summary, now)); !access) {
        access_error = std::move(access.error());
      } else if (is_stale) {
        stale.push_back(summary);
      } else {
        ++opened;
        HONDANA_TRY(auto match, match_if_current(summary));
        if (match) return std::move(*match);
      }
    }
  }
  for (const auto& summary : stale) {
    HONDANA_TRY(auto match, match_if_current(summary));
    if (match) return std::move(*match);
  }
  if (access_error && access_error->code == errc::insufficient_scope) return tl::unexpected(std::move(*access_error));
  return fail(errc::resource_not_found,
              "Prompt not found: there is no final analysis of it with an unchanged context. The tool analysis_claim says "
              "whether another caller is computing one, or returns a ticket to compute it.");
}

namespace {

constexpr std::size_t erase_page_size = 500;

tl::unexpected<failure> erase_timed_out(std::uint64_t erased_count) {
  return fail(errc::timed_out, "Too many analyses to check within the timeout of one call: " + std::to_string(erased_count) +
                                   " were deleted. Retry with a session or a tag, or by uri, one at a time.");
}

result<std::uint64_t> erase_one(analyses::cache& cache, const std::string& id) {
  analyses::erase_filter filter;
  filter.id = id;
  return cache.erase(filter);
}

/// Deletes analyses that a caller may read, until its deadline.
class readable_eraser {
 public:
  readable_eraser(const provider_state& state, const request_context& request, analyses::cache& cache)
      : state_(state), request_(request), cache_(cache) {}

  /// Deletes page by page. `read_page` reads the page after a position. Errors: cancelled; timed_out, saying how many were
  /// deleted.
  template <class Position, class PageReader>
  [[nodiscard]] result<std::uint64_t> erase_pages(const PageReader& read_page) {
    for (Position position;;) {
      HONDANA_TRY(check_deadline());
      HONDANA_TRY(const auto page, read_page(position));
      HONDANA_TRY(erase(page.summaries));
      if (page.is_last) return erased_count_;
      position = page.next;
    }
  }

 private:
  [[nodiscard]] result<void> check_deadline() const {
    if (request_.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (monotonic_clock::now() >= request_.deadline) return erase_timed_out(erased_count_);
    return {};
  }
  [[nodiscard]] result<void> erase(const std::vector<analyses::analysis_summary>& summaries) {
    for (const auto& summary : summaries) {
      HONDANA_TRY(check_deadline());
      if (!state_.may_read(request_.caller, make_entry(summary, approximate_now()))) continue;
      HONDANA_TRY(const auto erased_count, erase_one(cache_, summary.id));
      erased_count_ += erased_count;
    }
    return {};
  }

  const provider_state& state_;
  const request_context& request_;
  analyses::cache& cache_;
  std::uint64_t erased_count_ = 0;
};

/// Deletes all analyses of a selection that the caller may read.
result<std::uint64_t> erase_readable(const provider_state& state, const request_context& request,
                                     const analyses::list_filter& filter, analyses::cache& cache) {
  return readable_eraser(state, request, cache).erase_pages<std::string>([&](const auto& position) {
    return cache.store().list(filter, position, erase_page_size);
  });
}

/// Deletes all analyses based on a resource that the caller may read.
result<std::uint64_t> erase_readable_by_context(const provider_state& state, const request_context& request,
                                                const std::string& context_uri, analyses::cache& cache) {
  return readable_eraser(state, request, cache)
      .erase_pages<analyses::analysis_store::resource_position>(
          [&](const auto& position) { return cache.store().list_by_resource(context_uri, position, erase_page_size); });
}

}  // namespace

result<analysis_selector> parse_selector(const value& arguments) {
  const auto text = [&arguments](std::string_view name) {
    const auto* argument = arguments.find(name);
    const auto* text_value = argument == nullptr ? nullptr : argument->as_string();
    return text_value == nullptr ? std::string() : *text_value;
  };
  analysis_selector out;
  out.session = text("session");
  out.tag = text("tag");
  out.prompt_digest = analyses::digest_from_hex(text("digest")).value_or(std::string());
  if (const auto uri = text("uri"); !uri.empty()) {
    const auto address =
        canonical_uri(uri).and_then([](const std::string& canonical_text) { return parse_address(canonical_text); });
    if (!address || address->kind != resource_kind::analysis)
      return fail(errc::invalid_argument,
                  "uri: expected wallbounce://analyses/ID; for several analyses, give digest, session, tag or context");
    out.id = address->id;
  }
  if (const auto uri = text("context"); !uri.empty()) {
    auto canonical = canonical_uri(uri);
    if (!canonical) return fail(errc::invalid_argument, "context: " + canonical.error().public_text);
    out.context_uri = std::move(*canonical);
  }
  const std::array fields{&out.id, &out.session, &out.tag, &out.prompt_digest, &out.context_uri};
  const auto count = std::count_if(fields.begin(), fields.end(), [](const std::string* field) { return !field->empty(); });
  if (count != 1)
    return fail(errc::invalid_argument,
                "Give one of uri (wallbounce://analyses/ID), session, tag, digest (of a prompt) and context (the URI of a "
                "resource that analyses are based on); " +
                    (count == 0 ? "none of them was given." : std::to_string(count) + " of them were given."));
  return out;
}

result<std::uint64_t> erase_analyses(const provider_state& state, const request_context& request,
                                     const analysis_selector& selector, analyses::cache& cache) {
  if (!selector.id.empty()) {
    HONDANA_TRY(const auto summary, cache.store().get_summary(selector.id));
    if (!summary) return tl::unexpected(analysis_not_found());
    if (auto access = state.may_read(request.caller, make_entry(*summary, approximate_now())); !access) {
      if (access.error().code == errc::insufficient_scope) return tl::unexpected(std::move(access.error()));
      return tl::unexpected(analysis_not_found());
    }
    return erase_one(cache, selector.id);
  }
  if (!selector.context_uri.empty()) {
    resource context_entry;
    context_entry.uri = selector.context_uri;
    HONDANA_TRY(state.may_read(request.caller, context_entry));
  }
  analyses::list_filter selection;
  selection.session = selector.session;
  selection.tag = selector.tag;
  selection.prompt_digest = selector.prompt_digest;
  // The store cannot delete by the digest of a prompt: its keys are digests of whole questions.
  if (request.caller.access_filter || request.caller.auth_info || !selector.prompt_digest.empty())
    return selector.context_uri.empty() ? erase_readable(state, request, selection, cache)
                                        : erase_readable_by_context(state, request, selector.context_uri, cache);
  analyses::erase_filter filter;
  filter.session = selector.session;
  filter.tag = selector.tag;
  filter.uri = selector.context_uri;
  return cache.erase(filter);
}

}  // namespace hondana::analyses_source

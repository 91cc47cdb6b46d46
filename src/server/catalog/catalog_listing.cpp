/// Lists resources, children of folders and skills, merged from all sources.

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "server/catalog/catalog.hpp"
#include "server/catalog/cursor.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/secret_masking.hpp"
#include "server/catalog/source_call.hpp"

namespace hondana::catalog {
namespace {

/// Limits of one page of a filtered list, per source: examined entries, bytes compared by patterns, and time.
constexpr std::size_t max_examined = 10'000;
constexpr std::uint64_t max_match_steps = 20'000'000;
constexpr std::chrono::milliseconds max_filter_time{250};

bool precedes(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

}  // namespace

/// Produces one page.
///
/// It first lists only the source with the next entries, because claims rarely interleave and its page usually is the answer.
/// If it does not fill the page, all sources behind it are listed at the same time.
class catalog::page_builder : public std::enable_shared_from_this<page_builder> {
 public:
  page_builder(std::shared_ptr<const catalog> catalog, const request_context& context, std::string after_key,
               std::uint64_t scope, std::shared_ptr<const list_filter> filter, std::size_t limit,
               completion<model::resource_page> callback)
      : catalog_(std::move(catalog)),
        context_(context),
        after_key_(std::move(after_key)),
        scope_(scope),
        filter_(std::move(filter)),
        limit_(limit),
        callback_(std::move(callback)) {}

  void start() {
    if (!filter_->is_unsatisfiable()) find_ranges();
    if (ranges_.empty()) return finish({});
    const bool is_separate = ranges_.size() == 1 || precedes(after_key_, ranges_[1].start);
    collect(0, is_separate ? 1 : ranges_.size());
  }

 private:
  /// A source that may have entries after the key, and the smallest URI that they can have.
  struct source_range {
    std::shared_ptr<source> owner;
    std::string_view start;  // a claim, or `after_key_` itself
  };

  void find_ranges() {
    const std::string_view prefix = filter_->prefix();
    for (const auto& route : catalog_->routes_) {
      if (!route.prefix.starts_with(prefix) && !prefix.starts_with(route.prefix)) continue;
      const bool is_ahead = after_key_.empty() || precedes(after_key_, route.prefix);
      // URIs that start with a claim are contiguous in segment order. So if the key does not start with the claim, all of them
      // precede the key.
      if (!is_ahead && !after_key_.starts_with(route.prefix)) continue;
      const auto existing =
          std::find_if(ranges_.begin(), ranges_.end(), [&](const source_range& range) { return range.owner == route.owner; });
      if (existing == ranges_.end()) ranges_.push_back({route.owner, is_ahead ? std::string_view(route.prefix) : after_key_});
    }
  }

  /// Lists the sources from `first` up to `last`, then continues in `on_collected`.
  void collect(std::size_t first, std::size_t last) {
    const auto builder = shared_from_this();
    const auto collector = std::make_shared<page_collector<list_result>>(
        last - first,
        [builder, last](result<std::vector<list_result>> pages) { builder->on_collected(std::move(pages), last); });
    for (auto index = first; index < last; ++index) {
      auto opened = ranges_[index].owner->open(operation::list, context_);
      call_source<list_result>(
          *ranges_[index].owner, context_, catalog_->timers_,
          [builder, source = ranges_[index].owner, context = std::move(opened.context)] {
            return builder->page_of(source, context);
          },
          [collector, position = index - first](result<list_result> page) { collector->accept(position, std::move(page)); },
          opened.record, make_job_kind(operation::list, filter_->accepts_all() ? std::string_view() : "filtered"));
    }
  }

  /// The source's next entries that pass the filter. Lists repeatedly, until there are enough entries or a limit is reached.
  result<list_result> page_of(const std::shared_ptr<source>& source, const request_context& context) const {
    if (filter_->accepts_all()) return checked_page_of(source, context, after_key_);
    const auto deadline = executor::clock::now() + max_filter_time;
    list_result accepted;
    std::size_t examined = 0;
    std::uint64_t steps = 0;
    const auto is_complete = [&] {
      return accepted.entries.size() == limit_ || examined >= max_examined || steps >= max_match_steps;
    };
    for (auto key = after_key_;;) {
      auto page = checked_page_of(source, context, key);
      if (!page) return page;
      for (std::size_t index = 0; index < page->entries.size(); ++index) {
        auto& entry = page->entries[index];
        if (is_past_prefix(entry.uri)) return accepted;
        ++examined;
        key = entry.uri;
        if (filter_->matches(entry, steps)) accepted.entries.push_back(std::move(entry));
        if (index + 1 < page->entries.size() && is_complete()) {
          accepted.next_key = std::move(key);
          return accepted;
        }
      }
      if (!page->next_key || is_past_prefix(*page->next_key)) return accepted;
      key = std::move(*page->next_key);
      if (is_complete() || executor::clock::now() >= deadline) {
        accepted.next_key = std::move(key);
        return accepted;
      }
      if (context_.stop.stop_requested()) return tl::unexpected(cancelled_error());
    }
  }

  /// Whether a key follows all URIs that the filter's prefix permits.
  [[nodiscard]] bool is_past_prefix(std::string_view key) const {
    const std::string_view prefix = filter_->prefix();
    return !key.starts_with(prefix) && precedes(prefix, key);
  }

  result<list_result> checked_page_of(const std::shared_ptr<source>& source, const request_context& context,
                                      const std::string& after_key) const {
    // A filter needs full pages of the source.
    const list_request request{context, after_key, filter_->accepts_all() ? limit_ : catalog_->limits_.page_size};
    auto page = source->get_provider()->list(request);
    if (!page) return page;
    const auto is_claimed = [&](std::string_view uri) {
      const auto* route = catalog_->route_of(uri);
      return route != nullptr && route->owner == source;
    };
    HONDANA_TRY(check_page(*page, request, source->get_provider()->name(), is_claimed));
    apply_filter(*page, context_.caller.access_filter.get(), *catalog_->gate_);
    mask_secrets(source->masking(), page->entries);
    catalog_->redact(context_.caller, page->entries);  // before the filter, whose results would otherwise reveal hidden words
    return page;
  }

  void on_collected(result<std::vector<list_result>> pages, std::size_t requested) {
    if (!pages) return callback_(tl::unexpected(std::move(pages.error())));
    for (auto& page : *pages) pages_.push_back(std::move(page));
    if (requested < ranges_.size()) {
      if (!fills_page(pages_.front(), ranges_[requested].start)) return collect(requested, ranges_.size());
    }
    finish(merge(std::move(pages_), limit_));
  }

  /// Whether the page of the first source, without entries from `bound` on, is the answer. If so, sets where the next page
  /// starts.
  bool fills_page(list_result& page, std::string_view bound) const {
    const auto end = std::find_if(page.entries.begin(), page.entries.end(),
                                  [bound](const resource& entry) { return !precedes(entry.uri, bound); });
    const auto usable = static_cast<std::size_t>(end - page.entries.begin());
    const bool is_full = usable >= limit_;
    const bool stops_short = page.next_key && precedes(*page.next_key, bound);
    if (!is_full && !stops_short) return false;
    if (!stops_short) page.next_key = page.entries.back().uri;
    return true;
  }

  void finish(list_result merged) {
    model::resource_page page;
    page.resources = std::move(merged.entries);
    if (merged.next_key) {
      page.next_cursor = write_cursor(scope_, *merged.next_key, catalog_->sealer_for(context_.caller));
    }
    page.cache.is_private = is_caller_specific(context_.caller);
    page.validator = std::move(merged.validator);
    callback_(std::move(page));
  }

  std::shared_ptr<const catalog> catalog_;
  request_context context_;
  std::string after_key_;
  std::uint64_t scope_;
  std::shared_ptr<const list_filter> filter_;
  std::size_t limit_;
  completion<model::resource_page> callback_;
  std::vector<source_range> ranges_;  // in the order of `start`
  std::vector<list_result> pages_;
};

void catalog::list(const request_context& context, const std::optional<std::string>& cursor,
                   std::shared_ptr<const list_filter> filter, std::size_t limit,
                   completion<model::resource_page> callback) const {
  const auto scope = cursor_scope("resources", filter->digest(), context.caller.access_filter.get());
  auto after_key = key_before(filter->prefix());
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(context.caller));
    if (!key) return callback(tl::unexpected(std::move(key.error())));
    if (precedes(after_key, *key)) after_key = std::move(*key);
  }
  limit = std::clamp<std::size_t>(limit, 1, limits_.page_size);
  std::make_shared<page_builder>(shared_from_this(), context, std::move(after_key), scope, std::move(filter), limit,
                                 std::move(callback))
      ->start();
}

void catalog::children(const request_context& context, std::string uri, const std::optional<std::string>& cursor,
                       completion<model::directory_page> callback) const {
  // Hidden and missing folders get the same answer, so that they cannot be distinguished.
  const auto not_found = [](std::string private_text) {
    return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
  };
  const auto* route = route_of(uri);
  if (route == nullptr) return callback(not_found({}));
  if (uri.ends_with('/') && uri != route->prefix) uri.pop_back();
  // The folder is part of the cursor's scope, so that a cursor of another folder is rejected.
  const auto scope = cursor_scope("children", uri, context.caller.access_filter.get());
  std::string after_key;
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(context.caller));
    if (!key) return callback(tl::unexpected(std::move(key.error())));
    after_key = std::move(*key);
  }
  auto opened = route->owner->open(operation::children, context);
  const auto kind = make_job_kind(operation::children, uri);
  auto job = [catalog_ptr = shared_from_this(), source = route->owner, scope, not_found,
              request = children_request{std::move(opened.context), std::move(uri), std::move(after_key),
                                         limits_.page_size}]() -> result<model::directory_page> {
    HONDANA_TRY(const auto granted, catalog_ptr->grants(request, request.uri, purpose::seeing));
    if (!granted) return not_found({});
    auto* const folders = source->capabilities().folders;
    if (folders == nullptr) {
      return fail(errc::unsupported,
                  "The source \"" + source->get_provider()->name() + "\" does not list folders. Use resources/list.");
    }
    auto listed = folders->children(request);
    if (!listed && listed.error().code == errc::resource_not_found) return not_found(std::move(listed.error().private_text));
    if (!listed) return tl::unexpected(std::move(listed.error()));
    const auto is_claimed = [&](std::string_view child_uri) {
      const auto* child_route = catalog_ptr->route_of(child_uri);
      return child_route != nullptr && child_route->owner == source;
    };
    const list_request list_query{static_cast<const request_context&>(request), request.after_key, request.limit};
    HONDANA_TRY(check_page(*listed, list_query, source->get_provider()->name(), is_claimed));
    apply_filter(*listed, request.caller.access_filter.get(), *catalog_ptr->gate_);
    mask_secrets(source->masking(), listed->entries);
    catalog_ptr->redact(request.caller, listed->entries);
    model::directory_page page;
    page.resources = std::move(listed->entries);
    if (listed->next_key) page.next_cursor = write_cursor(scope, *listed->next_key, catalog_ptr->sealer_for(request.caller));
    return page;
  };
  call_source<model::directory_page>(*route->owner, context, timers_, std::move(job), std::move(callback), opened.record, kind);
}

namespace {

/// Limit of files on a page of skills, about a megabyte of digests. A single skill may exceed it.
constexpr std::size_t max_page_files = 8192;
/// Limit of front matter on a page of skills, in bytes of JSON. A single skill may exceed it.
constexpr std::size_t max_page_frontmatter_bytes = 1u << 20;

/// The keys of a page of skills, so that `check_page` and `merge` apply to them.
list_result keys_of(const skills_result& page) {
  list_result keys;
  for (const auto& skill : page.skills) keys.entries.push_back({.uri = skill.uri});
  keys.next_key = page.next_key;
  return keys;
}

/// Merges checked pages of several sources into one.
skills_result merge_skills(std::vector<skills_result> pages, std::size_t limit) {
  std::vector<list_result> keys;
  std::vector<skill> skills;
  for (auto& page : pages) {
    keys.push_back(keys_of(page));
    std::move(page.skills.begin(), page.skills.end(), std::back_inserter(skills));
  }
  std::sort(skills.begin(), skills.end(),
            [](const skill& a, const skill& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  auto order = merge(std::move(keys), limit);
  // The merged keys are a prefix of the sorted skills.
  skills.resize(order.entries.size());
  skills_result merged{std::move(skills), std::move(order.next_key)};
  std::size_t files = 0;
  std::size_t frontmatter_bytes = 0;
  for (std::size_t i = 0; i < merged.skills.size(); ++i) {
    const auto& skill = merged.skills[i];
    files += skill.files ? skill.files->size() : 0;
    frontmatter_bytes += skill.frontmatter.to_text().size();
    if ((files <= max_page_files && frontmatter_bytes <= max_page_frontmatter_bytes) || i == 0) continue;
    merged.next_key = merged.skills[i - 1].uri;
    merged.skills.resize(i);
  }
  return merged;
}

}  // namespace

result<bool> catalog::filter_files(const request_context& context, skill& skill) const {
  if (!context.caller.access_filter) return true;
  auto granted = grants(context, skill.uri, purpose::reading);
  if (!granted || !*granted || !skill.files) return granted;
  std::vector<skill_file> visible;
  for (auto& file : *skill.files) {
    const auto is_visible = grants(context, file.uri, purpose::reading);
    if (!is_visible) return is_visible;
    if (*is_visible) visible.push_back(std::move(file));
  }
  *skill.files = std::move(visible);
  return true;
}

namespace {

bool has_skill_source(const std::shared_ptr<source>& source) { return source->capabilities().skills != nullptr; }

}  // namespace

bool catalog::has_skills() const { return std::any_of(sources_.begin(), sources_.end(), has_skill_source); }

bool catalog::has_folders() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source->capabilities().folders != nullptr; });
}

void catalog::skills(const request_context& context, const std::optional<std::string>& cursor,
                     completion<model::skill_page> callback) const {
  const auto scope = cursor_scope("skills", "", context.caller.access_filter.get());
  const bool is_private = is_caller_specific(context.caller);
  std::string after_key;
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(context.caller));
    if (!key) return callback(tl::unexpected(std::move(key.error())));
    after_key = std::move(*key);
  }
  std::vector<std::shared_ptr<source>> skill_sources;
  std::copy_if(sources_.begin(), sources_.end(), std::back_inserter(skill_sources), has_skill_source);
  if (skill_sources.empty()) return callback(model::skill_page{{}, {}, {{}, is_private}});
  const auto collector = std::make_shared<page_collector<skills_result>>(
      skill_sources.size(), [scope, is_private, this_catalog = shared_from_this(), caller = context.caller,
                             deliver = std::move(callback)](result<std::vector<skills_result>> pages) {
        if (!pages) return deliver(tl::unexpected(std::move(pages.error())));
        auto merged = merge_skills(std::move(*pages), this_catalog->limits_.page_size);
        model::skill_page page{std::move(merged.skills), {}, {{}, is_private}};
        if (merged.next_key) page.next_cursor = write_cursor(scope, *merged.next_key, this_catalog->sealer_for(caller));
        deliver(std::move(page));
      });
  for (std::size_t position = 0; position < skill_sources.size(); ++position) {
    auto opened = skill_sources[position]->open(operation::skills, context);
    auto job = [catalog_ptr = shared_from_this(), source = skill_sources[position],
                request = list_request{std::move(opened.context), after_key, limits_.page_size}]() -> result<skills_result> {
      auto page = source->capabilities().skills->skills(request);
      if (!page) return page;
      const auto is_claimed = [&](std::string_view uri) {
        const auto* route = catalog_ptr->route_of(uri);
        return route != nullptr && route->owner == source;
      };
      HONDANA_TRY(check_page(keys_of(*page), request, source->get_provider()->name(), is_claimed));
      skills_result visible{{}, std::move(page->next_key)};
      for (auto& skill : page->skills) {
        HONDANA_TRY(const auto is_visible, catalog_ptr->filter_files(request, skill));
        if (!is_visible || !catalog_ptr->check_scopes(request.caller, skill.uri)) continue;
        mask_secrets(source->masking(), skill);
        visible.skills.push_back(std::move(skill));
      }
      return visible;
    };
    call_source<skills_result>(
        *skill_sources[position], context, timers_, std::move(job),
        [collector, position](result<skills_result> page) { collector->accept(position, std::move(page)); }, opened.record);
  }
}

void catalog::find_skill(const request_context& context, std::string uri, std::string requested_uri,
                         completion<model::skill_answer> callback) const {
  const auto unknown = [requested_uri](std::string private_text) {
    return fail(errc::invalid_argument,
                "Unknown skill: " + requested_uri + ". Use the uri of an entry of skills/list, which ends in /SKILL.md.",
                std::move(private_text));
  };
  const auto* route = route_of(uri);
  if (route == nullptr || !has_skill_source(route->owner)) return callback(unknown({}));
  auto opened = route->owner->open(operation::find_skill, context);
  auto job = [catalog_ptr = shared_from_this(), source = route->owner, unknown,
              request = skill_request{std::move(opened.context), std::move(uri)}]() -> result<model::skill_answer> {
    HONDANA_TRY(catalog_ptr->check_scopes(request.caller, request.uri));
    HONDANA_TRY(const auto granted, catalog_ptr->grants(request, request.uri, purpose::reading));
    if (!granted) return unknown({});
    auto skill = source->capabilities().skills->find_skill(request);
    if (!skill && skill.error().code == errc::resource_not_found) return unknown(std::move(skill.error().private_text));
    if (!skill) return tl::unexpected(std::move(skill.error()));
    HONDANA_TRY(const auto is_visible, catalog_ptr->filter_files(request, *skill));
    if (!is_visible) return unknown({});
    HONDANA_TRY(catalog_ptr->check_scopes(request.caller, skill->uri));
    mask_secrets(source->masking(), *skill);
    return model::skill_answer{std::move(*skill), {{}, is_caller_specific(request.caller)}};
  };
  call_source<model::skill_answer>(*route->owner, context, timers_, std::move(job), std::move(callback), opened.record);
}

}  // namespace hondana::catalog

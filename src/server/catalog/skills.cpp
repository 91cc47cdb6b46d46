/// Listing and finding skills.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "server/catalog/catalog.hpp"
#include "server/catalog/cursor.hpp"
#include "server/catalog/gathering.hpp"
#include "server/catalog/masking.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/owed.hpp"

namespace hondana::catalog {
namespace {

/// A page of skills has at most so many files, about a megabyte of digests, unless its only skill has more.
constexpr std::size_t files_a_page = 8192;
/// And its frontmatter has at most so many bytes of JSON, unless that of its only skill has more.
constexpr std::size_t frontmatter_bytes_a_page = 1u << 20;

/// The keys of a page of skills, for the rules that all pages are checked and merged by.
list_result keys_of(const skills_result& page) {
  list_result keys;
  for (const auto& one : page.skills) keys.entries.push_back({.uri = one.uri});
  keys.resume = page.resume;
  return keys;
}

/// Merges pages of several sources, all checked, into one.
skills_result merge_skills(std::vector<skills_result> pages, std::size_t limit) {
  std::vector<list_result> keys;
  std::vector<skill> all;
  for (auto& page : pages) {
    keys.push_back(keys_of(page));
    std::move(page.skills.begin(), page.skills.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(),
            [](const skill& a, const skill& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  auto order = merge(std::move(keys), limit);
  // What was merged is the front of what there is.
  all.resize(order.entries.size());
  skills_result merged{std::move(all), std::move(order.resume)};
  std::size_t files = 0;
  std::size_t frontmatter_bytes = 0;
  for (std::size_t i = 0; i < merged.skills.size(); ++i) {
    const auto& one = merged.skills[i];
    files += one.files ? one.files->size() : 0;
    frontmatter_bytes += one.frontmatter.to_text().size();
    if ((files <= files_a_page && frontmatter_bytes <= frontmatter_bytes_a_page) || i == 0) continue;
    merged.resume = merged.skills[i - 1].uri;
    merged.skills.resize(i);
  }
  return merged;
}

}  // namespace

result<bool> catalog::show(const call& by, skill& one) const {
  if (!by.who.view) return true;
  auto granted = grants(by, one.uri, purpose::reading);
  if (!granted || !*granted || !one.files) return granted;
  std::vector<skill_file> shown;
  for (auto& file : *one.files) {
    const auto is_shown = grants(by, file.uri, purpose::reading);
    if (!is_shown) return is_shown;
    if (*is_shown) shown.push_back(std::move(file));
  }
  *one.files = std::move(shown);
  return true;
}

bool catalog::has_skills() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& one) { return one->what()->has_skills(); });
}

bool catalog::lists_folders() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& one) { return one->what()->lists_folders(); });
}

void catalog::skills(const call& by, const std::optional<std::string>& cursor, completion<model::skill_page> done) const {
  const auto scope = cursor_scope("skills", "", by.who.view.get());
  const bool is_private = is_told_apart(by.who);
  std::string after;
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(by.who));
    if (!key) return done(tl::unexpected(std::move(key.error())));
    after = std::move(*key);
  }
  std::vector<std::shared_ptr<source>> asked;
  std::copy_if(sources_.begin(), sources_.end(), std::back_inserter(asked),
               [](const auto& one) { return one->what()->has_skills(); });
  if (asked.empty()) return done(model::skill_page{{}, {}, {{}, is_private}});
  const auto pages = std::make_shared<gathering<skills_result>>(
      asked.size(), [scope, is_private, self = shared_from_this(), who = by.who,
                     done = std::move(done)](result<std::vector<skills_result>> found) {
        if (!found) return done(tl::unexpected(std::move(found.error())));
        auto merged = merge_skills(std::move(*found), self->limits_.page_size);
        model::skill_page page{std::move(merged.skills), {}, {{}, is_private}};
        if (merged.resume) page.next_cursor = write_cursor(scope, *merged.resume, self->sealer_for(who));
        done(std::move(page));
      });
  for (std::size_t place = 0; place < asked.size(); ++place) {
    auto opened = asked[place]->open(doing::skills, by);
    auto job = [self = shared_from_this(), from = asked[place],
                request = list_request{std::move(opened.by), after, limits_.page_size}]() -> result<skills_result> {
      auto page = from->what()->skills(request);
      if (!page) return page;
      const auto is_claimed = [&](std::string_view uri) {
        const auto* way = self->route_of(uri);
        return way != nullptr && way->to == from;
      };
      HONDANA_TRY(check_page(keys_of(*page), request, from->what()->name(), is_claimed));
      skills_result shown{{}, std::move(page->resume)};
      for (auto& one : page->skills) {
        HONDANA_TRY(const auto is_shown, self->show(request, one));
        if (!is_shown || !self->has_scopes_for(request.who, one.uri)) continue;
        mask_secrets(*from->what(), one);
        shown.skills.push_back(std::move(one));
      }
      return shown;
    };
    ask<skills_result>(
        *asked[place], by, timers_, std::move(job),
        [pages, place](result<skills_result> page) { pages->take(place, std::move(page)); }, opened.account);
  }
}

void catalog::find_skill(const call& by, std::string uri, std::string asked_uri, completion<model::skill_answer> done) const {
  const auto unknown = [asked_uri](std::string private_text) {
    return fail(errc::invalid_argument,
                "Unknown skill: " + asked_uri + ". Use the uri of an entry of skills/list, which ends in /SKILL.md.",
                std::move(private_text));
  };
  const auto* way = route_of(uri);
  if (way == nullptr || !way->to->what()->has_skills()) return done(unknown({}));
  auto opened = way->to->open(doing::find_skill, by);
  auto job = [self = shared_from_this(), from = way->to, unknown,
              request = skill_request{std::move(opened.by), std::move(uri)}]() -> result<model::skill_answer> {
    HONDANA_TRY(self->has_scopes_for(request.who, request.uri));
    HONDANA_TRY(const auto granted, self->grants(request, request.uri, purpose::reading));
    if (!granted) return unknown({});
    auto found = from->what()->find_skill(request);
    if (!found && found.error().code == errc::resource_not_found) return unknown(std::move(found.error().private_text));
    if (!found) return tl::unexpected(std::move(found.error()));
    HONDANA_TRY(const auto is_shown, self->show(request, *found));
    if (!is_shown) return unknown({});
    HONDANA_TRY(self->has_scopes_for(request.who, found->uri));
    mask_secrets(*from->what(), *found);
    return model::skill_answer{std::move(*found), {{}, is_told_apart(request.who)}};
  };
  ask<model::skill_answer>(*way->to, by, timers_, std::move(job), std::move(done), opened.account);
}

}  // namespace hondana::catalog

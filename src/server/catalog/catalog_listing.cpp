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
constexpr std::size_t most_looks = 10'000;
constexpr std::uint64_t most_steps = 20'000'000;
constexpr std::chrono::milliseconds longest_look{250};

bool before(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

}  // namespace

/// Produces one page.
///
/// It first lists only the source with the next entries, because claims rarely interleave and its page usually is the answer.
/// If it does not fill the page, all sources behind it are listed at the same time.
class catalog::page_in_making : public std::enable_shared_from_this<page_in_making> {
 public:
  page_in_making(std::shared_ptr<const catalog> of, const call& by, std::string after, std::uint64_t scope,
                 std::shared_ptr<const filter> which, std::size_t limit, completion<model::resource_page> done)
      : catalog_(std::move(of)),
        by_(by),
        after_(std::move(after)),
        scope_(scope),
        which_(std::move(which)),
        limit_(limit),
        done_(std::move(done)) {}

  void start() {
    if (!which_->is_hopeless()) find_reaches();
    if (reaches_.empty()) return finish({});
    const bool is_apart = reaches_.size() == 1 || before(after_, reaches_[1].from);
    gather(0, is_apart ? 1 : reaches_.size());
  }

 private:
  /// A source that may have entries after the key, and the smallest URI that they can have.
  struct reach {
    std::shared_ptr<source> of;
    std::string_view from;  // a claim, or `after_` itself
  };

  void find_reaches() {
    const std::string_view prefix = which_->prefix();
    for (const auto& one : catalog_->routes_) {
      if (!one.prefix.starts_with(prefix) && !prefix.starts_with(one.prefix)) continue;
      const bool lies_ahead = after_.empty() || before(after_, one.prefix);
      // URIs that start with a claim are contiguous in segment order. So if the key does not start with the claim, all of them
      // precede the key.
      if (!lies_ahead && !after_.starts_with(one.prefix)) continue;
      const auto known = std::find_if(reaches_.begin(), reaches_.end(), [&](const reach& it) { return it.of == one.to; });
      if (known == reaches_.end()) reaches_.push_back({one.to, lies_ahead ? std::string_view(one.prefix) : after_});
    }
  }

  /// Lists the sources from `first` up to `last`, then continues in `gathered`.
  void gather(std::size_t first, std::size_t last) {
    const auto self = shared_from_this();
    const auto pages = std::make_shared<gathering<list_result>>(
        last - first, [self, last](result<std::vector<list_result>> found) { self->gathered(std::move(found), last); });
    for (auto index = first; index < last; ++index) {
      auto opened = reaches_[index].of->open(doing::list, by_);
      ask<list_result>(
          *reaches_[index].of, by_, catalog_->timers_,
          [self, from = reaches_[index].of, by = std::move(opened.by)] { return self->page_of(from, by); },
          [pages, place = index - first](result<list_result> page) { pages->take(place, std::move(page)); }, opened.account,
          kind_of(doing::list, which_->is_open() ? std::string_view() : "filtered"));
    }
  }

  /// The source's next entries that pass the filter. Lists repeatedly, until there are enough entries or a limit is reached.
  result<list_result> page_of(const std::shared_ptr<source>& from, const call& by) const {
    if (which_->is_open()) return checked_page_of(from, by, after_);
    const auto until = executor::clock::now() + longest_look;
    list_result all;
    std::size_t looks = 0;
    std::uint64_t steps = 0;
    const auto is_enough = [&] { return all.entries.size() == limit_ || looks >= most_looks || steps >= most_steps; };
    for (auto after = after_;;) {
      auto page = checked_page_of(from, by, after);
      if (!page) return page;
      for (std::size_t index = 0; index < page->entries.size(); ++index) {
        auto& entry = page->entries[index];
        if (is_behind(entry.uri)) return all;
        ++looks;
        after = entry.uri;
        if (which_->passes(entry, steps)) all.entries.push_back(std::move(entry));
        if (index + 1 < page->entries.size() && is_enough()) {
          all.resume = std::move(after);
          return all;
        }
      }
      if (!page->resume || is_behind(*page->resume)) return all;
      after = std::move(*page->resume);
      if (is_enough() || executor::clock::now() >= until) {
        all.resume = std::move(after);
        return all;
      }
      if (by_.stop.stop_requested()) return tl::unexpected(was_cancelled());
    }
  }

  /// Whether a key follows all URIs that the filter's prefix permits.
  [[nodiscard]] bool is_behind(std::string_view key) const {
    const std::string_view prefix = which_->prefix();
    return !key.starts_with(prefix) && before(prefix, key);
  }

  result<list_result> checked_page_of(const std::shared_ptr<source>& from, const call& by, const std::string& after) const {
    // A filter needs full pages of the source.
    const list_request request{by, after, which_->is_open() ? limit_ : catalog_->limits_.page_size};
    auto page = from->what()->list(request);
    if (!page) return page;
    const auto is_claimed = [&](std::string_view uri) {
      const auto* way = catalog_->route_of(uri);
      return way != nullptr && way->to == from;
    };
    HONDANA_TRY(check_page(*page, request, from->what()->name(), is_claimed));
    apply_view(*page, by_.who.view.get(), *catalog_->rules_);
    mask_secrets(*from->what(), page->entries);
    catalog_->veil(by_.who, page->entries);  // before the filter, whose results would otherwise reveal hidden words
    return page;
  }

  void gathered(result<std::vector<list_result>> found, std::size_t asked) {
    if (!found) return done_(tl::unexpected(std::move(found.error())));
    for (auto& page : *found) pages_.push_back(std::move(page));
    if (asked < reaches_.size()) {
      if (!fills_the_page(pages_.front(), reaches_[asked].from)) return gather(asked, reaches_.size());
    }
    finish(merge(std::move(pages_), limit_));
  }

  /// Whether the page of the first source, without entries from `bound` on, is the answer. If so, sets where the next page
  /// starts.
  bool fills_the_page(list_result& page, std::string_view bound) const {
    const auto end = std::find_if(page.entries.begin(), page.entries.end(),
                                  [bound](const resource& entry) { return !before(entry.uri, bound); });
    const auto usable = static_cast<std::size_t>(end - page.entries.begin());
    const bool is_full = usable >= limit_;
    const bool stops_short = page.resume && before(*page.resume, bound);
    if (!is_full && !stops_short) return false;
    if (!stops_short) page.resume = page.entries.back().uri;
    return true;
  }

  void finish(list_result merged) {
    model::resource_page page;
    page.resources = std::move(merged.entries);
    if (merged.resume) {
      page.next_cursor = write_cursor(scope_, *merged.resume, catalog_->sealer_for(by_.who));
    }
    page.cache.is_private = is_told_apart(by_.who);
    page.valid = std::move(merged.valid);
    done_(std::move(page));
  }

  std::shared_ptr<const catalog> catalog_;
  call by_;
  std::string after_;
  std::uint64_t scope_;
  std::shared_ptr<const filter> which_;
  std::size_t limit_;
  completion<model::resource_page> done_;
  std::vector<reach> reaches_;  // in the order of `from`
  std::vector<list_result> pages_;
};

void catalog::list(const call& by, const std::optional<std::string>& cursor, std::shared_ptr<const filter> which,
                   std::size_t limit, completion<model::resource_page> done) const {
  const auto scope = cursor_scope("resources", which->digest(), by.who.view.get());
  auto after = key_before(which->prefix());
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(by.who));
    if (!key) return done(tl::unexpected(std::move(key.error())));
    if (before(after, *key)) after = std::move(*key);
  }
  limit = std::clamp<std::size_t>(limit, 1, limits_.page_size);
  std::make_shared<page_in_making>(shared_from_this(), by, std::move(after), scope, std::move(which), limit, std::move(done))
      ->start();
}

void catalog::children(const call& by, std::string uri, const std::optional<std::string>& cursor,
                       completion<model::directory_page> done) const {
  // Hidden and missing folders get the same answer, so that they cannot be distinguished.
  const auto not_found = [](std::string private_text) {
    return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
  };
  const auto* way = route_of(uri);
  if (way == nullptr) return done(not_found({}));
  if (uri.ends_with('/') && uri != way->prefix) uri.pop_back();
  // The folder is part of the cursor's scope, so that a cursor of another folder is rejected.
  const auto scope = cursor_scope("children", uri, by.who.view.get());
  std::string after;
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(by.who));
    if (!key) return done(tl::unexpected(std::move(key.error())));
    after = std::move(*key);
  }
  auto opened = way->to->open(doing::children, by);
  const auto kind = kind_of(doing::children, uri);
  auto job = [self = shared_from_this(), from = way->to, scope, not_found,
              request = children_request{std::move(opened.by), std::move(uri), std::move(after),
                                         limits_.page_size}]() -> result<model::directory_page> {
    HONDANA_TRY(const auto granted, self->grants(request, request.uri, purpose::seeing));
    if (!granted) return not_found({});
    auto found = from->what()->children(request);
    if (!found && found.error().code == errc::resource_not_found) return not_found(std::move(found.error().private_text));
    if (!found) return tl::unexpected(std::move(found.error()));
    const auto is_claimed = [&](std::string_view one) {
      const auto* there = self->route_of(one);
      return there != nullptr && there->to == from;
    };
    const list_request asked{static_cast<const call&>(request), request.after, request.limit};
    HONDANA_TRY(check_page(*found, asked, from->what()->name(), is_claimed));
    apply_view(*found, request.who.view.get(), *self->rules_);
    mask_secrets(*from->what(), found->entries);
    self->veil(request.who, found->entries);
    model::directory_page page;
    page.resources = std::move(found->entries);
    if (found->resume) page.next_cursor = write_cursor(scope, *found->resume, self->sealer_for(request.who));
    return page;
  };
  ask<model::directory_page>(*way->to, by, timers_, std::move(job), std::move(done), opened.account, kind);
}

namespace {

/// Limit of files on a page of skills, about a megabyte of digests. A single skill may exceed it.
constexpr std::size_t files_a_page = 8192;
/// Limit of front matter on a page of skills, in bytes of JSON. A single skill may exceed it.
constexpr std::size_t frontmatter_bytes_a_page = 1u << 20;

/// The keys of a page of skills, so that `check_page` and `merge` apply to them.
list_result keys_of(const skills_result& page) {
  list_result keys;
  for (const auto& one : page.skills) keys.entries.push_back({.uri = one.uri});
  keys.resume = page.resume;
  return keys;
}

/// Merges checked pages of several sources into one.
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
  // The merged keys are a prefix of the sorted skills.
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

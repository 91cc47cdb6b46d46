/// Listing: which sources a page needs, asked at once, and their pages merged.
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
#include "server/catalog/gathering.hpp"
#include "server/catalog/masking.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/owed.hpp"

namespace hondana::catalog {
namespace {

/// What one page of a filtered list may look at, of each source: entries, bytes compared by patterns, and for how long.
constexpr std::size_t most_looks = 10'000;
constexpr std::uint64_t most_steps = 20'000'000;
constexpr std::chrono::milliseconds longest_look{250};

bool before(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

}  // namespace

/// One page being made.
///
/// The source with the next entries is asked alone first: claims rarely interleave, and then its page is the page. Only when
/// it does not fill the page are the sources behind it asked, all at once.
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
  /// A source that may have entries after the key, and the least of them it may have.
  struct reach {
    std::shared_ptr<source> of;
    std::string_view from;  // a claim, or `after_` itself
  };

  void find_reaches() {
    const std::string_view prefix = which_->prefix();
    for (const auto& one : catalog_->routes_) {
      if (!one.prefix.starts_with(prefix) && !prefix.starts_with(one.prefix)) continue;
      const bool lies_ahead = after_.empty() || before(after_, one.prefix);
      // What starts with a claim is contiguous in segment order, so a key that does not start with it has it all behind.
      if (!lies_ahead && !after_.starts_with(one.prefix)) continue;
      const auto known = std::find_if(reaches_.begin(), reaches_.end(), [&](const reach& it) { return it.of == one.to; });
      if (known == reaches_.end()) reaches_.push_back({one.to, lies_ahead ? std::string_view(one.prefix) : after_});
    }
  }

  /// Asks the sources from `first` up to `last`, then goes on in `gathered`.
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

  /// The source's next entries that pass the filter. It is asked again while they are few, until enough has been looked at.
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

  /// Whether a key lies after all that the filter's prefix allows.
  [[nodiscard]] bool is_behind(std::string_view key) const {
    const std::string_view prefix = which_->prefix();
    return !key.starts_with(prefix) && before(prefix, key);
  }

  result<list_result> checked_page_of(const std::shared_ptr<source>& from, const call& by, const std::string& after) const {
    // Of what has still to pass the filter a source gives whole pages.
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
    catalog_->veil(by_.who, page->entries);  // before the filter, which would tell its words one by one
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

  /// Whether the first source's page is the answer without those whose entries start at `bound`; then it goes on before them.
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

}  // namespace hondana::catalog

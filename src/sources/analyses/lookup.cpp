/// By prompt, and whether it may be served.
#include "sources/analyses/lookup.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "protocol/model/still_wanted.hpp"
#include "sources/analyses/contexts.hpp"
#include "sources/analyses/describe.hpp"

namespace hondana::analyses_source {
namespace {

/// Of one prompt, the newest ones whose entries are looked at, and of these the ones that are opened for what they rest on.
constexpr std::size_t most_of_a_prompt = 20'000;
constexpr std::size_t most_founded = 200;
constexpr std::size_t entries_at_once = 200;

struct foundation {
  bool holds = true;
  bool is_watched = false;
};

result<foundation> foundation_of(const ground& on, follower& with, const call& by, const analyses::entry& of) {
  HONDANA_TRY(const auto whole, analyses::analysis_of(of));
  const auto& context = whole.asked.context;
  if (context.empty()) return foundation{true, true};
  std::vector<std::string> changed;
  // Before they are asked for, so that what changes from then on is heard of.
  const bool is_watched = with.watches(context);
  const auto holds = hold(on, with, by, context, changed);
  if (holds && *holds) return foundation{true, is_watched};
  for (const auto& uri : changed) {
    with.watch(uri);
    with.heard_of(uri);
  }
  if (!holds) return tl::unexpected(holds.error());
  return foundation{false, false};
}

}  // namespace

bool is_stale_at(const analyses::summary& of, analyses::instant now) {
  return of.how == analyses::status::complete && of.expires <= now;
}

tl::unexpected<failure> no_analysis() {
  return fail(errc::resource_not_found,
              "Analysis not found: it was deleted, its context changed or is not served here, you may not read it, or it never "
              "existed. wallbounce://analyses lists analyses.");
}

result<bool> is_founded(const ground& on, follower& with, const call& by, const analyses::entry& of) {
  return foundation_of(on, with, by, of).map([](const foundation& one) { return one.holds; });
}

result<by_prompt> find_by_prompt(const ground& on, follower& with, const call& by, const std::string& prompt,
                                 const analyses::cache& in) {
  analyses::selection which;
  which.prompt = prompt;
  HONDANA_TRY(const auto now, in.in().now());
  std::optional<failure> why;
  const auto holds = [&](const analyses::summary& one) -> result<std::optional<by_prompt>> {
    HONDANA_TRY(const auto whole, in.get(one.id));
    if (!whole) return std::nullopt;
    return foundation_of(on, with, by, *whole).map([&](const foundation& rests) {
      return rests.holds ? std::optional(by_prompt{one, rests.is_watched}) : std::nullopt;
    });
  };
  // Those that are fresh come first, and then the newest. Others of the prompt, and what this caller may not read, cost only a
  // look at their entries.
  std::vector<analyses::summary> stale;
  std::size_t opened = 0;
  std::string behind;
  bool are_more = true;
  for (std::size_t looked = 0; are_more && looked < most_of_a_prompt && opened < most_founded; looked += entries_at_once) {
    HONDANA_TRY(still_wanted(by));
    auto page = in.in().list(which, behind, entries_at_once);
    if (!page) return tl::unexpected(std::move(page.error()));
    are_more = !page->is_last;
    behind = page->next;
    for (const auto& one : page->all) {
      if (one.how != analyses::status::complete || opened == most_founded) continue;
      const bool is_stale = is_stale_at(one, now);
      if (is_stale && stale.size() == most_founded) continue;
      if (auto may = on.may_read(by.who, entry_of(one, now)); !may) {
        why = std::move(may.error());
      } else if (is_stale) {
        stale.push_back(one);
      } else {
        ++opened;
        HONDANA_TRY(auto found, holds(one));
        if (found) return std::move(*found);
      }
    }
  }
  for (const auto& one : stale) {
    HONDANA_TRY(auto found, holds(one));
    if (found) return std::move(*found);
  }
  if (why && why->code == errc::scope_missing) return tl::unexpected(std::move(*why));
  return fail(errc::resource_not_found,
              "Prompt not found: there is no final analysis of it with an unchanged context. The tool analysis_claim says "
              "whether another caller is computing one, or returns a ticket to compute it.");
}

}  // namespace hondana::analyses_source

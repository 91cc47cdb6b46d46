/// By prompt, and whether it may be served.
#include "providers/analyses/lookup.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "providers/analyses/contexts.hpp"
#include "providers/analyses/describe.hpp"

namespace hondana::wallbounce {
namespace {

/// Of one prompt, the newest ones that are looked at; more are only where many models and contexts were asked the same.
constexpr std::size_t most_of_a_prompt = 200;

struct foundation {
  bool holds = true;
  bool is_watched = false;
};

result<foundation> foundation_of(const ground& on, follower& with, const call& by, const analyses::entry& of) {
  const auto whole = analyses::analysis_of(of);
  if (!whole) return tl::unexpected(whole.error());
  const auto& context = whole->asked.context;
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
  return fail(
      errc::resource_not_found,
      "There is no such analysis: it was forgotten, or what it rests on has changed or is not served here, or it is not "
      "for you, or never was. wallbounce://analyses has what there is.");
}

result<bool> is_founded(const ground& on, follower& with, const call& by, const analyses::entry& of) {
  return foundation_of(on, with, by, of).map([](const foundation& one) { return one.holds; });
}

result<by_prompt> find_by_prompt(const ground& on, follower& with, const call& by, const std::string& prompt,
                                 const analyses::cache& in) {
  analyses::selection which;
  which.prompt = prompt;
  auto page = in.in().list(which, {}, most_of_a_prompt);
  if (!page) return tl::unexpected(std::move(page.error()));
  const auto now = in.in().now();
  if (!now) return tl::unexpected(now.error());
  std::optional<failure> why;
  // Those that are fresh come first, and then the newest.
  for (const bool is_second_choice : {false, true}) {
    for (const auto& one : page->all) {
      if (one.how != analyses::status::complete || is_stale_at(one, *now) != is_second_choice) continue;
      if (auto may = on.may_read(by.who, entry_of(one, *now)); !may) {
        why = std::move(may.error());
        continue;
      }
      const auto whole = in.get(one.id);
      if (!whole) return tl::unexpected(whole.error());
      if (!*whole) continue;
      const auto rests = foundation_of(on, with, by, **whole);
      if (!rests) return tl::unexpected(rests.error());
      if (rests->holds) return by_prompt{one, rests->is_watched};
    }
  }
  if (why && why->code == errc::scope_missing) return tl::unexpected(std::move(*why));
  return fail(errc::resource_not_found,
              "There is no final analysis of that prompt whose context is there and has not changed. The tool analysis_claim "
              "says whether one is being computed, and who is to compute it.");
}

}  // namespace hondana::wallbounce

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
  // Read before the versions are checked, so that later changes are noticed.
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
  // Fresh analyses come first, then the newest. Analyses that are not final, and those that the caller may not read, are judged
  // by their summary only.
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

namespace {

constexpr std::size_t forgotten_at_once = 500;

tl::unexpected<failure> too_many_to_see(std::uint64_t forgotten) {
  return fail(errc::timed_out, "Too many analyses to check within the timeout of one call: " + std::to_string(forgotten) +
                                   " were deleted. Retry with a session or a tag, or by uri, one at a time.");
}

result<std::uint64_t> forget_one(analyses::cache& in, const std::string& id) {
  analyses::forgetting one;
  one.id = id;
  return in.forget(one);
}

/// Deletes analyses that a caller may read, until its deadline.
class forgetter {
 public:
  forgetter(const ground& on, const call& by, analyses::cache& in) : on_(on), by_(by), in_(in) {}

  /// Deletes page by page. `page_behind` reads the page after a position. Errors: cancelled; timed_out, saying how many were
  /// deleted.
  template <class Place, class Reading>
  [[nodiscard]] result<std::uint64_t> forget_pages(const Reading& page_behind) {
    for (Place behind;;) {
      HONDANA_TRY(may_go_on());
      HONDANA_TRY(const auto page, page_behind(behind));
      HONDANA_TRY(forget(page.all));
      if (page.is_last) return count_;
      behind = page.next;
    }
  }

 private:
  [[nodiscard]] result<void> may_go_on() const {
    if (by_.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (monotonic_clock::now() >= by_.deadline) return too_many_to_see(count_);
    return {};
  }
  [[nodiscard]] result<void> forget(const std::vector<analyses::summary>& all) {
    for (const auto& one : all) {
      HONDANA_TRY(may_go_on());
      if (!on_.may_read(by_.who, entry_of(one, about_now()))) continue;
      HONDANA_TRY(const auto gone, forget_one(in_, one.id));
      count_ += gone;
    }
    return {};
  }

  const ground& on_;
  const call& by_;
  analyses::cache& in_;
  std::uint64_t count_ = 0;
};

/// Deletes all analyses of a selection that the caller may read.
result<std::uint64_t> forget_readable(const ground& on, const call& by, const analyses::selection& which, analyses::cache& in) {
  return forgetter(on, by, in).forget_pages<std::string>([&](const auto& behind) {
    return in.in().list(which, behind, forgotten_at_once);
  });
}

/// Deletes all analyses based on a resource that the caller may read.
result<std::uint64_t> forget_readable_on(const ground& on, const call& by, const std::string& context, analyses::cache& in) {
  return forgetter(on, by, in).forget_pages<analyses::store::place_in_based>([&](const auto& behind) {
    return in.in().based_on(context, behind, forgotten_at_once);
  });
}

}  // namespace

result<named_analyses> named_in(const value& arguments) {
  const auto text = [&arguments](std::string_view name) {
    const auto* found = arguments.find(name);
    const auto* given = found == nullptr ? nullptr : found->as_string();
    return given == nullptr ? std::string() : *given;
  };
  named_analyses out;
  out.session = text("session");
  out.tag = text("tag");
  out.prompt = analyses::digest_spelled(text("digest")).value_or(std::string());
  if (const auto uri = text("uri"); !uri.empty()) {
    const auto named = canonical_uri(uri).and_then([](const std::string& one) { return parse_address(one); });
    if (!named || named->of != place::analysis)
      return fail(errc::invalid_argument,
                  "uri: expected wallbounce://analyses/ID; for several analyses, give digest, session, tag or context");
    out.id = named->id;
  }
  if (const auto uri = text("context"); !uri.empty()) {
    auto canonical = canonical_uri(uri);
    if (!canonical) return fail(errc::invalid_argument, "context: " + canonical.error().public_text);
    out.context = std::move(*canonical);
  }
  const std::array all{&out.id, &out.session, &out.tag, &out.prompt, &out.context};
  const auto count = std::count_if(all.begin(), all.end(), [](const std::string* one) { return !one->empty(); });
  if (count != 1)
    return fail(errc::invalid_argument,
                "Give one of uri (wallbounce://analyses/ID), session, tag, digest (of a prompt) and context (the URI of a "
                "resource that analyses are based on); " +
                    (count == 0 ? "none of them was given." : std::to_string(count) + " of them were given."));
  return out;
}

result<std::uint64_t> forget(const ground& on, const call& by, const named_analyses& which, analyses::cache& in) {
  if (!which.id.empty()) {
    HONDANA_TRY(const auto about, in.in().about(which.id));
    if (!about) return tl::unexpected(no_analysis());
    if (auto may = on.may_read(by.who, entry_of(*about, about_now())); !may) {
      if (may.error().code == errc::scope_missing) return tl::unexpected(std::move(may.error()));
      return tl::unexpected(no_analysis());
    }
    return forget_one(in, which.id);
  }
  if (!which.context.empty()) {
    resource named;
    named.uri = which.context;
    HONDANA_TRY(on.may_read(by.who, named));
  }
  analyses::selection chosen;
  chosen.session = which.session;
  chosen.tag = which.tag;
  chosen.prompt = which.prompt;
  // The store cannot delete by the digest of a prompt: its keys are digests of whole questions.
  if (by.who.view || by.who.proof || !which.prompt.empty())
    return which.context.empty() ? forget_readable(on, by, chosen, in) : forget_readable_on(on, by, which.context, in);
  analyses::forgetting all;
  all.session = which.session;
  all.tag = which.tag;
  all.uri = which.context;
  return in.forget(all);
}

}  // namespace hondana::analyses_source

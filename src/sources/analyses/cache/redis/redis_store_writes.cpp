/// The Redis store of analyses: claims, puts, removal and statistics.

#include <algorithm>
#include <charconv>
#include <utility>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/redis/redis_store_impl.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {
namespace {

/// Small numbers: Redis runs one script at a time, and other clients must not wait long.
constexpr std::string_view forgotten_at_once = "1000";
constexpr std::string_view swept_at_once = "500";

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all) out.append(out.empty() ? "" : "\n").append(one);
  return out;
}

std::string joined(const std::vector<basis>& all) {
  std::string out;
  for (const auto& one : all) out.append(out.empty() ? "" : "\n").append(one.uri).append("\x1f").append(one.version);
  return out;
}

std::string real(double number) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return std::string(digits.data(), end);
}

/// Without an exponent: HINCRBYFLOAT does not accept large ones.
std::string plain_real(double number) {
  std::array<char, 400> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  return std::string(digits.data(), end);
}

struct counter {
  std::string_view name;
  std::uint64_t task_statistics::* whole = nullptr;
  double task_statistics::* real = nullptr;
};
constexpr std::array counters{
    counter{"hits", &task_statistics::hits},
    counter{"stale_hits", &task_statistics::stale_hits},
    counter{"misses", &task_statistics::misses},
    counter{"failures", &task_statistics::failures},
    counter{"computed", &task_statistics::computed},
    counter{"below", &task_statistics::below},
    counter{"milliseconds_saved", &task_statistics::milliseconds_saved},
    counter{"milliseconds_spent", &task_statistics::milliseconds_spent},
    counter{"cost_saved", nullptr, &task_statistics::cost_saved},
    counter{"cost_spent", nullptr, &task_statistics::cost_spent},
};

std::string field_of(std::size_t task, std::string_view name) {
  return std::string(name_of(static_cast<task_type>(task))) + '.' + std::string(name);
}

}  // namespace

tl::unexpected<failure> redis_store::refused_ticket(const reply& what) {
  const auto& why = what.at(0).text;
  if (why == "put") return already_put();
  if (why == "other") return another_question();
  if (why == "bytes") return too_much_computed();
  return no_such_claim();
}

result<claimed> redis_store::claim(const wish& what) {
  HONDANA_TRY(analyses::check(what));
  const auto random = random_digits();
  if (!random) return tl::unexpected(random.error());
  HONDANA_TRY(const auto secret, secret_digits());
  HONDANA_TRY(const auto begun, prepared_for(what));
  const auto task = std::to_string(static_cast<int>(what.task)), lease = std::to_string(what.lease.count());
  const auto tags = joined(what.tags), context = joined(what.asked.context);
  const auto who = std::string_view(what.who).substr(0, longest_who);
  const auto at_most = std::to_string(most_claims), anew = std::string(what.is_anew ? "1" : "0"),
             small = std::to_string(small_body), room = std::to_string(most_computing);
  // A retry sends the same random digits, by which the script recognizes the same claim.
  const auto said = run(script::claim,
                        {what.of.all, what.of.prompt, task, begun.about.title, what.session, tags, context, who, lease,
                         what.is_forced ? "1" : "0", *random, begun.body, at_most, anew, secret, small, room},
                        repeating::harmless);
  if (!said) return tl::unexpected(said.error());
  claimed out;
  const auto& there = said->at(0);
  out.there = answer_in(there);
  if (said->at(1).what == reply::kind::text) return said->at(1).text == "bytes" ? too_much_computed() : too_many_claims();
  if (const auto& got = said->at(1); !got.is_null()) {
    out.by = ticket{got.at(0).text, static_cast<std::uint64_t>(got.at(1).as_number()), secret};
    out.until = instant(milliseconds(got.at(2).as_number()));
    // After a retry, the reply contains this claim itself.
    if (out.there.claim && out.there.claim->id == out.by->id) {
      out.there.claim.reset();
      if (out.there.what == answer::kind::computing) out.there.what = answer::kind::missing;
    }
  } else if (const auto& claim = there.at(2); (what.is_forced || what.is_anew) && !claim.is_null()) {
    out.there.claim = answer::holder{claim.at(0).text, claim.at(1).text, instant(milliseconds(claim.at(2).as_number()))};
  }
  return out;
}

result<instant> redis_store::renew(const ticket& by, milliseconds lease) {
  HONDANA_TRY(check_lease(lease));
  if (!is_id(by.id)) return no_such_claim();
  const auto token = std::to_string(by.token), how_long = std::to_string(lease.count());
  HONDANA_TRY(const auto said, run(script::renew, {by.id, token, by.secret, how_long}, repeating::harmless));
  if (said.at(0).text != "ok") return refused_ticket(said);
  return instant(milliseconds(said.at(1).as_number()));
}

result<summary> redis_store::put(const ticket& by, const putting& what) {
  HONDANA_TRY(analyses::check(what));
  if (!is_id(by.id)) return no_such_claim();
  const auto random = random_digits();
  if (!random) return tl::unexpected(random.error());
  const auto& about = what.about;
  const bool is_part = about.how == status::computing;
  const auto token = std::to_string(by.token), how = std::to_string(static_cast<int>(about.how)),
             task = std::to_string(static_cast<int>(about.task)), confidence = real(about.confidence),
             agreement = real(about.agreement), cost = real(about.cost), took = std::to_string(about.took.count()),
             rounds = std::to_string(about.rounds), providers = std::to_string(about.providers), tags = joined(what.tags),
             names = joined(what.names), fresh = std::to_string((is_part ? what.lease : what.fresh).count()),
             stale = std::to_string(what.stale.count());
  const auto at_most = std::to_string(most_provider_names), small = std::to_string(small_body),
             room = std::to_string(most_computing);
  // A retry sends the same random digits, by which the script recognizes the same put.
  HONDANA_TRY(const auto said, run(script::put, {by.id,       token,         about.of.all, about.of.prompt, how,   task,
                                                 about.title, about.session, confidence,   agreement,       cost,  took,
                                                 rounds,      providers,     tags,         names,           fresh, stale,
                                                 *random,     what.body,     at_most,      by.secret,       small, room},
                                   repeating::harmless));
  if (said.at(0).text != "ok") return refused_ticket(said);
  return summary_in(said.at(1).at(0), said.at(1).at(1));
}

result<void> redis_store::fail(const ticket& by, std::string_view why, milliseconds remembered) {
  if (!is_id(by.id)) return no_such_claim();
  const auto token = std::to_string(by.token), kept = kept_reason(why),
             how_long = std::to_string(std::max(milliseconds(0), remembered).count());
  HONDANA_TRY(const auto said, run(script::fail, {by.id, token, by.secret, kept, how_long}, repeating::harmful));
  if (said.at(0).text != "ok") return refused_ticket(said);
  return {};
}

result<store::forgotten> redis_store::forget(const forgetting& which) {
  HONDANA_TRY(analyses::check(which));
  std::string_view by = "all", what;
  const auto choose = [&](std::string_view set, const std::string& member) {
    if (member.empty()) return;
    by = set;
    what = member;
  };
  choose("t:", which.tag);
  choose("s:", which.session);
  choose("k:", which.of);
  choose("u:", which.uri);
  choose("id", which.id);
  if (by == "id" && !is_id(what)) return forgotten{};
  const auto versions = joined(which.versions);
  const bool holds_unknown = std::find(which.versions.begin(), which.versions.end(), std::string()) != which.versions.end();
  HONDANA_TRY(const auto said,
              run(script::forget, {by, what, versions, forgotten_at_once, holds_unknown ? "1" : "0"}, repeating::harmless));
  return forgotten{static_cast<std::uint64_t>(said.at(0).as_number()), said.at(1).as_number() == 1};
}

result<store::forgotten> redis_store::sweep(const limits& within) {
  const auto bytes = std::to_string(within.bytes), entries = std::to_string(within.entries),
             age = std::to_string(within.age.count()), computed = std::to_string(most_claims);
  HONDANA_TRY(const auto said, run(script::sweep, {bytes, entries, age, swept_at_once, computed}, repeating::harmless));
  return forgotten{static_cast<std::uint64_t>(said.at(0).as_number()), said.at(1).as_number() == 1};
}

result<void> redis_store::count(const statistics& more) {
  std::vector<std::string> all;
  for (std::size_t task = 0; task < count_of_tasks; ++task) {
    const auto& of = more.by_task[task];
    for (const auto& one : counters) {
      if (one.whole != nullptr ? of.*one.whole == 0 : of.*one.real == 0) continue;
      all.push_back(field_of(task, one.name));
      all.push_back(one.whole != nullptr ? std::to_string(of.*one.whole) : plain_real(of.*one.real));
    }
  }
  if (all.empty()) return {};
  HONDANA_TRY(run(script::count, words(all.begin(), all.end()), repeating::harmful));
  return {};
}

result<statistics> redis_store::counted() const {
  const auto counts = root_ + "counts";
  HONDANA_TRY(const auto said, ask({"HGETALL", counts}, repeating::harmless));
  if (said.is_error()) return refused_by(where_.name, said);
  statistics out;
  for (std::size_t i = 0; i + 1 < said.all.size(); i += 2) {
    for (std::size_t task = 0; task < count_of_tasks; ++task) {
      for (const auto& one : counters) {
        if (said.at(i).text != field_of(task, one.name)) continue;
        auto& into = out.by_task[task];
        if (one.whole != nullptr)
          into.*one.whole = static_cast<std::uint64_t>(said.at(i + 1).as_number());
        else
          into.*one.real = said.at(i + 1).as_real();
      }
    }
  }
  return out;
}

}  // namespace hondana::analyses

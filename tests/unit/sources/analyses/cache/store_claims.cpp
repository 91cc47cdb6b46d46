/// Claims in every kind of store: leases, tokens, parts and failures.
#include <algorithm>
#include <atomic>
#include <thread>

#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

const milliseconds short_lease{40};

TEST_P(store_contract, gives_one_ticket_for_a_key) {
  const auto what = small_analysis("x");
  const auto first = claim(what);
  const auto second = good(store_->claim(wish_for(what)));
  EXPECT_FALSE(second.ticket);
  EXPECT_EQ(second.answer.status, cached_answer::cache_status::computing);
  ASSERT_TRUE(second.answer.claim);
  EXPECT_EQ(second.answer.claim->id, first.id);
  EXPECT_EQ(second.answer.claim->claimant, "test");
  EXPECT_GT(second.answer.claim->lease_expires_at, good(store_->now()));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::computing);
  EXPECT_GT(claim(small_analysis("y")).token, first.token);
  const auto begun = good(store_->get(first.id));
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->summary.status, analysis_status::computing);
  EXPECT_EQ(good(decode_analysis(*begun)).question, what.question);
}

TEST_P(store_contract, needs_no_ticket_for_what_is_fresh_unless_it_is_forced) {
  const auto what = small_analysis("x");
  const auto kept = put(what);
  auto wanted = wish_for(what);
  auto got = good(store_->claim(wanted));
  EXPECT_FALSE(got.ticket);
  EXPECT_EQ(got.answer.status, cached_answer::cache_status::fresh);
  EXPECT_EQ(got.answer.entry->summary, kept);
  wanted.is_forced = true;
  got = good(store_->claim(wanted));
  ASSERT_TRUE(got.ticket);
  EXPECT_EQ(look(what).entry->summary.id, kept.id) << "what is fresh is served while it is computed anew";
  const auto other = good(store_->claim(wanted));
  EXPECT_FALSE(other.ticket);
  EXPECT_TRUE(other.answer.claim);
  const auto newer = good(store_->put(*got.ticket, putting_of(small_analysis("x", "no"))));
  EXPECT_EQ(look(what).entry->summary.id, newer.id);
  EXPECT_NE(newer.id, kept.id);
  EXPECT_FALSE(good(store_->get(kept.id))) << "its place was taken";
  EXPECT_EQ(good(store_->read_info()).entries, 1u);
}

TEST_P(store_contract, hands_over_exactly_once_when_a_lease_ends) {
  const auto what = small_analysis("x");
  const auto late = claim(what, short_lease);
  ASSERT_TRUE(eventually([&] { return look(what).status == cached_answer::cache_status::missing; }));
  EXPECT_FALSE(good(store_->get(late.id))) << "what nobody computes any more is not there";
  std::atomic<int> tickets = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < 8; ++i) all.emplace_back([&] { tickets += good(store_->claim(wish_for(what))).ticket ? 1 : 0; });
  all.clear();
  EXPECT_EQ(tickets, 1);
  const auto refused = store_->put(late, putting_of(what));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::access_denied);
  EXPECT_FALSE(store_->renew(late, std::chrono::seconds(1)));
  EXPECT_FALSE(store_->fail(late, "late", std::chrono::seconds(1)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::computing);
}

TEST_P(store_contract, takes_what_is_late_as_long_as_nobody_else_has_claimed) {
  const auto what = small_analysis("x");
  const auto late = claim(what, short_lease);
  ASSERT_TRUE(eventually([&] { return look(what).status == cached_answer::cache_status::missing; }));
  good(store_->sweep({}));
  good(store_->put(late, putting_of(what)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::fresh);
}

TEST_P(store_contract, refuses_tickets_that_are_none) {
  const auto what = small_analysis("x");
  const auto by = claim(what);
  for (const auto& wrong :
       {claim_ticket{by.id, by.token + 1, by.secret}, claim_ticket{by.id, 0, by.secret},
        claim_ticket{std::string(32, '0'), by.token, by.secret}, claim_ticket{"x", 1, by.secret}, claim_ticket{"x", 1, ""}}) {
    const auto refused = store_->put(wrong, putting_of(what));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::access_denied);
  }
  const auto other = store_->put(by, putting_of(small_analysis("y")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::invalid_argument);
  good(store_->put(by, putting_of(what)));
  const auto twice = store_->put(by, putting_of(what));
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().public_text.find("is already stored"), std::string::npos);
}

/// Ids stand in lists, and tokens are counted, so that somebody with a ticket of his own knows both of a neighbour's.
TEST_P(store_contract, refuses_tickets_that_are_guessed) {
  const auto what = small_analysis("x");
  const auto by = claim(what), own = claim(small_analysis("mine"));
  ASSERT_EQ(by.secret.size(), 16u);
  EXPECT_EQ(own.token, by.token + 1) << "what is guessed so is right";
  EXPECT_NE(by.secret, own.secret);
  const auto before = look(what);
  const auto begun = good(store_->get(by.id));
  ASSERT_TRUE(before.claim && begun);
  for (const auto& guess : {own.secret, std::string(), std::string(16, '0'), by.secret.substr(0, 15), by.secret + '0',
                            by.secret + by.secret, std::string("*"), std::string(1, '\0') + by.secret}) {
    const claim_ticket guessed{by.id, by.token, guess};
    const auto is_refused = [&](const auto& got, const char* how) {
      ASSERT_FALSE(got) << how << ' ' << guess;
      EXPECT_EQ(got.error().code, errc::access_denied) << how;
      EXPECT_NE(got.error().public_text.find("nothing was written"), std::string::npos) << how;
    };
    is_refused(store_->put(guessed, putting_of(small_analysis("x", "false"))), "put");
    is_refused(store_->put(guessed, putting_of(small_analysis("x", "false"), analysis_status::computing)), "part");
    is_refused(store_->fail(guessed, "not so", std::chrono::hours(1)), "fail");
    is_refused(store_->fail(guessed, {}, milliseconds(0)), "give_up");
    is_refused(store_->renew(guessed, std::chrono::hours(1)), "renew");
  }
  const auto after = look(what);
  EXPECT_EQ(after.status, cached_answer::cache_status::computing);
  ASSERT_TRUE(after.claim);
  EXPECT_EQ(after.claim->id, by.id);
  EXPECT_EQ(after.claim->lease_expires_at, before.claim->lease_expires_at);
  const auto still = good(store_->get(by.id));
  ASSERT_TRUE(still);
  EXPECT_EQ(still->summary, begun->summary);
  EXPECT_EQ(still->body, begun->body);
  EXPECT_EQ(still->to_json().find(by.secret), std::string::npos) << "who reads it is told nothing";
  if (!data_->is_in_memory()) store_ = data_->open();
  good(store_->renew(by, std::chrono::minutes(10)));
  good(store_->put(by, putting_of(what, analysis_status::computing)));
  good(store_->put(by, putting_of(what)));
  good(store_->fail(own, {}, milliseconds(0)));
}

TEST_P(store_contract, renews_a_lease) {
  const auto what = small_analysis("x");
  const auto by = claim(what, std::chrono::minutes(1));
  const auto until = good(store_->renew(by, std::chrono::minutes(10)));
  EXPECT_GT(until, good(store_->now()) + std::chrono::minutes(9));
  EXPECT_EQ(look(what).claim->lease_expires_at, until);
  EXPECT_EQ(good(store_->get(by.id))->summary.removed_at, until);
  EXPECT_FALSE(store_->renew(by, milliseconds(0)));
  EXPECT_EQ(good(store_->renew(by, std::chrono::seconds(1))), until) << "a shorter one takes nothing away";
  EXPECT_EQ(look(what).claim->lease_expires_at, until);
  EXPECT_EQ(good(store_->get(by.id))->summary.removed_at, until);
}

TEST_P(store_contract, shows_parts_while_they_arrive_and_serves_them_as_nothing) {
  auto what = small_analysis("x");
  const auto by = claim(what, std::chrono::minutes(10));
  auto so_far = what;
  so_far.consensus.reset();
  so_far.votes.pop_back();
  auto part = putting_of(so_far, analysis_status::computing);
  const auto kept = good(store_->put(by, part));
  EXPECT_EQ(kept.status, analysis_status::computing);
  EXPECT_GT(kept.expires_at, good(store_->now()) + std::chrono::minutes(9)) << "a part makes no lease shorter";
  auto seen = good(store_->get(by.id));
  ASSERT_TRUE(seen);
  EXPECT_EQ(good(decode_analysis(*seen)).votes.size(), 1u);
  EXPECT_EQ(look(what).status, cached_answer::cache_status::computing);
  EXPECT_FALSE(look(what).entry);
  const auto whole = good(store_->put(by, putting_of(what)));
  EXPECT_EQ(whole.id, by.id);
  EXPECT_GT(whole.version, kept.version);
  EXPECT_EQ(whole.created_at, kept.created_at);
  EXPECT_EQ(good(store_->read_info()).entries, 1u);
  EXPECT_EQ(good(store_->read_info()).bytes, whole.bytes);
}

TEST_P(store_contract, keeps_what_is_below_its_thresholds_and_never_serves_it) {
  const auto what = small_analysis("x");
  const auto below = put(what, analysis_status::below_thresholds);
  EXPECT_EQ(look(what).status, cached_answer::cache_status::missing);
  EXPECT_EQ(good(store_->get(below.id))->summary.status, analysis_status::below_thresholds);
  EXPECT_EQ(listed().size(), 1u);
  const auto good_one = put(what);
  EXPECT_EQ(look(what).entry->summary.id, good_one.id);
  put(what, analysis_status::below_thresholds);
  EXPECT_EQ(look(what).entry->summary.id, good_one.id) << "what was final stays";
  EXPECT_FALSE(good(store_->get(below.id)));
  EXPECT_EQ(good(store_->read_info()).entries, 2u);
}

TEST_P(store_contract, serves_what_has_expired_marked_as_stale_and_then_no_more) {
  const auto what = small_analysis("x");
  put(what, analysis_status::complete, milliseconds(30), std::chrono::hours(1));
  ASSERT_TRUE(eventually([&] { return look(what).status == cached_answer::cache_status::stale; }));
  auto found = look(what);
  EXPECT_TRUE(found.entry->is_stale);
  EXPECT_FALSE(found.claim);
  const auto by = claim(what);
  found = look(what);
  EXPECT_EQ(found.status, cached_answer::cache_status::stale);
  EXPECT_EQ(found.claim->id, by.id);
  EXPECT_EQ(good(store_->claim(wish_for(what))).answer.status, cached_answer::cache_status::stale)
      << "one computes, the others are served";
  good(store_->put(by, putting_of(what, analysis_status::complete, milliseconds(30), milliseconds(0))));
  ASSERT_TRUE(eventually([&] { return look(what).status != cached_answer::cache_status::fresh; }));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::missing) << "the one before it does not come back";
  EXPECT_FALSE(good(store_->get(by.id)));
}

TEST_P(store_contract, remembers_a_failure_for_as_long_as_it_is_told) {
  const auto what = small_analysis("x");
  const auto by = claim(what);
  good(store_->fail(by, "quota \xff exceeded", milliseconds(400)));
  auto found = look(what);
  if (found.status == cached_answer::cache_status::failed) {
    EXPECT_EQ(found.failure_reason, "quota \uFFFD exceeded");
    EXPECT_LE(found.failure_expires_at, good(store_->now()) + milliseconds(400));
    const auto again = good(store_->claim(wish_for(what)));
    EXPECT_TRUE(!again.ticket || good(store_->now()) >= found.failure_expires_at) << "unless a busy machine has taken as long";
    if (again.ticket) good(store_->fail(*again.ticket, {}, milliseconds(0)));
  }
  EXPECT_FALSE(good(store_->get(by.id)));
  EXPECT_EQ(good(store_->read_info()).entries, 0u);
  ASSERT_TRUE(eventually([&] { return look(what).status == cached_answer::cache_status::missing; }));
  good(store_->fail(claim(what), std::string(10'000, 'w'), std::chrono::hours(1)));
  found = look(what);
  ASSERT_EQ(found.status, cached_answer::cache_status::failed);
  EXPECT_EQ(found.failure_reason.size(), 4096u);
  EXPECT_FALSE(good(store_->claim(wish_for(what))).ticket);
  good(store_->put(claim(what, std::chrono::hours(1), true), putting_of(what, analysis_status::below_thresholds)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::missing) << "what was put since makes it forgotten";
}

TEST_P(store_contract, forgets_a_failure_once_a_forced_claim_is_granted) {
  const auto what = small_analysis("x");
  good(store_->fail(claim(what), "all are down", std::chrono::hours(1)));
  EXPECT_FALSE(good(store_->claim(wish_for(what))).ticket);
  EXPECT_EQ(look(what).status, cached_answer::cache_status::failed) << "a claim that is not granted ends nothing";
  const auto forced = claim(what, std::chrono::hours(1), true);
  good(store_->fail(forced, {}, milliseconds(0)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::missing);
  good(store_->fail(claim(what), "down again", std::chrono::hours(1)));
  EXPECT_EQ(look(what).failure_reason, "down again") << "and the next one is remembered";

  const auto old = small_analysis("y");
  put(old, analysis_status::complete, milliseconds(10));
  ASSERT_TRUE(eventually([&] { return look(old).status == cached_answer::cache_status::stale; }));
  good(store_->fail(claim(old), "all are down", std::chrono::hours(1)));
  good(store_->fail(claim(old, std::chrono::hours(1), true), {}, milliseconds(0)));
  const auto found = look(old);
  EXPECT_EQ(found.status, cached_answer::cache_status::stale);
  EXPECT_EQ(found.failure_reason, "");
  EXPECT_EQ(found.failure_expires_at, instant());
  static_cast<void>(claim(old));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::failed) << "that of another key stays";
}

TEST_P(store_contract, remembers_nothing_of_a_claim_that_was_given_up) {
  const auto what = small_analysis("x");
  good(store_->fail(claim(what), {}, milliseconds(0)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::missing);
  static_cast<void>(claim(what));
}

TEST_P(store_contract, refuses_what_cannot_be_claimed_or_put) {
  auto wanted = wish_for(small_analysis("x"));
  wanted.lease_ttl = milliseconds(0);
  EXPECT_EQ(store_->claim(wanted).error().code, errc::invalid_argument);
  wanted = wish_for(small_analysis("x"));
  wanted.key = {};
  EXPECT_EQ(store_->claim(wanted).error().code, errc::invalid_argument);
  const auto by = claim(small_analysis("x"));
  EXPECT_EQ(store_->put(by, putting_of(small_analysis("x"), analysis_status::complete, milliseconds(0))).error().code,
            errc::invalid_argument);
  EXPECT_EQ(store_->erase({}).error().code, errc::invalid_argument);
  EXPECT_EQ(store_->erase({.id = "a", .tag = "b"}).error().code, errc::invalid_argument);
}

TEST_P(store_contract, has_so_many_computed_at_the_same_time_and_no_more) {
  std::optional<claim_ticket> first;
  for (std::size_t i = 0; i < max_claims; ++i) {
    const auto got = store_->claim(wish_for(small_analysis("p" + std::to_string(i))));
    ASSERT_TRUE(got && got->ticket) << i;
    if (!first) first = got->ticket;
  }
  const auto refused = store_->claim(wish_for(small_analysis("one more")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_FALSE(good(store_->claim(wish_for(small_analysis("p7")))).ticket);
  good(store_->put(*first, putting_of(small_analysis("p0"))));
  static_cast<void>(claim(small_analysis("one more")));
}

TEST_P(store_contract, has_so_many_bytes_computed_at_the_same_time_and_no_more) {
  const auto large = [](const std::string& prompt) {
    auto out = small_analysis(prompt, std::string(7u << 20, 'c'));
    out.votes.front().content = std::string(7u << 20, 'v');
    return out;
  };
  const std::size_t each = putting_of(large("p0"), analysis_status::computing).body.size();
  std::vector<claim_ticket> held;
  for (std::size_t i = 0; i < max_computing_bytes / each; ++i) {
    held.push_back(claim(small_analysis("p" + std::to_string(i))));
    ASSERT_TRUE(store_->put(held.back(), putting_of(large("p" + std::to_string(i)), analysis_status::computing))) << i;
  }
  const auto one_more = claim(small_analysis("one more"));
  const auto before = good(store_->get(one_more.id));
  const auto refused = store_->put(one_more, putting_of(large("one more"), analysis_status::computing));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_EQ(good(store_->get(one_more.id))->summary, before->summary) << "nothing of it is written";
  const std::string filling(max_computing_bytes - each * held.size() - 400'000, 'f');
  good(store_->put(one_more, putting_of(small_analysis("one more", filling), analysis_status::computing)));
  static_cast<void>(claim(small_analysis("a small one")));
  auto asked = small_analysis("");
  while (asked.question.prompt.size() < 900'000) asked.question.prompt += "is there room for a long question, too? ";
  EXPECT_EQ(store_->claim(wish_for(asked)).error().code, errc::overloaded);
  good(store_->put(held.front(), putting_of(large("p0"), analysis_status::computing)));
  good(store_->put(one_more, putting_of(large("one more"))));  // what is whole does not count
  good(store_->fail(held.back(), {}, milliseconds(0)));
  static_cast<void>(claim(asked));
}

TEST_P(store_contract, remembers_so_many_names_of_providers_and_no_more) {
  auto what = small_analysis("x");
  const auto by = claim(what);
  for (std::size_t number = 0; number < max_provider_names + 200;) {
    what.votes.clear();
    for (std::size_t i = 0; i < 64; ++i) what.votes.push_back({.provider = "provider " + std::to_string(number++)});
    good(store_->put(by, putting_of(what, analysis_status::computing)));
  }
  std::size_t count = 0;
  for (const auto* digit : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {
    for (const auto* next : {"", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {
      // Two digits at a time, so that none of these has more than are named at once; and the one that is all of it.
      const auto prefix = std::string("provider ") + digit + next;
      const auto found = good(store_->list_names(analysis_store::name_kind::provider, prefix, *next == '\0' ? 1 : 1000));
      count += *next == '\0' ? static_cast<std::size_t>(std::count(found.begin(), found.end(), prefix)) : found.size();
    }
  }
  EXPECT_EQ(count, max_provider_names);
}

TEST_P(store_contract, spells_tickets) {
  const auto by = claim(small_analysis("x"));
  EXPECT_EQ(good(parse_ticket(format_ticket(by))), by);
  const std::string id = "fe6b1d0b3c1e00112233445566778899", secret = "0123456789abcdef";
  EXPECT_EQ(format_ticket({id, 12, secret}), "fe6b1d0b3c1e00112233445566778899.12.0123456789abcdef");
  EXPECT_EQ(good(parse_ticket(id + ".12." + secret)), (claim_ticket{id, 12, secret}));
  for (const auto& wrong : {std::string(),
                            std::string("x"),
                            std::string("."),
                            std::string(".."),
                            id,
                            id + '.',
                            id + ".1",
                            id + ".1.",
                            id + '.' + secret,
                            id + ".." + secret,
                            id + ".x." + secret,
                            id + ".1 ." + secret,
                            id + ".-1." + secret,
                            id + ".1.2." + secret,
                            id + ".18446744073709551616." + secret,
                            id + ".1." + secret.substr(1),
                            id + ".1." + secret + '0',
                            id + ".1.0123456789ABCDEF",
                            id + ".1." + secret + ' ',
                            "FE" + id.substr(2) + ".1." + secret,
                            id.substr(1) + ".1." + secret})
    EXPECT_FALSE(parse_ticket(wrong)) << wrong;
}

TEST_P(store_contract, claims_nothing_that_would_fall_apart) {
  const auto refused = [this](const std::function<void(claim_parameters&)>& spoil, std::string_view where) {
    auto wanted = wish_for(small_analysis("x"));
    spoil(wanted);
    const auto got = store_->claim(wanted);
    ASSERT_FALSE(got) << where;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_NE(got.error().public_text.find(where), std::string::npos) << got.error().public_text;
  };
  refused([](claim_parameters& it) { it.question.context = {{"memo:///a", "one\ntwo"}}; }, "context[0].version");
  refused([](claim_parameters& it) { it.question.context = {{"memo:///a\x1f", "1"}}; }, "context[0].uri");
  refused([](claim_parameters& it) { it.tags = {"good", "one\ntwo"}; }, "tags[1]");
  refused([](claim_parameters& it) { it.tags = {std::string(129, 'x')}; }, "tags[0]");
  refused([](claim_parameters& it) { it.session = std::string(257, 'x'); }, "session");
  refused([](claim_parameters& it) { it.question.prompt = "\xff\xfe"; }, "prompt");
  EXPECT_EQ(good(store_->read_info()).entries, 0u);
}

TEST_P(store_contract, asks_nobody_to_compute_anew_what_has_just_failed) {
  const auto what = small_analysis("x");
  put(what, analysis_status::complete, milliseconds(10));
  ASSERT_TRUE(eventually([&] { return look(what).status == cached_answer::cache_status::stale; }));
  good(store_->fail(claim(what), "all are down", std::chrono::hours(1)));
  const auto stale = good(store_->claim(wish_for(what)));
  EXPECT_FALSE(stale.ticket);
  EXPECT_EQ(stale.answer.status, cached_answer::cache_status::stale);
  EXPECT_EQ(stale.answer.failure_reason, "all are down");
  EXPECT_GT(stale.answer.failure_expires_at, good(store_->now()));
  put(what);
  auto anew = wish_for(what);
  anew.ignores_fresh_answer = true;
  const auto better = good(store_->claim(anew));
  ASSERT_TRUE(better.ticket) << "what was put ended that";
  EXPECT_TRUE(good(store_->claim(anew)).answer.claim);
  good(store_->fail(*better.ticket, "down again", std::chrono::hours(1)));
  const auto failed = good(store_->claim(anew));
  EXPECT_FALSE(failed.ticket);
  EXPECT_EQ(failed.answer.failure_reason, "down again");
  EXPECT_EQ(good(store_->claim(wish_for(what))).answer.status, cached_answer::cache_status::fresh);
  anew.is_forced = true;
  EXPECT_TRUE(good(store_->claim(anew)).ticket);
}

}  // namespace
}  // namespace hondana::analyses

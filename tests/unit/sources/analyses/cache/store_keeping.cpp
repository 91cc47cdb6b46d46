/// Forgetting, sweeping and listening in every kind of store.
#include <algorithm>
#include <string_view>
#include <thread>

#include "deadline.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

TEST_P(store_contract, forgets_by_id_tag_session_key_and_all) {
  auto a = small_analysis("a"), b = small_analysis("b"), c = small_analysis("c"), d = small_analysis("d");
  a.session = b.session = "s";
  b.tags = c.tags = {"t", "u"};
  const auto id = put(a).id;
  for (const auto& one : {b, c, d}) put(one);
  EXPECT_EQ(good(store_->forget({.tag = "none"})).count, 0u);
  EXPECT_EQ(good(store_->forget({.id = id})).count, 1u);
  EXPECT_EQ(look(a).what, answer::kind::missing);
  EXPECT_FALSE(good(store_->get(id)));
  EXPECT_EQ(good(store_->forget({.id = id})).count, 0u);
  EXPECT_EQ(good(store_->forget({.session = "s"})).count, 1u);
  EXPECT_EQ(look(b).what, answer::kind::missing);
  EXPECT_EQ(good(store_->names(store::naming::session, "", 10)), std::vector<std::string>());
  EXPECT_EQ(good(store_->names(store::naming::tag, "", 10)), (std::vector<std::string>{"t", "u"}));
  EXPECT_EQ(good(store_->forget({.tag = "u"})).count, 1u);
  EXPECT_EQ(good(store_->names(store::naming::tag, "", 10)), std::vector<std::string>());
  EXPECT_EQ(good(store_->forget({.of = key_of(d.asked).all})).count, 1u);
  EXPECT_EQ(good(store_->facts()).entries, 0u);
  EXPECT_EQ(good(store_->facts()).bytes, 0u);
  for (const auto& one : {a, b, c}) put(one);
  good(store_->fail(claim(d), "why", std::chrono::hours(1)));
  EXPECT_EQ(good(store_->forget({.everything = true})).count, 3u);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(look(d).what, answer::kind::missing) << "failures as well";
}

TEST_P(store_contract, forgets_what_rests_on_another_version_and_takes_such_claims) {
  auto old_one = small_analysis("a"), new_one = small_analysis("b"), unknown = small_analysis("c"), other = small_analysis("d");
  old_one.asked.context = {{"file:///x", "1"}};
  new_one.asked.context = {{"file:///x", "2"}, {"file:///y", "1"}};
  unknown.asked.context = {{"file:///x", ""}};
  other.asked.context = {{"file:///xy", "1"}};
  for (const auto& one : {old_one, new_one, unknown, other}) put(one);
  auto computed = small_analysis("e");
  computed.asked.context = {{"file:///x", "1"}};
  const auto by = claim(computed);
  const auto last = good(store_->changes_since(0, milliseconds(0), {})).last;
  EXPECT_EQ(good(store_->forget({.uri = "file:///x", .versions = {"2", "3"}})).count, 3u);
  EXPECT_EQ(look(old_one).what, answer::kind::missing);
  EXPECT_EQ(look(unknown).what, answer::kind::missing);
  EXPECT_EQ(look(new_one).what, answer::kind::fresh);
  EXPECT_EQ(look(other).what, answer::kind::fresh);
  const auto refused = store_->put(by, putting_of(computed));
  ASSERT_FALSE(refused) << "what it was based on has changed meanwhile";
  EXPECT_EQ(refused.error().code, errc::access_denied);
  const auto heard = good(store_->changes_since(last, milliseconds(0), {}));
  EXPECT_EQ(heard.all.size(), 3u);
  for (const auto& one : heard.all) EXPECT_EQ(one.what, change::kind::gone);
  EXPECT_EQ(good(store_->forget({.uri = "file:///x"})).count, 1u) << "no version holds any more";
}

TEST_P(store_contract, keeps_what_rests_on_an_unknown_version_where_that_is_said_to_hold) {
  auto old_one = small_analysis("a"), unknown = small_analysis("b");
  old_one.asked.context = {{"file:///x", "1"}};
  unknown.asked.context = {{"file:///x", ""}};
  put(old_one);
  put(unknown);
  EXPECT_EQ(good(store_->forget({.uri = "file:///x", .versions = {"1", ""}})).count, 0u);
  EXPECT_EQ(good(store_->forget({.uri = "file:///x", .versions = {"2", ""}})).count, 1u);
  EXPECT_EQ(look(old_one).what, answer::kind::missing);
  EXPECT_EQ(look(unknown).what, answer::kind::fresh);
  EXPECT_EQ(good(store_->forget({.uri = "file:///x", .versions = {"2"}})).count, 1u);
}

TEST_P(store_contract, finds_what_rests_on_a_resource_page_by_page) {
  const auto based_on = [&](const std::string& uri, std::size_t at_once) {
    std::vector<std::string> out;
    store::place_in_based behind;
    for (int pages = 0; pages < 20; ++pages) {
      const auto page = good(store_->based_on(uri, behind, at_once));
      EXPECT_LE(page.all.size(), at_once);
      for (const auto& one : page.all) out.push_back(one.title);
      if (page.is_last) return out;
      behind = page.next;
    }
    return std::vector<std::string>{"no end"};
  };
  std::vector<std::string> expected;
  for (int i = 0; i < 5; ++i) {
    auto what = small_analysis("p" + std::to_string(i));
    what.asked.context = {{"file:///x", i < 3 ? "1" : "2"}, {"file:///y", ""}};
    if (i == 4) {
      static_cast<void>(claim(what));
    } else {
      put(what);
    }
    expected.push_back("p" + std::to_string(i));
  }
  auto other = small_analysis("other");
  other.asked.context = {{"file:///xy", "1"}};
  put(other);
  for (const std::size_t at_once : {1u, 2u, 5u, 100u}) {
    for (const auto* uri : {"file:///x", "file:///y"}) {
      auto found = based_on(uri, at_once);
      if (uri == std::string_view("file:///x")) {
        ASSERT_EQ(found.size(), expected.size());
        EXPECT_TRUE(std::all_of(found.begin() + 3, found.end(), [](const auto& one) { return one >= "p3"; })) << "by version";
      }
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected) << uri << at_once;
    }
  }
  EXPECT_TRUE(based_on("file:///z", 10).empty());
  EXPECT_EQ(good(store_->forget({.uri = "file:///y"})).count, 5u);
  EXPECT_TRUE(based_on("file:///x", 10).empty());
}

TEST_P(store_contract, sweeps_what_is_over_and_the_oldest_beyond_its_limits) {
  const auto brief = small_analysis("brief");
  put(brief, status::complete, milliseconds(10), milliseconds(10));
  put(brief, status::below, milliseconds(10), milliseconds(0));
  ASSERT_TRUE(eventually([&] { return look(brief).what == answer::kind::missing; }));
  ASSERT_TRUE(eventually([&] { return good(store_->sweep({})).is_last && good(store_->facts()).entries == 0; }));
  std::vector<summary> all;
  for (int i = 0; i < 5; ++i) {
    const auto before = good(store_->now());
    ASSERT_TRUE(eventually([&] { return good(store_->now()) > before; }));
    all.push_back(put(small_analysis("p" + std::to_string(i))));
  }
  const auto after_them = good(store_->now());
  ASSERT_TRUE(eventually([&] { return good(store_->now()) > after_them; }));
  static_cast<void>(claim(small_analysis("claimed")));
  limits few;
  few.entries = 3;
  EXPECT_EQ(good(store_->sweep(few)).count, 2u);
  EXPECT_EQ(listed(), (std::vector<std::string>{"claimed", "p4", "p3", "p2"}));
  limits small;
  small.bytes = all[2].bytes + all[3].bytes + all[4].bytes - 1;
  EXPECT_EQ(good(store_->sweep(small)).count, 1u);
  EXPECT_EQ(listed(), (std::vector<std::string>{"claimed", "p4", "p3"}));
  limits young;
  young.age = milliseconds(1);
  const auto before = good(store_->now());
  ASSERT_TRUE(eventually([&] { return good(store_->now()) > before + milliseconds(2); }));
  EXPECT_EQ(good(store_->sweep(young)).count, 2u);
  EXPECT_EQ(listed(), std::vector<std::string>{"claimed"}) << "what is computed is left alone";
}

TEST_P(store_contract, holds_only_what_is_whole_against_its_limits) {
  limits within;
  within.bytes = 0;
  for (int i = 0; i < 6; ++i) within.bytes += put(small_analysis("p" + std::to_string(i))).bytes;
  within.entries = 6;
  auto large = small_analysis("large");
  large.asked.options = value::object{{"text", std::string(1u << 20, 'x')}};
  const auto by = claim(large);
  for (int i = 0; i < 2; ++i) {
    auto another = large;
    another.asked.prompt += std::to_string(i);
    static_cast<void>(claim(another));
  }
  good(store_->put(by, putting_of(large, status::computing)));
  EXPECT_EQ(good(store_->sweep(within)).count, 0u) << "three that are computed crowd nobody out";
  EXPECT_GT(good(store_->facts()).bytes, 3u << 20);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(look(small_analysis("p" + std::to_string(i))).what, answer::kind::fresh) << i;
  --within.bytes;
  EXPECT_EQ(good(store_->sweep(within)).count, 1u);
  const auto whole = good(store_->put(by, putting_of(large)));
  within.bytes += whole.bytes;
  EXPECT_EQ(good(store_->sweep(within)).count, 0u);
  within.entries = 5;
  EXPECT_EQ(good(store_->sweep(within)).count, 1u) << "it counts since it is whole";
  EXPECT_EQ(good(store_->facts()).entries, 7u);
}

TEST_P(store_contract, refuses_to_claim_a_question_of_more_than_two_mebibytes) {
  auto what = small_analysis("x");
  what.asked.options = value::object{{"text", std::string(2'097'152, 'x')}};
  const auto refused = store_->claim(wish_for(what));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().public_text.find("can have at most 2097152 bytes of JSON (2 MiB)"), std::string::npos)
      << refused.error().public_text;
  EXPECT_NE(refused.error().public_text.find("name large parts as resources in context"), std::string::npos);
  auto wide = small_analysis("x");
  for (int i = 0; i < 1000; ++i) wide.asked.context.push_back({"file:///" + std::to_string(i), std::string(2'100, 'v')});
  EXPECT_FALSE(store_->claim(wish_for(wide))) << "all of it counts together";
  EXPECT_EQ(good(store_->facts()).claims, 0u);
  EXPECT_EQ(good(store_->facts()).bytes, 0u);
  what.asked.options = value::object{{"text", std::string(2'097'000, 'x')}};
  good(store_->put(claim(what), putting_of(what)));
  EXPECT_EQ(look(what).what, answer::kind::fresh);
}

TEST_P(store_contract, tells_what_has_happened_in_order) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {}));
  EXPECT_TRUE(start.all.empty());
  EXPECT_GT(start.last, 0u);
  const auto what = small_analysis("x");
  const auto by = claim(what);
  good(store_->put(by, putting_of(what, status::computing)));
  good(store_->put(by, putting_of(what)));
  good(store_->forget({.id = by.id}));
  good(store_->fail(claim(what), "no", milliseconds(0)));
  const auto heard = good(store_->changes_since(start.last, milliseconds(0), {}));
  ASSERT_EQ(heard.all.size(), 6u);
  using kind = change::kind;
  const std::vector<kind> expected{kind::claimed, kind::part, kind::put, kind::gone, kind::claimed, kind::failed};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(heard.all[i].what, expected[i]) << i;
    EXPECT_EQ(heard.all[i].of, key_of(what.asked).all);
    if (i < 4) {
      EXPECT_EQ(heard.all[i].id, by.id);
    }
  }
  EXPECT_EQ(heard.last, heard.all.back().number);
  EXPECT_TRUE(heard.is_complete);
  EXPECT_TRUE(good(store_->changes_since(heard.last, milliseconds(0), {})).all.empty());
  EXPECT_FALSE(good(store_->changes_since(heard.last + 1000, milliseconds(0), {})).is_complete) << "another store's number";
}

TEST_P(store_contract, wakes_whoever_listens) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {})).last;
  changes heard;
  std::jthread listener([&] { heard = good(store_->changes_since(start, hondana_test::event_deadline, {})); });
  const auto other = data_->is_in_memory() ? store_ : data_->open();
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(good(other->claim(wish_for(small_analysis("x")))).by);
  listener.join();
  ASSERT_EQ(heard.all.size(), 1u);
  EXPECT_EQ(heard.all[0].what, change::kind::claimed);
  std::stop_source stop;
  std::jthread stopped([&] { good(store_->changes_since(heard.last, std::chrono::hours(1), stop.get_token())); });
  stop.request_stop();
  stopped.join();
}

TEST_P(store_contract, forgets_old_changes_and_says_so) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {})).last;
  const auto what = small_analysis("x");
  const auto by = claim(what);
  const auto part = putting_of(what, status::computing);
  for (int i = 0; i < 10'300; ++i)
    if (!store_->put(by, part)) FAIL();
  const auto heard = good(store_->changes_since(start, milliseconds(0), {}));
  EXPECT_FALSE(heard.is_complete);
  EXPECT_TRUE(heard.all.empty());
  EXPECT_EQ(good(store_->changes_since(heard.last - 10, milliseconds(0), {})).all.size(), 10u);
}

TEST_P(store_contract, counts_without_an_end_of_its_numbers) {
  statistics more;
  auto& one = more.of(task_type::basic);
  one.hits = 5;
  one.milliseconds_saved = most_milliseconds;
  for (int i = 0; i < 3; ++i) good(store_->count(more));
  const auto all = good(store_->counted()).of(task_type::basic);
  EXPECT_EQ(all.hits, 15u);
  EXPECT_EQ(all.milliseconds_saved, most_milliseconds);
}

TEST_P(store_contract, evicts_behind_many_that_are_being_computed) {
  for (int i = 0; i < 510; ++i) static_cast<void>(claim(small_analysis("claimed" + std::to_string(i))));
  for (int i = 0; i < 3; ++i) put(small_analysis("p" + std::to_string(i)));
  limits few;
  few.entries = 1;
  EXPECT_EQ(good(store_->sweep(few)).count, 2u);
  EXPECT_EQ(good(store_->facts()).entries, 511u);
}

TEST_P(store_contract, forgets_all_versions_of_a_resource_that_has_very_many) {
  auto what = small_analysis("x");
  for (int i = 0; i < 1010; ++i) {
    what.asked.context = {{"memo:///changing", "v" + std::to_string(i)}};
    static_cast<void>(claim(what));
  }
  forgetting which;
  which.uri = "memo:///changing";
  for (int i = 0; i < 10 && !good(store_->forget(which)).is_last; ++i) {
  }
  EXPECT_EQ(good(store_->facts()).entries, 0u);
}

}  // namespace
}  // namespace hondana::analyses

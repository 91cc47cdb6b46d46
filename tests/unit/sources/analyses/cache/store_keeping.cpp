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
  EXPECT_EQ(good(store_->erase({.tag = "none"})).count, 0u);
  EXPECT_EQ(good(store_->erase({.id = id})).count, 1u);
  EXPECT_EQ(look(a).status, cached_answer::cache_status::missing);
  EXPECT_FALSE(good(store_->get(id)));
  EXPECT_EQ(good(store_->erase({.id = id})).count, 0u);
  EXPECT_EQ(good(store_->erase({.session = "s"})).count, 1u);
  EXPECT_EQ(look(b).status, cached_answer::cache_status::missing);
  EXPECT_EQ(good(store_->list_names(analysis_store::name_kind::session, "", 10)), std::vector<std::string>());
  EXPECT_EQ(good(store_->list_names(analysis_store::name_kind::tag, "", 10)), (std::vector<std::string>{"t", "u"}));
  EXPECT_EQ(good(store_->erase({.tag = "u"})).count, 1u);
  EXPECT_EQ(good(store_->list_names(analysis_store::name_kind::tag, "", 10)), std::vector<std::string>());
  EXPECT_EQ(good(store_->erase({.key = make_key(d.question).digest})).count, 1u);
  EXPECT_EQ(good(store_->read_info()).entries, 0u);
  EXPECT_EQ(good(store_->read_info()).bytes, 0u);
  for (const auto& one : {a, b, c}) put(one);
  good(store_->fail(claim(d), "why", std::chrono::hours(1)));
  EXPECT_EQ(good(store_->erase({.everything = true})).count, 3u);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(look(d).status, cached_answer::cache_status::missing) << "failures as well";
}

TEST_P(store_contract, forgets_what_rests_on_another_version_and_takes_such_claims) {
  auto old_one = small_analysis("a"), new_one = small_analysis("b"), unknown = small_analysis("c"), other = small_analysis("d");
  old_one.question.context = {{"file:///x", "1"}};
  new_one.question.context = {{"file:///x", "2"}, {"file:///y", "1"}};
  unknown.question.context = {{"file:///x", ""}};
  other.question.context = {{"file:///xy", "1"}};
  for (const auto& one : {old_one, new_one, unknown, other}) put(one);
  auto computed = small_analysis("e");
  computed.question.context = {{"file:///x", "1"}};
  const auto by = claim(computed);
  const auto last = good(store_->changes_since(0, milliseconds(0), {})).last_number;
  EXPECT_EQ(good(store_->erase({.uri = "file:///x", .versions = {"2", "3"}})).count, 3u);
  EXPECT_EQ(look(old_one).status, cached_answer::cache_status::missing);
  EXPECT_EQ(look(unknown).status, cached_answer::cache_status::missing);
  EXPECT_EQ(look(new_one).status, cached_answer::cache_status::fresh);
  EXPECT_EQ(look(other).status, cached_answer::cache_status::fresh);
  const auto refused = store_->put(by, putting_of(computed));
  ASSERT_FALSE(refused) << "what it was based on has changed meanwhile";
  EXPECT_EQ(refused.error().code, errc::access_denied);
  const auto heard = good(store_->changes_since(last, milliseconds(0), {}));
  EXPECT_EQ(heard.changes.size(), 3u);
  for (const auto& one : heard.changes) EXPECT_EQ(one.event, store_change::event_kind::removed);
  EXPECT_EQ(good(store_->erase({.uri = "file:///x"})).count, 1u) << "no version holds any more";
}

TEST_P(store_contract, keeps_what_rests_on_an_unknown_version_where_that_is_said_to_hold) {
  auto old_one = small_analysis("a"), unknown = small_analysis("b");
  old_one.question.context = {{"file:///x", "1"}};
  unknown.question.context = {{"file:///x", ""}};
  put(old_one);
  put(unknown);
  EXPECT_EQ(good(store_->erase({.uri = "file:///x", .versions = {"1", ""}})).count, 0u);
  EXPECT_EQ(good(store_->erase({.uri = "file:///x", .versions = {"2", ""}})).count, 1u);
  EXPECT_EQ(look(old_one).status, cached_answer::cache_status::missing);
  EXPECT_EQ(look(unknown).status, cached_answer::cache_status::fresh);
  EXPECT_EQ(good(store_->erase({.uri = "file:///x", .versions = {"2"}})).count, 1u);
}

TEST_P(store_contract, finds_what_rests_on_a_resource_page_by_page) {
  const auto based_on = [&](const std::string& uri, std::size_t at_once) {
    std::vector<std::string> out;
    analysis_store::resource_position behind;
    for (int pages = 0; pages < 20; ++pages) {
      const auto page = good(store_->list_by_resource(uri, behind, at_once));
      EXPECT_LE(page.summaries.size(), at_once);
      for (const auto& one : page.summaries) out.push_back(one.title);
      if (page.is_last) return out;
      behind = page.next;
    }
    return std::vector<std::string>{"no end"};
  };
  std::vector<std::string> expected;
  for (int i = 0; i < 5; ++i) {
    auto what = small_analysis("p" + std::to_string(i));
    what.question.context = {{"file:///x", i < 3 ? "1" : "2"}, {"file:///y", ""}};
    if (i == 4) {
      static_cast<void>(claim(what));
    } else {
      put(what);
    }
    expected.push_back("p" + std::to_string(i));
  }
  auto other = small_analysis("other");
  other.question.context = {{"file:///xy", "1"}};
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
  // From version to version.
  const std::string last_id(32, 'f');
  EXPECT_EQ(good(store_->list_by_resource("file:///x", {}, 1)).next.version, "1");
  const auto newer = good(store_->list_by_resource("file:///x", {"1", last_id}, 1));
  EXPECT_EQ(newer.next.version, "2");
  EXPECT_FALSE(newer.is_last);
  EXPECT_TRUE(good(store_->list_by_resource("file:///x", {"1", last_id}, 2)).is_last);
  const auto behind_all = good(store_->list_by_resource("file:///x", {"2", last_id}, 1));
  EXPECT_EQ(behind_all.next.id, "");
  EXPECT_TRUE(behind_all.is_last);
  EXPECT_EQ(good(store_->erase({.uri = "file:///y"})).count, 5u);
  EXPECT_TRUE(based_on("file:///x", 10).empty());
}

TEST_P(store_contract, sweeps_what_is_over_and_the_oldest_beyond_its_limits) {
  const auto brief = small_analysis("brief");
  put(brief, analysis_status::complete, milliseconds(10), milliseconds(10));
  put(brief, analysis_status::below_thresholds, milliseconds(10), milliseconds(0));
  ASSERT_TRUE(eventually([&] { return look(brief).status == cached_answer::cache_status::missing; }));
  ASSERT_TRUE(eventually([&] { return good(store_->sweep({})).is_last && good(store_->read_info()).entries == 0; }));
  std::vector<analysis_summary> all;
  for (int i = 0; i < 5; ++i) {
    const auto before = good(store_->now());
    ASSERT_TRUE(eventually([&] { return good(store_->now()) > before; }));
    all.push_back(put(small_analysis("p" + std::to_string(i))));
  }
  const auto after_them = good(store_->now());
  ASSERT_TRUE(eventually([&] { return good(store_->now()) > after_them; }));
  static_cast<void>(claim(small_analysis("claimed")));
  store_limits few;
  few.max_entries = 3;
  EXPECT_EQ(good(store_->sweep(few)).count, 2u);
  EXPECT_EQ(listed(), (std::vector<std::string>{"claimed", "p4", "p3", "p2"}));
  store_limits small;
  small.max_bytes = all[2].bytes + all[3].bytes + all[4].bytes - 1;
  EXPECT_EQ(good(store_->sweep(small)).count, 1u);
  EXPECT_EQ(listed(), (std::vector<std::string>{"claimed", "p4", "p3"}));
  store_limits young;
  young.max_age = milliseconds(1);
  const auto before = good(store_->now());
  ASSERT_TRUE(eventually([&] { return good(store_->now()) > before + milliseconds(2); }));
  EXPECT_EQ(good(store_->sweep(young)).count, 2u);
  EXPECT_EQ(listed(), std::vector<std::string>{"claimed"}) << "what is computed is left alone";
}

TEST_P(store_contract, holds_only_what_is_whole_against_its_limits) {
  store_limits within;
  within.max_bytes = 0;
  for (int i = 0; i < 6; ++i) within.max_bytes += put(small_analysis("p" + std::to_string(i))).bytes;
  within.max_entries = 6;
  auto large = small_analysis("large");
  large.question.options = value::object{{"text", std::string(1u << 20, 'x')}};
  const auto by = claim(large);
  for (int i = 0; i < 2; ++i) {
    auto another = large;
    another.question.prompt += std::to_string(i);
    static_cast<void>(claim(another));
  }
  good(store_->put(by, putting_of(large, analysis_status::computing)));
  EXPECT_EQ(good(store_->sweep(within)).count, 0u) << "three that are computed crowd nobody out";
  EXPECT_GT(good(store_->read_info()).bytes, 3u << 20);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(look(small_analysis("p" + std::to_string(i))).status, cached_answer::cache_status::fresh) << i;
  --within.max_bytes;
  EXPECT_EQ(good(store_->sweep(within)).count, 1u);
  const auto whole = good(store_->put(by, putting_of(large)));
  within.max_bytes += whole.bytes;
  EXPECT_EQ(good(store_->sweep(within)).count, 0u);
  within.max_entries = 5;
  EXPECT_EQ(good(store_->sweep(within)).count, 1u) << "it counts since it is whole";
  EXPECT_EQ(good(store_->read_info()).entries, 7u);
}

TEST_P(store_contract, refuses_to_claim_a_question_of_more_than_two_mebibytes) {
  auto what = small_analysis("x");
  what.question.options = value::object{{"text", std::string(2'097'152, 'x')}};
  const auto refused = store_->claim(wish_for(what));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().public_text.find("can have at most 2097152 bytes of JSON (2 MiB)"), std::string::npos)
      << refused.error().public_text;
  EXPECT_NE(refused.error().public_text.find("name large parts as resources in context"), std::string::npos);
  auto wide = small_analysis("x");
  for (int i = 0; i < 1000; ++i) wide.question.context.push_back({"file:///" + std::to_string(i), std::string(2'100, 'v')});
  EXPECT_FALSE(store_->claim(wish_for(wide))) << "all of it counts together";
  EXPECT_EQ(good(store_->read_info()).claims, 0u);
  EXPECT_EQ(good(store_->read_info()).bytes, 0u);
  what.question.options = value::object{{"text", std::string(2'097'000, 'x')}};
  good(store_->put(claim(what), putting_of(what)));
  EXPECT_EQ(look(what).status, cached_answer::cache_status::fresh);
}

TEST_P(store_contract, tells_what_has_happened_in_order) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {}));
  EXPECT_TRUE(start.changes.empty());
  EXPECT_GT(start.last_number, 0u);
  const auto what = small_analysis("x");
  const auto by = claim(what);
  good(store_->put(by, putting_of(what, analysis_status::computing)));
  good(store_->put(by, putting_of(what)));
  good(store_->erase({.id = by.id}));
  good(store_->fail(claim(what), "no", milliseconds(0)));
  const auto heard = good(store_->changes_since(start.last_number, milliseconds(0), {}));
  ASSERT_EQ(heard.changes.size(), 6u);
  using kind = store_change::event_kind;
  const std::vector<kind> expected{kind::claimed, kind::part, kind::put, kind::removed, kind::claimed, kind::failed};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(heard.changes[i].event, expected[i]) << i;
    EXPECT_EQ(heard.changes[i].key, make_key(what.question).digest);
    if (i < 4) {
      EXPECT_EQ(heard.changes[i].id, by.id);
    }
  }
  EXPECT_EQ(heard.last_number, heard.changes.back().number);
  EXPECT_TRUE(heard.is_complete);
  EXPECT_TRUE(good(store_->changes_since(heard.last_number, milliseconds(0), {})).changes.empty());
  EXPECT_FALSE(good(store_->changes_since(heard.last_number + 1000, milliseconds(0), {})).is_complete)
      << "another store's number";
}

TEST_P(store_contract, wakes_whoever_listens) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {})).last_number;
  change_batch heard;
  std::jthread listener([&] { heard = good(store_->changes_since(start, hondana_test::event_deadline, {})); });
  const auto other = data_->is_in_memory() ? store_ : data_->open();
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(good(other->claim(wish_for(small_analysis("x")))).ticket);
  listener.join();
  ASSERT_EQ(heard.changes.size(), 1u);
  EXPECT_EQ(heard.changes[0].event, store_change::event_kind::claimed);
  std::stop_source stop;
  std::jthread stopped([&] { good(store_->changes_since(heard.last_number, std::chrono::hours(1), stop.get_token())); });
  stop.request_stop();
  stopped.join();
}

TEST_P(store_contract, forgets_old_changes_and_says_so) {
  const auto start = good(store_->changes_since(0, milliseconds(0), {})).last_number;
  const auto what = small_analysis("x");
  const auto by = claim(what);
  const auto part = putting_of(what, analysis_status::computing);
  for (int i = 0; i < 10'300; ++i)
    if (!store_->put(by, part)) FAIL();
  const auto heard = good(store_->changes_since(start, milliseconds(0), {}));
  EXPECT_FALSE(heard.is_complete);
  EXPECT_TRUE(heard.changes.empty());
  EXPECT_EQ(good(store_->changes_since(heard.last_number - 10, milliseconds(0), {})).changes.size(), 10u);
}

TEST_P(store_contract, counts_without_an_end_of_its_numbers) {
  statistics more;
  auto& one = more.for_task(task_type::basic);
  one.hits = 5;
  one.milliseconds_saved = max_milliseconds;
  for (int i = 0; i < 3; ++i) good(store_->add_statistics(more));
  const auto all = good(store_->read_statistics()).for_task(task_type::basic);
  EXPECT_EQ(all.hits, 15u);
  EXPECT_EQ(all.milliseconds_saved, max_milliseconds);
}

TEST_P(store_contract, evicts_behind_many_that_are_being_computed) {
  for (int i = 0; i < 510; ++i) static_cast<void>(claim(small_analysis("claimed" + std::to_string(i))));
  for (int i = 0; i < 3; ++i) put(small_analysis("p" + std::to_string(i)));
  store_limits few;
  few.max_entries = 1;
  EXPECT_EQ(good(store_->sweep(few)).count, 2u);
  EXPECT_EQ(good(store_->read_info()).entries, 511u);
}

TEST_P(store_contract, forgets_all_versions_of_a_resource_that_has_very_many) {
  auto what = small_analysis("x");
  for (int i = 0; i < 1010; ++i) {
    what.question.context = {{"memo:///changing", "v" + std::to_string(i)}};
    static_cast<void>(claim(what));
  }
  erase_filter which;
  which.uri = "memo:///changing";
  for (int i = 0; i < 10 && !good(store_->erase(which)).is_last; ++i) {
  }
  EXPECT_EQ(good(store_->read_info()).entries, 0u);
}

}  // namespace
}  // namespace hondana::analyses

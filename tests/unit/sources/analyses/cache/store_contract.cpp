/// Analyses in every kind of store: claimed, put, looked up, listed and named.
#include "unit/sources/analyses/cache/store_contract.hpp"
#include "deadline.hpp"

#include <algorithm>
#include <set>

namespace hondana::analyses {

void store_contract::SetUp() {
  data_ = GetParam().make();
  store_ = data_->open();
  ASSERT_NE(store_, nullptr);
}

void store_contract::TearDown() {
  store_.reset();
  data_.reset();
}

claim_ticket store_contract::claim(const analysis& what, milliseconds lease, bool is_forced) {
  auto wanted = wish_for(what, lease);
  wanted.is_forced = is_forced;
  const auto got = good(store_->claim(wanted));
  EXPECT_TRUE(got.ticket) << "somebody else has the claim";
  return got.ticket.value_or(claim_ticket());
}

analysis_summary store_contract::put(const analysis& what, analysis_status how, milliseconds fresh, milliseconds stale) {
  return good(store_->put(claim(what, std::chrono::hours(1), true), putting_of(what, how, fresh, stale)));
}

cached_answer store_contract::look(const analysis& what) { return good(store_->look_up(make_key(what.question))); }

std::vector<std::string> store_contract::listed(const list_filter& which) {
  std::vector<std::string> out;
  for (const auto& one : good(store_->list(which, {}, 1000)).summaries) out.push_back(one.title);
  return out;
}

bool store_contract::eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  auto last = good(store_->changes_since(0, milliseconds(0), {})).last_number;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    last = good(store_->changes_since(last, milliseconds(5), {})).last_number;
  }
  return true;
}

namespace {

TEST_P(store_contract, has_nothing_when_it_is_new) {
  EXPECT_EQ(look(small_analysis("x")).status, cached_answer::cache_status::missing);
  EXPECT_FALSE(good(store_->get("fe6b1d0b3c1e00112233445566778899")));
  EXPECT_FALSE(good(store_->get("no id")));
  EXPECT_FALSE(good(store_->get_summary("no id")));
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(good(store_->list_names(analysis_store::name_kind::id, "", 10)).empty());
  EXPECT_TRUE(good(store_->list_resource_versions("", 10)).empty());
  EXPECT_EQ(good(store_->read_info()).entries, 0u);
  EXPECT_EQ(good(store_->read_statistics()), statistics());
  EXPECT_EQ(good(store_->erase({.id = "fe6b1d0b3c1e00112233445566778899"})).count, 0u);
  EXPECT_EQ(good(store_->sweep({})).count, 0u);
  EXPECT_FALSE(store_->list({}, "no id", 10));
}

TEST_P(store_contract, gives_back_what_was_put) {
  const auto what = whole_analysis();
  const auto by = claim(what);
  const auto kept = good(store_->put(by, putting_of(what)));
  EXPECT_EQ(kept.id, by.id);
  EXPECT_EQ(kept.status, analysis_status::complete);
  EXPECT_EQ(kept.expires_at - kept.changed_at, std::chrono::hours(1));
  EXPECT_EQ(kept.removed_at - kept.expires_at, std::chrono::hours(1));
  const auto found = look(what);
  ASSERT_EQ(found.status, cached_answer::cache_status::fresh);
  EXPECT_EQ(found.entry->summary, kept);
  EXPECT_FALSE(found.entry->is_stale);
  auto back = good(decode_analysis(*found.entry));
  EXPECT_EQ(back.id, by.id);
  EXPECT_EQ(back.status, analysis_status::complete);
  EXPECT_EQ(*back.created_at, kept.created_at);
  EXPECT_EQ(*back.expires_at, kept.expires_at);
  back.id.clear();
  back.status.reset();
  back.created_at.reset();
  back.expires_at.reset();
  EXPECT_EQ(back, what);
  const auto again = good(store_->get(by.id));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->summary, kept);
  EXPECT_EQ(again->body, found.entry->body);
  EXPECT_EQ(*good(store_->get_summary(by.id)), kept);
  EXPECT_EQ(kept.title, "設計をどう直すべきか");
  EXPECT_EQ(kept.session, "session-42");
  EXPECT_EQ(kept.confidence, 0.91);
  EXPECT_NEAR(kept.agreement, 0.85, 1e-12);
  EXPECT_EQ(kept.cost, 0.153);
  EXPECT_EQ(kept.duration, milliseconds(12'600));
  EXPECT_EQ(kept.rounds, 3u);
  EXPECT_EQ(kept.providers, 4u);
  EXPECT_EQ(kept.bytes, again->body.size());
  if (data_->is_in_memory()) return;
  const auto other = data_->open();
  EXPECT_EQ(good(other->look_up(make_key(what.question))).entry->body, again->body);
}

TEST_P(store_contract, keeps_any_text_and_number_as_it_is) {
  auto what = small_analysis("\"'\\ %s {} \u2028 絵文字🗻 \x01\n", std::string("\0\x7f$*\r\n-ERR", 10));
  what.session = "セッション 'x' {y}";
  what.tags = {"a b", "日本", "{tag}"};
  what.total.cost = 1e-9;
  what.question.context = {{"file:///a%20b", ""}, {"x://h/%E3%81%82", "v:1 {}"}};
  what.consensus->confidence = 0.1 + 0.2;
  put(what);
  const auto found = look(what);
  ASSERT_EQ(found.status, cached_answer::cache_status::fresh);
  const auto back = good(decode_analysis(*found.entry));
  EXPECT_EQ(back.question, what.question);
  EXPECT_EQ(back.consensus, what.consensus);
  EXPECT_EQ(found.entry->summary.confidence, 0.1 + 0.2);
  EXPECT_EQ(found.entry->summary.cost, 1e-9);
  EXPECT_EQ(good(store_->list_names(analysis_store::name_kind::session, "", 10)), std::vector<std::string>{what.session});
  EXPECT_EQ(good(store_->list_names(analysis_store::name_kind::tag, "", 10)),
            (std::vector<std::string>{"a b", "{tag}", "日本"}));
  EXPECT_EQ(good(store_->list_resource_versions("", 10)),
            (std::vector<resource_version>{{"file:///a%20b", ""}, {"x://h/%E3%81%82", "v:1 {}"}}));
  EXPECT_EQ(good(store_->erase({.tag = "{tag}"})).count, 1u);
}

TEST_P(store_contract, keeps_a_large_one) {
  auto what = small_analysis("x", std::string(7u << 20, 'z'));
  put(what);
  EXPECT_EQ(look(what).entry->body, encode_body(what));
}

TEST_P(store_contract, lists_newest_first_page_by_page) {
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(put(small_analysis("p" + std::to_string(i))).id);
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> seen;
  std::string after;
  for (int pages = 0; pages < 10; ++pages) {
    const auto got = good(store_->list({}, after, 3));
    EXPECT_LE(got.summaries.size(), 3u);
    for (const auto& one : got.summaries) seen.push_back(one.id);
    after = got.next;
    if (got.is_last) break;
  }
  EXPECT_EQ(seen, ids);
  const auto all = good(store_->list({}, {}, 1000)).summaries;
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.created_at > b.created_at; }));
}

TEST_P(store_contract, lists_what_is_meant) {
  auto a = small_analysis("a"), b = small_analysis("b"), c = small_analysis("c");
  a.session = b.session = "s";
  b.tags = c.tags = {"t"};
  c.task = task_type::critical;
  for (const auto& one : {a, b, c}) put(one);
  auto again = small_analysis("a");
  again.question.models = {"m"};
  put(again);
  const auto names = [this](const list_filter& which) {
    auto out = listed(which);
    std::sort(out.begin(), out.end());
    return out;
  };
  using texts = std::vector<std::string>;
  EXPECT_EQ(names({}), (texts{"a", "a", "b", "c"}));
  EXPECT_EQ(names({.session = "s"}), (texts{"a", "b"}));
  EXPECT_EQ(names({.session = "none"}), texts());
  EXPECT_EQ(names({.tag = "t"}), (texts{"b", "c"}));
  EXPECT_EQ(names({.session = "s", .tag = "t"}), texts{"b"});
  EXPECT_EQ(names({.task = task_type::critical}), texts{"c"});
  EXPECT_EQ(names({.tag = "t", .task = task_type::basic}), texts{"b"});
  EXPECT_EQ(names({.prompt_digest = make_key(a.question).prompt_digest}), (texts{"a", "a"}));
  EXPECT_EQ(names({.key = make_key(a.question).digest}), texts{"a"});
  EXPECT_EQ(names({.tag = "t", .key = make_key(a.question).digest}), texts());
}

TEST_P(store_contract, names_ids_sessions_providers_and_tags_that_begin_so) {
  auto what = small_analysis("a");
  what.session = "alpha";
  what.tags = {"one", "two"};
  const auto id = put(what).id;
  what = small_analysis("b");
  what.session = "alpine";
  what.votes = {vote_of("zeta")};
  put(what);
  using texts = std::vector<std::string>;
  const auto names = [this](analysis_store::name_kind which, const std::string& prefix, std::size_t most = 100) {
    return good(store_->list_names(which, prefix, most));
  };
  EXPECT_EQ(names(analysis_store::name_kind::session, "al"), (texts{"alpha", "alpine"}));
  EXPECT_EQ(names(analysis_store::name_kind::session, "alpi"), texts{"alpine"});
  EXPECT_EQ(names(analysis_store::name_kind::session, "", 1), texts{"alpha"});
  EXPECT_EQ(names(analysis_store::name_kind::tag, "t"), texts{"two"});
  EXPECT_EQ(names(analysis_store::name_kind::tag, "tx"), texts());
  EXPECT_EQ(names(analysis_store::name_kind::provider, ""), (texts{"a", "b", "zeta"}));
  EXPECT_EQ(names(analysis_store::name_kind::id, "").size(), 2u);
  EXPECT_EQ(names(analysis_store::name_kind::id, id.substr(0, 15)).front().substr(0, 15), id.substr(0, 15));
  EXPECT_EQ(names(analysis_store::name_kind::id, id), texts{id});
  EXPECT_EQ(names(analysis_store::name_kind::id, "xyz"), texts());
  EXPECT_EQ(names(analysis_store::name_kind::id, id + "0"), texts());
}

TEST_P(store_contract, says_what_analyses_are_based_on) {
  auto a = small_analysis("a"), b = small_analysis("b"), c = small_analysis("c");
  a.question.context = {{"x:1", "v1"}, {"x:2", "v1"}};
  b.question.context = {{"x:1", "v2"}};
  c.question.context = {{"x:1", "v1"}};
  for (const auto& one : {a, b, c}) put(one);
  EXPECT_EQ(good(store_->list_resource_versions("", 10)),
            (std::vector<resource_version>{{"x:1", "v1"}, {"x:1", "v2"}, {"x:2", "v1"}}));
  EXPECT_EQ(good(store_->list_resource_versions("x:1", 10)), (std::vector<resource_version>{{"x:2", "v1"}}));
  EXPECT_EQ(good(store_->list_resource_versions("", 1)), (std::vector<resource_version>{{"x:1", "v1"}, {"x:1", "v2"}}));
  EXPECT_EQ(good(store_->erase({.uri = "x:1", .versions = {"v2"}})).count, 2u);
  EXPECT_EQ(good(store_->list_resource_versions("", 10)), (std::vector<resource_version>{{"x:1", "v2"}}));
}

TEST_P(store_contract, counts_by_task) {
  statistics some;
  some.for_task(task_type::premium) = {1, 2, 3, 4, 5, 6, 0.25, 0.5, 7, 8};
  some.for_task(task_type::basic).hits = 9;
  good(store_->add_statistics(some));
  good(store_->add_statistics(some));
  auto both = some;
  both += some;
  EXPECT_EQ(good(store_->read_statistics()), both);
  good(store_->add_statistics({}));
  EXPECT_EQ(good(store_->read_statistics()), both);
}

TEST_P(store_contract, tells_facts) {
  const auto a = put(small_analysis("a"));
  const auto b = put(small_analysis("b"));
  static_cast<void>(claim(small_analysis("c")));
  const auto facts = good(store_->read_info());
  EXPECT_EQ(facts.entries, 3u);
  EXPECT_EQ(facts.claims, 1u);
  EXPECT_GE(facts.bytes, a.bytes + b.bytes);
  EXPECT_EQ(*facts.oldest, std::min(a.created_at, b.created_at));
  EXPECT_GE(*facts.newest, *facts.oldest);
  EXPECT_FALSE(facts.location.empty());
}

}  // namespace
}  // namespace hondana::analyses

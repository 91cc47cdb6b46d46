/// The source by itself: lists, reads, completion, and what views hide.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "unit/server/gate/ruled_view.hpp"
#include "unit/sources/analyses/made.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::analyses_source {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Shows what is not among these.
class all_but final : public access_filter {
 public:
  explicit all_but(std::set<std::string> hidden) : hidden_(std::move(hidden)) {}
  std::uint64_t id() const noexcept override { return 7; }
  bool may_see(std::string_view uri) const override {
    return std::none_of(hidden_.begin(), hidden_.end(), [uri](const std::string& one) { return uri.starts_with(one); });
  }

 private:
  std::set<std::string> hidden_;
};

/// Waits until the thread of a cache has told of what was put.
class heard_puts {
 public:
  explicit heard_puts(analyses::cache& in)
      : listening_(in.listen([to = heard_](const analyses::store_change* what) {
          const std::lock_guard lock(to->mutex);
          if (what != nullptr && what->event == analyses::store_change::event_kind::put) to->ids.insert(what->id);
          to->changed.notify_all();
        })) {}
  bool has(const std::string& id) const {
    std::unique_lock lock(heard_->mutex);
    return heard_->changed.wait_for(lock, hondana_test::event_deadline, [&] { return heard_->ids.contains(id); });
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> ids;
  };
  std::shared_ptr<state> heard_ = std::make_shared<state>();
  std::shared_ptr<void> listening_;
};

class source_of_analyses : public testing::Test {
 protected:
  std::string put(const std::string& prompt, double confidence = 0.95, const std::string& session = {}) {
    return test::put_into(*kept_, test::made_analysis(prompt, confidence, session));
  }
  result<read_result> read(const std::string& uri, caller_info who = {}) {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.caller = std::move(who);
    return source_->read(request);
  }
  std::string text(const std::string& uri, caller_info who = {}) {
    const auto got = read(uri, std::move(who));
    if (!got) return "error: " + got.error().public_text;
    return *std::get<shared_bytes>(got->contents.at(0).data);
  }
  std::vector<std::string> list(std::size_t at_once) {
    std::vector<std::string> out;
    list_request request;
    request.limit = at_once;
    for (;;) {
      const auto page = source_->list(request);
      EXPECT_TRUE(page) << page.error().public_text;
      if (!page) return out;
      EXPECT_LE(page->entries.size(), at_once);
      for (const auto& one : page->entries) out.push_back(one.uri);
      if (!page->next_key) return out;
      request.after_key = *page->next_key;
    }
  }
  std::vector<std::string> complete(const std::string& argument, const std::string& typed, caller_info who = {},
                                    std::vector<std::pair<std::string, std::string>> context = {}) {
    complete_request request;
    request.uri_template = "wallbounce://analyses/{id}/votes/{provider}{?format}";
    request.argument = argument;
    request.value = typed;
    request.caller = std::move(who);
    request.context = std::move(context);
    const auto got = source_->complete(request);
    EXPECT_TRUE(got) << got.error().public_text;
    return got ? got->values : std::vector<std::string>();
  }
  static caller_info without(std::set<std::string> hidden) {
    caller_info out;
    out.access_filter = std::make_shared<all_but>(std::move(hidden));
    return out;
  }
  static std::string by_prompt_of(const std::string& prompt) {
    analyses::model_question asked;
    asked.prompt = prompt;
    return by_prompt_uri(analyses::make_key(asked).prompt_digest);
  }

  const manual_clock still_{};
  test::moved_clock clock_;
  std::shared_ptr<analyses::cache> kept_ = test::cache_in_memory(clock_);
  std::shared_ptr<analyses_provider> source_ = test::provider_of(kept_);
};

TEST_F(source_of_analyses, lists_the_newest_first_whatever_the_size_of_pages) {
  std::vector<std::string> expected{"wallbounce://analyses"};
  for (int i = 0; i < 7; ++i) {
    expected.insert(expected.begin() + 1, analysis_uri(put("問い " + std::to_string(i))));
    *clock_.ahead += 5ms;
  }
  expected.emplace_back("wallbounce://statistics");
  for (const std::size_t at_once : {1u, 2u, 3u, 100u}) EXPECT_EQ(list(at_once), expected) << at_once;
}

TEST_F(source_of_analyses, gives_a_whole_analysis_as_json_just_as_it_went_in) {
  const auto what = test::made_analysis("この設計をどう思いますか。");
  const auto id = test::put_into(*kept_, what);
  const auto back = analyses::decode(text(analysis_uri(id) + "?format=json"));
  ASSERT_TRUE(back) << back.error().public_text;
  auto same = *back;
  EXPECT_EQ(same.id, id);
  EXPECT_EQ(same.status, analyses::analysis_status::complete);
  same.id.clear();
  same.status.reset();
  same.created_at.reset();
  same.expires_at.reset();
  EXPECT_EQ(same, what);
  EXPECT_EQ(text(by_prompt_of(" この設計をどう思いますか。\n") + "?format=json"), text(analysis_uri(id) + "?format=json"))
      << "white space makes no difference";
}

TEST_F(source_of_analyses, writes_markdown_in_which_models_cannot_pass_for_the_server) {
  const auto id = put("# 見出し\n[x](y)");
  const auto shown = text(analysis_uri(id));
  EXPECT_THAT(shown, HasSubstr("- State: final\n"));
  EXPECT_THAT(shown, HasSubstr("> # 見出し\n"));
  EXPECT_THAT(shown, HasSubstr("> # 見出しではない\n"));
  EXPECT_THAT(shown, Not(HasSubstr("\n# 見出しではない")));
  EXPECT_THAT(shown, HasSubstr("timed out \\# not a heading"));
  EXPECT_THAT(shown, HasSubstr("(<" + vote_uri(id, "a") + ">)"));
  const auto flow = text(flow_uri(id));
  EXPECT_THAT(flow, HasSubstr("## Round 3"));
  EXPECT_THAT(flow, HasSubstr("round 1: a asked (12 ms): 初回"));
  EXPECT_THAT(text(vote_uri(id, "b")), HasSubstr("> 結論は**賛成**です。"));
  const auto vote = value::parse(text(vote_uri(id, "b") + "?format=json"));
  ASSERT_TRUE(vote);
  EXPECT_EQ(vote->string_at("model").value(), "b-large");
  EXPECT_THAT(text(vote_uri(id, "z")), HasSubstr("of these providers: a, b, c, d"));
}

TEST_F(source_of_analyses, tells_the_sums_of_votes_and_rounds_where_no_totals_are_given) {
  auto what = test::made_analysis("合計なし");
  what.total = {};
  const auto id = test::put_into(*kept_, what);
  EXPECT_THAT(text(analysis_uri(id)), HasSubstr("- Took: 3 rounds, 6000 ms, cost 0.24, 10800 tokens\n"));
  EXPECT_THAT(text(analysis_uri(id) + "?format=json"), Not(HasSubstr("totals"))) << "just as it went in";
  EXPECT_NEAR(kept_->get(id).value()->summary.cost, 0.24, 1e-9);
}

TEST_F(source_of_analyses, serves_by_prompt_only_what_is_final) {
  const auto below = put("低い", 0.1);
  EXPECT_THAT(text(by_prompt_of("低い")), HasSubstr("there is no final analysis"));
  EXPECT_THAT(text(analysis_uri(below)), HasSubstr("below its thresholds"));
  const auto id = put("高い");
  *clock_.ahead += 61min;
  EXPECT_THAT(text(by_prompt_of("高い")), HasSubstr("- State: stale, to be computed again"));
  *clock_.ahead += 31min;
  EXPECT_THAT(text(by_prompt_of("高い")), HasSubstr("there is no final analysis"));
}

TEST_F(source_of_analyses, finds_by_prompt_what_is_final_behind_many_that_are_not) {
  const auto id = put("埋もれた");
  std::set<std::string> hidden;
  for (int i = 0; i < 450; ++i) {
    auto what = test::made_analysis("埋もれた", i % 2 == 0 ? 0.1 : 0.95);
    what.question.options = value::object{{"seed", i}};
    *clock_.ahead += 1ms;
    const auto made = test::put_into(*kept_, what);
    if (i % 2 != 0) hidden.insert(analysis_uri(made));
  }
  EXPECT_THAT(text(by_prompt_of("埋もれた") + "?format=json", without(hidden)), HasSubstr(id));
  hidden.insert(analysis_uri(id));
  EXPECT_THAT(text(by_prompt_of("埋もれた"), without(hidden)), HasSubstr("there is no final analysis"));
}

TEST_F(source_of_analyses, has_a_version_that_changes_when_it_becomes_stale) {
  const auto id = put("版");
  const auto first = read(analysis_uri(id));
  ASSERT_TRUE(first);
  read_request again;
  again.uri = again.requested_uri = analysis_uri(id);
  again.cached_version = first->version;
  const auto same = source_->read(again);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->contents.empty());
  EXPECT_EQ(same->version, first->version);
  describe_request asked;
  asked.uri = again.uri;
  const auto entry = source_->describe(asked);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->version, first->version);
  *clock_.ahead += 61min;
  const auto stale = source_->read(again);
  ASSERT_TRUE(stale);
  EXPECT_NE(stale->version, first->version);
  EXPECT_FALSE(stale->contents.empty());
}

TEST_F(source_of_analyses, vouches_for_a_reading_until_something_is_written) {
  // What has been written is heard of once more by the thread of the cache.
  const heard_puts heard(*kept_);
  const auto id = put("保証");
  ASSERT_TRUE(heard.has(id));
  const auto first = read(analysis_uri(id));
  ASSERT_TRUE(first && first->validator);
  EXPECT_TRUE(first->validator->is_valid());
  const auto other = put("別の問い");
  EXPECT_FALSE(first->validator->is_valid());
  ASSERT_TRUE(heard.has(other));
  const auto by_prompt = read(by_prompt_of("保証"));
  ASSERT_TRUE(by_prompt && by_prompt->validator);
  EXPECT_TRUE(by_prompt->validator->is_valid());
  ASSERT_TRUE(kept_->erase({.id = id}));
  EXPECT_FALSE(by_prompt->validator->is_valid());
  EXPECT_THAT(text(analysis_uri(id)), HasSubstr("Analysis not found"));
}

TEST_F(source_of_analyses, hides_in_every_way_what_a_view_hides) {
  const auto hidden = put("秘密の問い", 0.95, "secret-session");
  const auto shown = put("公開の問い", 0.95, "open-session");
  const auto who = without({analysis_uri(hidden)});
  EXPECT_THAT(text(by_prompt_of("秘密の問い"), who), HasSubstr("there is no final analysis"));
  EXPECT_THAT(text("wallbounce://analyses?format=json", who), AllOf(HasSubstr(shown), Not(HasSubstr(hidden))));
  EXPECT_THAT(complete("id", "", who), ElementsAre(shown));
  EXPECT_THAT(complete("session", "", who), ElementsAre("open-session"));
  EXPECT_THAT(complete("session", ""), testing::UnorderedElementsAre("open-session", "secret-session"));
  EXPECT_THAT(complete("provider", "", who, {{"id", hidden}}), IsEmpty());
  EXPECT_THAT(complete("provider", "", who, {{"id", shown}}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(complete("tag", "", who), IsEmpty());
  EXPECT_EQ(complete("digest", "", who).size(), 1u);
}

// attacks: authorization (content that a rule guards, by whatever route)
TEST_F(source_of_analyses, completes_nothing_but_ids_of_what_may_only_be_listed) {
  const auto id = put("秘密の問い", 0.95, "secret-session");
  caller_info who;
  who.access_filter = test::view_by({{.level = access_level::list}});
  EXPECT_THAT(complete("id", "", who), ElementsAre(id));
  for (const std::string of : {"session", "provider", "tag", "digest"}) EXPECT_THAT(complete(of, "", who), IsEmpty()) << of;
  EXPECT_THAT(complete("provider", "", who, {{"id", id}}), IsEmpty());
}

TEST_F(source_of_analyses, completes_ids_providers_and_fixed_words) {
  const auto id = put("完成", 0.95, "s-1");
  EXPECT_THAT(complete("id", id.substr(0, 5)), ElementsAre(id));
  EXPECT_THAT(complete("provider", ""), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(complete("format", "j"), ElementsAre("json"));
  EXPECT_THAT(complete("task", "crit"), ElementsAre("critical"));
  EXPECT_THAT(complete("nothing", ""), IsEmpty());
}

TEST_F(source_of_analyses, pages_its_index_by_sessions) {
  for (int i = 0; i < 5; ++i) put("問い " + std::to_string(i), 0.95, i % 2 == 0 ? "even" : "odd"), *clock_.ahead += 3ms;
  auto page = value::parse(text("wallbounce://analyses?session=even&limit=2&format=json"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->array_at("analyses").value().size(), 2u);
  page = value::parse(text(page->string_at("next").value()));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->array_at("analyses").value().size(), 1u);
  EXPECT_FALSE(page->string_at("next"));
  EXPECT_THAT(text("wallbounce://analyses?session=even&limit=2"),
              HasSubstr("[Older ones](<wallbounce://analyses?session=even&after="));
}

TEST_F(source_of_analyses, says_what_the_cache_has_been_good_for) {
  analyses::claim_request wanted;
  wanted.question = test::made_analysis("統計").question;
  ASSERT_TRUE(kept_->look_up(wanted.question, analyses::task_type::basic));
  put("統計");
  ASSERT_TRUE(kept_->look_up(wanted.question, analyses::task_type::basic));
  const auto all = value::parse(text("wallbounce://statistics?format=json"));
  ASSERT_TRUE(all);
  const auto basic = all->at("/byTask/basic").value();
  EXPECT_EQ(basic.integer_at("hits").value(), 1);
  EXPECT_GE(basic.integer_at("misses").value(), 1);
  EXPECT_DOUBLE_EQ(basic.number_at("costSaved").value(), 0.08);
  EXPECT_EQ(basic.integer_at("millisecondsSaved").value(), 6000);
  EXPECT_THAT(text("wallbounce://statistics"), HasSubstr("| basic | 1 |"));
}

TEST_F(source_of_analyses, tells_of_what_comes_changes_and_goes) {
  const auto hears = std::make_shared<ear>();
  source_->set_listener(hears);
  ASSERT_TRUE(hears->hears_lists(1)) << "it listens";
  source_->watch("wallbounce://statistics");
  const auto id = put("知らせ");
  EXPECT_TRUE(hears->hears(analysis_uri(id)));
  EXPECT_TRUE(hears->hears(by_prompt_of("知らせ")));
  EXPECT_TRUE(hears->is_alias(by_prompt_of("知らせ"))) << "rules may hide the analysis";
  EXPECT_FALSE(hears->is_alias(analysis_uri(id)));
  EXPECT_TRUE(hears->hears("wallbounce://statistics"));
  EXPECT_TRUE(hears->hears_lists(2));
  analyses::claim_request wanted;
  wanted.question = test::made_analysis("回").question;
  const auto claimed = kept_->claim(wanted);
  ASSERT_TRUE(claimed && claimed->ticket);
  hears->take();
  auto part = test::made_analysis("回");
  part.consensus.reset();
  part.rounds.resize(1);
  source_->watch(vote_uri(claimed->ticket->id, "a") + "?format=json");
  ASSERT_TRUE(kept_->put_partial(*claimed->ticket, part));
  EXPECT_TRUE(hears->hears(vote_uri(claimed->ticket->id, "a") + "?format=json"));
  EXPECT_TRUE(hears->hears(flow_uri(claimed->ticket->id)));
  source_->set_listener(nullptr);
}

TEST(priorities_of_analyses, follow_confidence_and_age) {
  analyses::analysis_summary one;
  one.status = analyses::analysis_status::complete;
  one.confidence = 0.9;
  const analyses::instant now{std::chrono::hours(24 * 1000)};
  one.changed_at = now;
  one.expires_at = now + 1h;
  EXPECT_DOUBLE_EQ(priority_of(one, now), 0.9);
  one.changed_at = now - std::chrono::hours(24 * 7);
  EXPECT_DOUBLE_EQ(priority_of(one, now), 0.63);
  one.expires_at = now;
  EXPECT_NEAR(priority_of(one, now), 0.315, 0.006);
  one.status = analyses::analysis_status::below_thresholds;
  EXPECT_NEAR(priority_of(one, now), 0.1575, 0.006);
  one.status = analyses::analysis_status::computing;
  EXPECT_DOUBLE_EQ(priority_of(one, now), 0.1);
  one.status = analyses::analysis_status::complete;
  one.changed_at = now + 1h;
  EXPECT_LE(priority_of(one, now), 1);
}

}  // namespace
}  // namespace hondana::analyses_source

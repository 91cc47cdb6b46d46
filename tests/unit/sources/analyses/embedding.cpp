/// The cache as an application uses it.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/analyses.hpp>
#include <hondana/provider_host.hpp>

namespace {

using namespace hondana;
using testing::HasSubstr;
using testing::StartsWith;

value embedded_answer(const std::string& prompt, double confidence = 0.95) {
  value::array votes;
  for (const auto* name : {"a", "b"})
    votes.emplace_back(value::object{{"provider", name}, {"content", "はい"}, {"confidence", 0.9}, {"agreement", 0.9}});
  return value::object{{"prompt", prompt},
                       {"consensus", value::object{{"content", "はい"}, {"confidence", confidence}}},
                       {"votes", std::move(votes)}};
}

TEST(served_embedded_analyses, are_claimed_once_put_found_and_forgotten) {
  const auto opened = analysis_cache::open({});
  ASSERT_TRUE(opened) << opened.error().public_text;
  auto& cache = **opened;
  analysis_claim_request wanted;
  wanted.question.prompt = "一度だけ";
  const auto first = cache.claim(wanted);
  ASSERT_TRUE(first && first->ticket);
  const auto second = cache.claim(wanted);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->ticket);
  EXPECT_EQ(second->answer.status, analysis_answer::cache_status::computing);
  for (auto guessed : {*first->ticket, first->ticket->substr(0, first->ticket->rfind('.'))}) {
    guessed.back() = guessed.back() == '0' ? '1' : '0';
    EXPECT_FALSE(cache.put_partial(guessed, value::object{{"prompt", "一度だけ"}})) << guessed;
    EXPECT_FALSE(cache.put(guessed, embedded_answer("一度だけ"))) << guessed;
    EXPECT_FALSE(cache.fail(guessed, "嘘")) << guessed;
    EXPECT_FALSE(cache.release_claim(guessed)) << guessed;
  }
  ASSERT_TRUE(cache.put_partial(*first->ticket, value::object{{"prompt", "一度だけ"}}));
  const auto kept = cache.put(*first->ticket, embedded_answer("一度だけ"));
  ASSERT_TRUE(kept) << kept.error().public_text;
  EXPECT_TRUE(kept->is_final);
  EXPECT_EQ(kept->uri, "wallbounce://analyses/" + kept->id);
  const auto found = cache.get(wanted.question);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, analysis_answer::cache_status::fresh);
  EXPECT_EQ(found->analysis->string_at("/consensus/content").value_or(""), "はい");
  EXPECT_EQ(cache.get(kept->id).value(), *found->analysis);
  EXPECT_EQ(cache.invalidate({.id = kept->id}).value(), 1u);
  EXPECT_FALSE(cache.get(kept->id));
  EXPECT_EQ(cache.get(wanted.question)->status, analysis_answer::cache_status::missing);
}

TEST(served_embedded_analyses, below_their_thresholds_or_failed_are_not_answers) {
  const auto opened = analysis_cache::open({});
  ASSERT_TRUE(opened);
  auto& cache = **opened;
  const auto below = cache.put(embedded_answer("低い", 0.2));
  ASSERT_TRUE(below);
  EXPECT_FALSE(below->is_final);
  EXPECT_FALSE(below->not_final_reason.empty());
  analysis_claim_request wanted;
  wanted.question.prompt = "低い";
  EXPECT_EQ(cache.get(wanted.question)->status, analysis_answer::cache_status::missing);
  const auto claimed = cache.claim(wanted);
  ASSERT_TRUE(claimed && claimed->ticket);
  ASSERT_TRUE(cache.fail(*claimed->ticket, "応答なし"));
  const auto failed = cache.get(wanted.question);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, analysis_answer::cache_status::failed);
  EXPECT_EQ(failed->reason, "応答なし");
}

TEST(served_embedded_analyses, that_cannot_be_are_refused_by_the_member_that_is_wrong) {
  EXPECT_FALSE(analysis_cache::open({.path = "relative.db"}));
  EXPECT_THAT(analysis_cache::open({.path = "/a", .redis_url = "redis://b"}).error().public_text, StartsWith("redis_url: "));
  EXPECT_FALSE(analysis_cache::open({.redis_url = "http://b"}));
  analysis_cache_options wrong;
  wrong.basic.min_confidence = 7;
  EXPECT_FALSE(analysis_cache::open(wrong));
  const auto opened = analysis_cache::open({});
  ASSERT_TRUE(opened);
  auto& cache = **opened;
  EXPECT_THAT(cache.put(embedded_answer("p", 7)).error().public_text, HasSubstr("consensus.confidence"));
  EXPECT_THAT(cache.put("no ticket", embedded_answer("p")).error().public_text, HasSubstr("ID.NUMBER.SECRET"));
  analysis_claim_request wanted;
  wanted.question.prompt = "p";
  wanted.task = "huge";
  EXPECT_THAT(cache.claim(wanted).error().public_text, HasSubstr("task"));
  EXPECT_FALSE(cache.get("zz"));
  EXPECT_FALSE(cache.invalidate({}));
  EXPECT_FALSE(cache.invalidate({.id = "a", .tag = "b"}));
}

TEST(served_embedded_analyses, have_one_source_with_tools) {
  const auto opened = analysis_cache::open({});
  ASSERT_TRUE(opened);
  const auto source = (*opened)->source();
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source, (*opened)->source());
  auto* const brings = dynamic_cast<provider_extension*>(source.get());
  ASSERT_NE(brings, nullptr);
  EXPECT_EQ(brings->tools().size(), 4u);
}

}  // namespace

/// How documents were made, one state of an index for a whole search, and what tells that others have written: every kind of
/// store.
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

document made(const std::string& name, const std::string& way) {
  auto out = named_document(name);
  out.processing = way;
  return out;
}

TEST_P(store_contract, finds_nothing_of_what_was_made_otherwise_than_asked_for) {
  put(made("a", "open"), {said("common apple")});
  put(made("b", "masked"), {said("common pear")});
  put(made("c", ""), {said("common plum")});
  const auto having = [this](std::optional<std::vector<std::string>> ways) {
    document_filter which;
    which.processing = std::move(ways);
    return find("common", which).passages.size();
  };
  EXPECT_EQ(having({}), 3u);
  EXPECT_EQ(having({{"masked"}}), 1u);
  EXPECT_EQ(having({{"masked", "none of these"}}), 1u);
  EXPECT_EQ(having({{"masked", "open"}}), 2u);
  EXPECT_EQ(having({{"'); DROP TABLE ways; --"}}), 0u);
  EXPECT_EQ(having(std::vector<std::string>()), 0u);
  document_filter both;
  both.processing = {{"masked"}};
  both.uri_prefix = "x://h/a";
  EXPECT_TRUE(find("common", both).passages.empty());
  both.uri_prefix = "x://h/b";
  EXPECT_EQ(find("common", both).passages.size(), 1u);
  std::map<std::string, std::string> ways;
  ASSERT_TRUE(store_->for_each_document([&](store::stored_document one) { ways[one.uri] = one.processing; }));
  EXPECT_EQ(ways, (std::map<std::string, std::string>{{"x://h/a", "open"}, {"x://h/b", "masked"}, {"x://h/c", ""}}));
  const auto apple = found("apple").at(0), pear = found("pear").at(0);
  {
    const std::vector<passage_id> all{pear, apple, {passage_id::create(777, 0)}};
    const auto state = store_->snapshot();
    ASSERT_TRUE(state);
    const std::vector<std::string> masked{"masked"};
    const auto left = (*state)->filter_by_processing(all, masked);
    ASSERT_TRUE(left) << left.error().private_text;
    EXPECT_EQ(*left, (std::vector<passage_id>{pear, {passage_id::create(777, 0)}}));
    const auto shown = (*state)->load(all);
    ASSERT_TRUE(shown);
    ASSERT_EQ(shown->size(), 2u);
    EXPECT_EQ(shown->at(0).metadata.processing, "masked");
    EXPECT_EQ(shown->at(1).metadata.processing, "open");
  }
  // What is only described anew was made as it was.
  auto described = made("a", "masked");
  described.title = "Another";
  ASSERT_TRUE(store_->describe(described));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(having({{"masked"}}), 1u);
  put(described, {said("common apple")});
  ASSERT_TRUE(store_->clean_up());
  EXPECT_EQ(having({{"masked"}}), 2u);
}

TEST_P(store_contract, shows_one_state_for_a_whole_search_whatever_is_committed_meanwhile) {
  if (data_->is_in_memory()) GTEST_SKIP() << "who writes waits for the search";
  put(named_document("a"), {said("common first")});
  put(named_document("b"), {said("common other")});
  const auto state = store_->snapshot();
  ASSERT_TRUE(state);
  const auto before = (*state)->find(words_of("common"), {}, 100);
  ASSERT_TRUE(before);
  ASSERT_EQ(before->passages.size(), 2u);
  put(named_document("a"), {said("common second"), said("common third")});
  ASSERT_TRUE(store_->remove("x://h/b"));
  ASSERT_TRUE(store_->commit());
  std::vector<passage_id> ids;
  for (const auto& one : before->passages) ids.push_back(one.id);
  const auto shown = (*state)->load(ids);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->size(), 2u) << "what was found is shown";
  const auto again = (*state)->find(words_of("common"), {}, 100);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->passages.size(), 2u);
  EXPECT_EQ(again->passages[0].score, before->passages[0].score);
  EXPECT_EQ(found("common").size(), 2u);
  EXPECT_EQ(found("second third").size(), 2u);
}

TEST_P(store_contract, commits_of_nothing_leave_those_who_search_alone) {
  put(named_document("a"), {said("common first")});
  std::jthread writer([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto done = store_->commit();
      if (!done) return ADD_FAILURE() << done.error().private_text;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto got = store_->find(words_of("common"), {}, 10);
    ASSERT_TRUE(got) << i << ": " << got.error().public_text << ' ' << got.error().private_text;
    ASSERT_EQ(got->passages.size(), 1u) << i;
  }
}

TEST_P(store_contract, tells_by_a_number_whether_anything_was_committed) {
  const auto commits = [this] {
    const auto now = store_->status();
    EXPECT_TRUE(now) << now.error().private_text;
    return now ? now->commits : 0;
  };
  const auto first = commits();
  EXPECT_EQ(commits(), first);
  put(named_document("a"), {said("one")});
  const auto second = commits();
  EXPECT_NE(second, first);
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(commits(), second) << "nothing was written";
  ASSERT_TRUE(store_->put(named_document("b"), {}));
  store_->roll_back();
  EXPECT_EQ(commits(), second);
  ASSERT_TRUE(store_->use_model("m"));
  ASSERT_TRUE(store_->put_progress({3, false, milliseconds(std::chrono::milliseconds(5)), "far"}));
  ASSERT_TRUE(store_->commit());
  const auto now = store_->status();
  ASSERT_TRUE(now && now->last_progress);
  EXPECT_EQ(now->model, "m");
  EXPECT_EQ(now->last_progress->waiting, 3u);
  EXPECT_NE(now->commits, second);
}

}  // namespace
}  // namespace hondana::search

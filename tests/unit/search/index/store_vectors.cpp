/// Vectors in every kind of store.
#include <algorithm>
#include <map>

#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

std::vector<std::string> wanted_texts(const std::vector<pending_vector>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back(one.text);
  return out;
}

std::map<passage_id, std::vector<float>> every_vector(const store& of) {
  std::map<passage_id, std::vector<float>> out;
  EXPECT_TRUE(of.for_each_vector([&](passage_id id, std::span<const float> numbers) {
    EXPECT_TRUE(out.emplace(id, std::vector<float>(numbers.begin(), numbers.end())).second);
  }));
  return out;
}

}  // namespace

TEST_P(store_contract, gives_texts_without_vector_once_and_the_most_important_first) {
  ASSERT_TRUE(store_->use_model("model-1"));
  auto low = named_document("low", "T");
  low.priority = 0.1;
  auto high = named_document("high", "T");
  high.priority = 0.9;
  put(low, {said("same", "H"), said("low text")});
  put(named_document("plain"), {said("plain text")});
  put(high, {said("same", "H"), said("high text")});
  const auto all = store_->texts_without_vector(100);
  ASSERT_TRUE(all) << all.error().private_text;
  EXPECT_EQ(wanted_texts(*all), (std::vector<std::string>{"T\nH\nsame", "T\nhigh text", "plain\nplain text", "T\nlow text"}));
  for (const auto& one : *all) EXPECT_EQ(one.digest, digest_of_text(one.text));
  const auto some = store_->texts_without_vector(2);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->size(), 2u);
  const std::vector<store::text_vector> made{{all->at(0).digest, {1, 0.5f}}, {all->at(3).digest, {-1, 2}}};
  ASSERT_TRUE(store_->put_vectors(made));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(wanted_texts(*store_->texts_without_vector(100)), (std::vector<std::string>{"T\nhigh text", "plain\nplain text"}));
  EXPECT_EQ(store_->counts()->vectors, 3u);
  const auto vectors = every_vector(*store_);
  ASSERT_EQ(vectors.size(), 3u);
  for (const auto id : found("same")) EXPECT_EQ(vectors.at(id), (std::vector<float>{1, 0.5f}));
  EXPECT_EQ(vectors.at(found("text low").front()).size(), 2u);
  std::vector<passage_id> heard;
  const std::vector<std::string> digests{all->at(0).digest, all->at(1).digest, std::string(16, 'x')};
  ASSERT_TRUE(store_->for_each_vector_of(digests, [&](passage_id id, std::span<const float> numbers) {
    EXPECT_EQ(numbers.size(), 2u);
    heard.push_back(id);
  }));
  std::sort(heard.begin(), heard.end());
  EXPECT_EQ(heard, found("same"));
  // What a passage is embedded by has its title.
  high.title = "New";
  ASSERT_TRUE(store_->describe(high));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(wanted_texts(*store_->texts_without_vector(1)), (std::vector<std::string>{"New\nH\nsame"}));
}

TEST_P(store_contract, forgets_vectors_of_another_model_and_keeps_those_of_the_same) {
  ASSERT_TRUE(store_->use_model("model-1"));
  put(named_document("a"), {said("text")});
  const auto wanted = store_->texts_without_vector(10);
  ASSERT_TRUE(wanted);
  ASSERT_EQ(wanted->size(), 1u);
  const std::vector<store::text_vector> made{{wanted->at(0).digest, {1, 2, 3}}};
  ASSERT_TRUE(store_->put_vectors(made));
  store_->roll_back();
  EXPECT_TRUE(every_vector(*store_).empty());
  ASSERT_TRUE(store_->put_vectors(made));
  ASSERT_TRUE(store_->put_vectors(std::vector<store::text_vector>{{made[0].digest, {3, 2, 1}}, {made[0].digest, {4, 2, 1}}}));
  ASSERT_TRUE(store_->commit());
  ASSERT_TRUE(store_->use_model("model-1"));
  ASSERT_EQ(every_vector(*store_).size(), 1u);
  EXPECT_EQ(every_vector(*store_).begin()->second, (std::vector<float>{4, 2, 1}));
  ASSERT_TRUE(store_->use_model("model-2"));
  EXPECT_TRUE(every_vector(*store_).empty());
  EXPECT_EQ(store_->texts_without_vector(10)->size(), 1u);
  ASSERT_TRUE(store_->put_vectors(std::vector<store::text_vector>{{made[0].digest, {1}}}));
  ASSERT_TRUE(store_->commit());
  ASSERT_TRUE(store_->use_model({}));
  EXPECT_TRUE(every_vector(*store_).empty());
}

TEST_P(store_contract, tidies_away_vectors_that_no_passage_has_had_for_a_day) {
  ASSERT_TRUE(store_->use_model("model-1"));
  put(named_document("a"), {said("one")});
  put(named_document("b"), {said("two")});
  std::vector<store::text_vector> made;
  const auto wanted = store_->texts_without_vector(10);
  ASSERT_TRUE(wanted);
  for (const auto& one : *wanted) made.push_back({one.digest, {1}});
  ASSERT_EQ(made.size(), 2u);
  ASSERT_TRUE(store_->put_vectors(made));
  ASSERT_TRUE(store_->commit());
  if (data_->is_in_memory()) return;  // where nobody else sees them
  data_->age_vectors(30);
  // It was used until now.
  ASSERT_TRUE(store_->remove("x://h/a"));
  ASSERT_TRUE(store_->commit());
  ASSERT_TRUE(store_->clean_up());
  put(named_document("a"), {said("one")});
  EXPECT_EQ(every_vector(*store_).size(), 2u);
  ASSERT_TRUE(store_->remove("x://h/a"));
  ASSERT_TRUE(store_->commit());
  data_->age_vectors(30);
  ASSERT_TRUE(store_->clean_up());
  put(named_document("a"), {said("one")});
  EXPECT_EQ(every_vector(*store_).size(), 1u);
  EXPECT_EQ(store_->texts_without_vector(10)->size(), 1u);
}

}  // namespace hondana::search

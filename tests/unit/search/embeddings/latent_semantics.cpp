/// The vectors that tests are made with: words, and what is alike.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lsa/model.hpp"
#include "lsa/words.hpp"

namespace {

using words = std::vector<std::string>;

float product_of(const lsa::vector& a, const lsa::vector& b) {
  float out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
}

TEST(latent_semantics, words_are_stems_and_pairs_of_characters) {
  EXPECT_EQ(lsa::words_of("Indexes, an index; QUERIES & query"), (words{"index", "an", "index", "quer", "quer"}));
  EXPECT_EQ(lsa::words_of("検索する"), (words{"検索", "索す", "する"}));
  EXPECT_EQ(lsa::words_of("木、Ｇｉｔと木"), (words{"木", "git", "と木"}));
  EXPECT_EQ(lsa::words_of("a\xff"
                          "b\xe3\x81"),
            (words{"a", "b"}));
  EXPECT_TRUE(lsa::words_of("").empty());
}

TEST(latent_semantics, sections_begin_at_headings) {
  EXPECT_EQ(lsa::sections_of("# A\nx\n\n## B\ny"), (words{"# A\nx\n\n", "## B\ny\n"}));
  EXPECT_TRUE(lsa::sections_of("\n\n").empty());
}

TEST(latent_semantics, texts_that_share_no_word_are_alike_through_others) {
  const words texts{"car engine wheel road", "automobile engine wheel road", "car road driver",  "automobile driver engine",
                    "flower garden soil",    "rose garden soil water",       "flower water sun", "rose sun garden"};
  const auto made = lsa::model::of(texts, 2);
  EXPECT_GT(product_of(made->embed("car"), made->embed("automobile")), 0.9F);
  EXPECT_LT(product_of(made->embed("car"), made->embed("rose")), 0.3F);
}

TEST(latent_semantics, is_the_same_each_time_and_of_the_same_dimension_whatever_there_is) {
  const words texts{"one two three", "two three four", "three four five six"};
  const auto first = lsa::model::of(texts, 16), second = lsa::model::of(texts, 16);
  EXPECT_EQ(first->embed("two five"), second->embed("two five"));
  EXPECT_EQ(first->embed("two five").size(), 16u);
  EXPECT_EQ(first->dimension(), 16u);
  const auto unknown = first->embed("zebra");
  EXPECT_NEAR(product_of(unknown, unknown), 1, 1e-5);
  EXPECT_EQ(unknown, second->embed("zebra"));
  EXPECT_NE(unknown, first->embed("quagga"));
  EXPECT_EQ(lsa::model::of({}, 4)->embed("x").size(), 4u);
}

}  // namespace

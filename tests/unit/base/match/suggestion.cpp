/// Suggestions for misspelled names.
#include "base/match/suggestion.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hondana::match {
namespace {

TEST(nearest, finds_the_word_that_is_fewest_slips_away) {
  const std::vector<std::string_view> known{"read", "watch", "templates"};
  EXPECT_EQ(nearest("raed", known), "read");
  EXPECT_EQ(nearest("wtach", known), "watch");
  EXPECT_EQ(nearest("tempates", known), "templates");
  EXPECT_EQ(nearest("xyz", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'r'), known), "");
  EXPECT_EQ(did_you_mean("raed", known), "; did you mean \"read\"?");
  EXPECT_EQ(did_you_mean("xyz", known), "");
}

TEST(suggest_known, lists_all_known_names_after_the_similar_one) {
  const std::vector<std::string_view> known{"read", "watch"};
  EXPECT_EQ(suggest_known("raed", known), "; did you mean \"read\"? Known here: read, watch");
  EXPECT_EQ(suggest_known("xyz", known), "; known here: read, watch");
}

}  // namespace
}  // namespace hondana::match

/// What an arrangement of sources refuses at start.
#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using test::arrange;
using test::scripted_provider;

std::shared_ptr<scripted_provider> named(std::string name, std::vector<std::string> claims) {
  return std::make_shared<scripted_provider>(std::move(name), std::move(claims));
}

std::shared_ptr<scripted_provider> offering(std::string text, std::string name = "one") {
  auto made = named("memo", {"memo:///"});
  resource_template entry;
  entry.uri_template = std::move(text);
  entry.name = std::move(name);
  made->offered.push_back(entry);
  return made;
}

TEST(arrangement, refuses_equal_claims_and_names_both_sources) {
  const auto made = arrange({named("files", {"file:///a"}), named("notes", {"file:///a"})});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_NE(made.error().public_text.find("\"files\""), std::string::npos);
  EXPECT_NE(made.error().public_text.find("\"notes\""), std::string::npos);
}

TEST(arrangement, refuses_a_claim_inside_of_another_sources_claim_in_any_order) {
  for (const bool turned : {false, true}) {
    auto outer = named("outer", {"file:///a"});
    auto inner = named("inner", {"file:///zzz", "file:///a/b/c"});
    const auto made = turned ? arrange({inner, outer}) : arrange({outer, inner});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().public_text,
              "The sources \"outer\" and \"inner\" overlap: \"outer\" claims file:///a and \"inner\" claims file:///a/b/c. "
              "Give one of them another name, or a prefix outside the other's, or remove one of them.");
  }
}

TEST(arrangement, has_two_sources_with_one_scheme_be_given_schemes_of_their_own) {
  const auto made = arrange({named("sales", {"gdrive://"}), named("team", {"gdrive://"})});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().public_text.find("Give one of them another scheme if its type has that key"), std::string::npos)
      << made.error().public_text;
}

TEST(arrangement, sees_an_overlap_beyond_a_nested_claim_of_the_same_source) {
  EXPECT_FALSE(arrange({named("one", {"file:///a", "file:///a/b"}), named("two", {"file:///a/b/c"})}));
  EXPECT_FALSE(arrange({named("one", {"file:///a"}), named("two", {"file:///a?part=1"})}));
  EXPECT_FALSE(arrange({named("one", {"memo:///"}), named("two", {"memo:///x"})}));
}

TEST(arrangement, takes_siblings_that_share_only_letters) {
  EXPECT_TRUE(arrange({named("one", {"file:///a"}), named("two", {"file:///ab"}), named("three", {"file:///a-b"})}));
  EXPECT_TRUE(arrange({named("one", {"file:///a", "file:///a/b", "file:///a"})}));
}

TEST(arrangement, refuses_claims_that_are_missing_malformed_or_not_canonical) {
  EXPECT_FALSE(arrange({named("none", {})}));
  const auto broken = arrange({named("broken", {"no uri at all"})});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().public_text.find("\"broken\""), std::string::npos);
  const auto shouting = arrange({named("shouting", {"FILE:///a"})});
  ASSERT_FALSE(shouting);
  EXPECT_NE(shouting.error().public_text.find("Write it as file:///a."), std::string::npos);
}

TEST(arrangement, refuses_templates_that_do_not_compile_or_lie_outside_of_the_claims) {
  EXPECT_TRUE(arrange({offering("memo:///{id}")}));
  for (const auto* text : {"memo:///{", "note:///{id}", "{+everything}"}) {
    const auto made = arrange({offering(text)});
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_NE(made.error().public_text.find("\"memo\""), std::string::npos);
  }
  EXPECT_FALSE(arrange({offering("memo:///{id}", "")}));
}

TEST(arrangement, refuses_a_template_offered_twice) {
  auto twice = offering("memo:///{id}");
  twice->offered.push_back(twice->offered.front());
  EXPECT_FALSE(arrange({twice}));
}

TEST(arrangement, of_nothing_answers_empty_lists) {
  const auto made = arrange({});
  ASSERT_TRUE(made);
  const test::answer<model::resource_page> page;
  (*made)->list({}, {}, page.taker());
  ASSERT_TRUE(page.wait());
  EXPECT_TRUE(page.wait()->resources.empty());
  EXPECT_FALSE(page.wait()->next_cursor);
  EXPECT_FALSE((*made)->has_variables());
}

}  // namespace

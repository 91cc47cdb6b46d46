/// What makes two questions the same.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sources/analyses/cache/analysis_key.hpp"
#include "text/language/normalization.hpp"
#include "unit/sources/analyses/cache/samples.hpp"

namespace hondana::analyses {
namespace {

question_key of_prompt(const std::string& prompt) {
  model_question out;
  out.prompt = prompt;
  return make_key(out);
}

TEST(key_of_a_question, is_one_for_prompts_that_differ_in_width_or_white_space) {
  EXPECT_EQ(of_prompt("ＡＰＩ　を  直す"), of_prompt("API を 直す"));
  EXPECT_EQ(of_prompt("ｶﾞｲﾄﾞ"), of_prompt("ガイド"));
  EXPECT_EQ(of_prompt("か\u3099"), of_prompt("が"));
  EXPECT_EQ(of_prompt(" a\r\n\tb\u2028c "), of_prompt("a b c"));
  EXPECT_EQ(of_prompt("a\u00a0b"), of_prompt("a b"));
  EXPECT_EQ(of_prompt("①ﬁ"), of_prompt("1fi"));
}

TEST(key_of_a_question, is_another_where_case_or_words_differ) {
  EXPECT_NE(of_prompt("API"), of_prompt("api"));
  EXPECT_NE(of_prompt("a b"), of_prompt("ab"));
  EXPECT_NE(of_prompt("ハハ"), of_prompt("パパ"));
  EXPECT_EQ(normalize_prompt("  Ａb\n\nC "), "Ab C");
}

TEST(key_of_a_question, has_the_models_and_the_context_as_sets) {
  auto a = whole_analysis().question, b = a;
  b.models = {"gpt-large", "claude-large", "gemini-large", "gpt-large"};
  std::swap(b.context[0], b.context[1]);
  EXPECT_EQ(make_key(a), make_key(b));
  b.context[0].version = "other";
  EXPECT_NE(make_key(a).digest, make_key(b).digest);
  EXPECT_EQ(make_key(a).prompt_digest, make_key(b).prompt_digest);
}

TEST(key_of_a_question, has_the_options_as_values) {
  model_question a, b;
  a.prompt = b.prompt = "x";
  a.options = *value::parse(R"({"b":1,"a":{"y":[1.0,2e0],"x":"あ"}})");
  b.options = *value::parse(R"({ "a":{"x":"\u3042","y":[1,2]}, "b":1.0 })");
  EXPECT_EQ(make_key(a), make_key(b));
  b.options = *value::parse(R"({"a":{"x":"あ","y":[2,1]},"b":1})");
  EXPECT_NE(make_key(a), make_key(b));
  b.options = *value::parse(R"({"a":{"x":"あ","y":["1",2]},"b":1})");
  EXPECT_NE(make_key(a), make_key(b));
}

TEST(key_of_a_question, cannot_be_made_equal_by_moving_text_between_its_parts) {
  std::set<std::string> all;
  const auto add = [&](const std::string& prompt, const std::string& options, std::vector<std::string> models,
                       std::vector<resource_version> context) {
    model_question one{prompt, *value::parse(options), std::move(models), std::move(context)};
    EXPECT_TRUE(all.insert(make_key(one).digest).second) << prompt << options;
  };
  add("x", "{}", {}, {});
  add("x{}", "{}", {}, {});
  add("x", "{}", {"a"}, {});
  add("x", "{}", {"a", "b"}, {});
  add("x", "{}", {"ab"}, {});
  add("x", "{}", {}, {{"a:b", "c"}});
  add("x", "{}", {}, {{"a:bc", ""}});
  add("x", "{}", {"a:b", "c"}, {});
  add("x", "{}", {}, {{"a:b", ""}, {"c:d", ""}});
}

TEST(key_of_a_question, is_the_same_on_every_machine) {
  // sha256sum of the parts, each behind its length in 8 bytes.
  EXPECT_EQ(digest_to_hex(of_prompt("x").digest), "8f33c9fc1ad998f0ff10ccc9dd27cd5ba27d8c11a30a5550d8f3dc2c7ce45da7");
  EXPECT_EQ(digest_to_hex(of_prompt("x").prompt_digest), "d8be1ad1d3683e6c91ad738591b1c8a42877fecbe73e7dfce6419d080bdc0eaf");
  EXPECT_EQ(digest_from_hex(digest_to_hex(of_prompt("x").digest)), of_prompt("x").digest);
  EXPECT_FALSE(digest_from_hex("xyz"));
  EXPECT_FALSE(digest_from_hex(std::string(64, 'A')));
  EXPECT_FALSE(digest_from_hex(std::string(63, 'a')));
}

TEST(text_in_one_width, is_nfkc_with_its_case) {
  EXPECT_EQ(language::to_nfkc("ＡｂＣ　㍿ ①"), "AbC 株式会社 1");
  EXPECT_EQ(language::to_nfkc("ｶﾞ か\u3099"), "ガ が");
  EXPECT_EQ(language::to_nfkc("x\xffy"), "x\uFFFDy");
  EXPECT_EQ(language::to_nfkc("Straße Ǆ"), "Straße DŽ");
  EXPECT_EQ(language::to_nfkc("サ‐バ"), "サ‐バ");
}

}  // namespace
}  // namespace hondana::analyses

/// What fits, in which way, and in what order.
#include "base/match/fuzzy_match.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/completion.hpp>

namespace hondana::match {
namespace {

std::optional<match_tier> how(std::string_view typed, std::string_view value, match_scope ends = match_scope::anywhere) {
  const auto found = matcher(typed, ends)(value);
  return found ? std::optional(found->tier) : std::nullopt;
}

std::vector<std::string> ordered(std::string_view typed, std::vector<std::string> values) {
  return complete_from(typed, values).values;
}

TEST(matcher, puts_beginnings_before_word_starts_before_letters) {
  EXPECT_EQ(how("pro", "provider.hpp"), match_tier::prefix);
  EXPECT_EQ(how("pro", "Provider.hpp"), match_tier::folded_prefix);
  EXPECT_EQ(how("hpp", "provider.hpp"), match_tier::word_starts);
  EXPECT_EQ(how("pvh", "provider.hpp"), match_tier::subsequence);
  EXPECT_EQ(how("xyz", "provider.hpp"), std::nullopt);
  EXPECT_EQ(how("provider.hppx", "provider.hpp"), std::nullopt);
  EXPECT_EQ(how("", "anything"), match_tier::prefix);
  EXPECT_EQ(how("", ""), match_tier::prefix);
  EXPECT_EQ(how("a", ""), std::nullopt);
}

TEST(matcher, knows_where_words_begin) {
  for (const char* value : {"foo_bar", "fooBar", "foo-bar", "foo/bar", "foo.bar", "foo bar", "Foo:Bar", "foo+bar"}) {
    EXPECT_EQ(how("fb", value), match_tier::word_starts) << value;
    EXPECT_EQ(how("foba", value), match_tier::word_starts) << value;
    EXPECT_EQ(how("fr", value), match_tier::subsequence) << value;
  }
  EXPECT_EQ(how("hs", "HTTPServer"), match_tier::word_starts);
  EXPECT_EQ(how("v2", "version2"), match_tier::word_starts);
  EXPECT_EQ(how("ht", "HTTP"), match_tier::folded_prefix);
  EXPECT_EQ(how("hp", "HTTP"), match_tier::subsequence);
  EXPECT_EQ(how("s/m", "src/main.cpp"), match_tier::word_starts);
}

TEST(matcher, prefers_fewer_pieces_and_smaller_gaps) {
  EXPECT_EQ(ordered("main", {"my_awful_in_n", "the_main"}), (std::vector<std::string>{"the_main", "my_awful_in_n"}));
  EXPECT_EQ(ordered("ace", {"xaxxcxxe", "xabcdex"}), (std::vector<std::string>{"xabcdex", "xaxxcxxe"}));
  // The gaps are those of the tightest place that ends first.
  EXPECT_EQ(matcher("ab")("xaxxabx")->cost, 0u);
}

TEST(matcher, prefers_the_last_segment_and_the_shorter_value) {
  EXPECT_EQ(ordered("gate", {"src/gate/rules.cpp", "src/rules/gate.cpp"}),
            (std::vector<std::string>{"src/rules/gate.cpp", "src/gate/rules.cpp"}));
  EXPECT_EQ(ordered("ga", {"gateway", "gate", "garden"}), (std::vector<std::string>{"gate", "garden", "gateway"}));
  EXPECT_EQ(ordered("", {"long value", "b", "a"}), (std::vector<std::string>{"long value", "b", "a"}));
}

TEST(matcher, of_last_segments_wants_the_last_letter_there) {
  EXPECT_EQ(how("src", "src/main.h", match_scope::last_segment), std::nullopt);
  EXPECT_EQ(how("src", "src/main.h"), match_tier::prefix);
  EXPECT_EQ(how("src", "src/main.cpp", match_scope::last_segment), match_tier::word_starts);  // sr, and the c of cpp
  EXPECT_EQ(how("srcm", "src/main.cpp", match_scope::last_segment), match_tier::word_starts);
  EXPECT_EQ(how("src/m", "src/main.cpp", match_scope::last_segment), match_tier::prefix);
  EXPECT_EQ(how("main", "src/main.cpp", match_scope::last_segment), match_tier::word_starts);
  EXPECT_EQ(how("sc", "src/main.cpp", match_scope::last_segment), match_tier::word_starts);
  EXPECT_EQ(how("sr", "src/lib/x", match_scope::last_segment), std::nullopt);
}

TEST(matcher, takes_whole_code_points) {
  EXPECT_EQ(how("日", "日本語.txt"), match_tier::prefix);
  EXPECT_EQ(how("日語", "日本語.txt"), match_tier::subsequence);
  EXPECT_EQ(how("本", "日本語.txt"), match_tier::subsequence);
  EXPECT_EQ(how("txt", "日本語.txt"), match_tier::word_starts);
  EXPECT_EQ(how("語", "報告-語.md"), match_tier::word_starts);
  // Their bytes stand in order in it, their characters do not: E3 81 82 in E3 81 81 E3 82 82.
  EXPECT_EQ(how("\u3042", "x\u3041\u3082"), std::nullopt);
  EXPECT_EQ(how("\x81", "\u3041"), std::nullopt);
  EXPECT_EQ(how("\xff", "a\xff"), match_tier::word_starts);
  EXPECT_EQ(how("Ä", "ä"), std::nullopt);  // nothing beyond ASCII is folded
}

TEST(matcher, of_long_texts_looks_at_beginnings_only) {
  const std::string typed(65, 'a');
  EXPECT_EQ(how(typed, typed + "b"), match_tier::prefix);
  EXPECT_EQ(how(typed, "b" + typed), std::nullopt);
  const std::string value(9000, 'b');
  EXPECT_EQ(how("bbb", value), match_tier::prefix);
  EXPECT_EQ(how("c", value + "c"), std::nullopt);
}

TEST(complete_from, sends_each_value_once_and_counts_them_all) {
  std::vector<std::string> values{"twin", "twin"};
  for (int i = 0; i < 150; ++i) values.push_back("t" + std::to_string(i));
  const auto found = complete_from("t", values);
  EXPECT_EQ(found.values.size(), 100u);
  EXPECT_EQ(found.total, 151u);
  EXPECT_TRUE(found.has_more);
  const auto few = complete_from("twin", values);
  EXPECT_EQ(few.values, std::vector<std::string>{"twin"});
  EXPECT_EQ(few.total, 1u);
  EXPECT_FALSE(few.has_more);
}

TEST(ranking, goes_by_fit_then_priority_then_age) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::system_clock::now();
  const auto at = [now](auto ago) { return std::chrono::floor<std::chrono::milliseconds>(now - ago); };
  EXPECT_EQ(recency_of(at(1s), now), recency::hour);
  EXPECT_EQ(recency_of(at(2h), now), recency::day);
  EXPECT_EQ(recency_of(at(48h), now), recency::week);
  EXPECT_EQ(recency_of(at(10 * 24h), now), recency::month);
  EXPECT_EQ(recency_of(at(40 * 24h), now), recency::older);
  EXPECT_EQ(recency_of(at(-1h), now), recency::hour);  // a clock that runs ahead
  EXPECT_EQ(recency_of({}, now), recency::older);
  const match_quality good{match_tier::prefix, 0, 3};
  const match_quality poor{match_tier::subsequence, 0, 3};
  EXPECT_TRUE((rank{good, 0.1, recency::older}) < (rank{poor, 0.9, recency::hour}));
  EXPECT_TRUE((rank{good, 0.9, recency::older}) < (rank{good, 0.1, recency::hour}));
  EXPECT_TRUE((rank{good, 0.5, recency::hour}) < (rank{good, 0.5, recency::day}));
}

TEST(best, keeps_the_best_and_counts_all) {
  top_k<int> three(3);
  for (const int one : {5, 1, 4, 2, 3}) three.add(one);
  EXPECT_EQ(three.count(), 5u);
  EXPECT_EQ(three.extract_sorted(), (std::vector{1, 2, 3}));
}

}  // namespace
}  // namespace hondana::match

/// Ends of sentences, also where there are a million of them in a row.
#include "search/chunking/passage_packer.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "search/chunking/passages.hpp"

namespace hondana::chunking {
namespace {

std::string repeated(std::string_view what, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + what.size());
  while (out.size() < bytes) out += what;
  return out;
}

std::string first_of(std::string_view text, std::size_t most = 1000) {
  return std::string(text.substr(0, sentence_end(text, 0, most)));
}

TEST(sentences, end_behind_all_marks_that_close_them) {
  EXPECT_EQ(first_of("終わり。次"), "終わり。");
  EXPECT_EQ(first_of("本当！？」）次の"), "本当！？」）");
  EXPECT_EQ(first_of("「はい。」と言った。次"), "「はい。」と言った。");
  EXPECT_EQ(first_of("「はい。」。と言った"), "「はい。」。") << "a mark that ends it comes last";
  EXPECT_EQ(first_of("そう。。と言った"), "そう。。");
  EXPECT_EQ(first_of("He said \"no.\") Then"), "He said \"no.\")");
  EXPECT_EQ(first_of("1. An item. More"), "1. An item.");
  EXPECT_EQ(first_of("v1.2」。そして"), "v1.2」。");
}

TEST(sentences, whose_marks_reach_beyond_what_is_looked_at_are_cut_there) {
  for (std::size_t most = 3; most < 12; ++most) EXPECT_EQ(sentence_end("あ。。。。。。", 0, most), most / 3 * 3) << most;
  EXPECT_EQ(sentence_end("あ。」と言う", 0, 9), 9u) << "which is a place like any other";
  EXPECT_EQ(sentence_end("いう。あ。」次", 0, 15), 9u) << "the first of two";
  EXPECT_EQ(sentence_end("あ。」次", 0, 9), 9u);
  EXPECT_EQ(sentence_end("ok. ", 0, 3), 3u);
}

TEST(sentences, that_are_nothing_but_marks_are_gone_through_once) {
  for (const auto* what : {"。", "！", "？」", "。」と", "｡", "」", ".」", "。\"", "!", ".", "\xE3\x80"}) {
    const auto text = repeated(what, 1'000'000);
    for (const auto* name : {"a.txt", "a.md", "a.json", "a.csv", "a.cpp"}) {
      const auto made = chunk_text(text, "", name);
      ASSERT_FALSE(made.passages.empty());
      EXPECT_TRUE(made.is_complete);
      EXPECT_EQ(made.passages.back().end, text.size()) << what << ' ' << name;
    }
    // And where no cut is asked for before the end, as for what is repeated of a passage.
    std::size_t sentences = 0;
    for (std::size_t at = 0; at < text.size(); at = sentence_end(text, at, text.size())) ++sentences;
    EXPECT_GT(sentences, 0u);
  }
}

}  // namespace
}  // namespace hondana::chunking

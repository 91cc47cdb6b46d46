/// Latin words and names, which all tokenizers cut alike, and trigrams.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/tokenizer/tokenizer.hpp"

namespace hondana::tokenizer {
namespace {

std::vector<std::string> by_trigrams_in(std::string_view text, tokenize_mode what_for = tokenize_mode::index) {
  std::vector<std::string> out;
  for (auto& one : make_trigram_tokenizer()->tokenize(text, what_for)) out.push_back(one.text + (one.is_prefix ? "…" : ""));
  return out;
}
using list = std::vector<std::string>;

TEST(latin_words, are_folded_and_stemmed) {
  EXPECT_EQ(by_trigrams_in("Running SERVERS, indexed: Ｆｉｌｅｓ"), (list{"run", "server", "index", "file"}));
  EXPECT_EQ(by_trigrams_in("the dog's isn\u2019t l'homme"), (list{"the", "dog", "isn't", "l", "homm"}));
  EXPECT_EQ(by_trigrams_in("http2 utf8 2024 Привет café"), (list{"http2", "utf8", "2024", "привет", "café"}));
}

TEST(latin_words, of_names_are_tokens_as_a_whole_and_by_their_parts) {
  EXPECT_EQ(by_trigrams_in("max_bytes"), (list{"max_bytes", "max", "byte"}));
  EXPECT_EQ(by_trigrams_in("__init__ a__b"), (list{"init", "a__b", "a", "b"}));
  EXPECT_EQ(by_trigrams_in("main.cpp 1.2.3 end."), (list{"main.cpp", "main", "cpp", "1.2.3", "1", "2", "3", "end"}));
  EXPECT_EQ(by_trigrams_in("getHTTPServerName"), (list{"gethttpservernam", "get", "http", "server", "name"}));
  EXPECT_EQ(by_trigrams_in("iPhone"), (list{"iphon", "phone"}));
  EXPECT_EQ(by_trigrams_in("iPhone").front(), by_trigrams_in("iphone").front());
  EXPECT_EQ(by_trigrams_in("aB"), (list{"ab"}));
}

TEST(latin_words, say_where_they_are_written) {
  const std::string text = "Ａé ﬁle_Name";
  for (const auto& one : make_trigram_tokenizer()->tokenize(text, tokenize_mode::index)) {
    EXPECT_LT(one.begin, one.end);
    EXPECT_LE(one.end, text.size());
  }
  const auto all = make_trigram_tokenizer()->tokenize("x, サーバ ServerNames", tokenize_mode::index);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[5].text, "server");
  EXPECT_EQ(all[5].begin, 13u);
  EXPECT_EQ(all[5].end, 19u);
  EXPECT_EQ(all[6].text, "name");
  EXPECT_EQ(all[6].end, 24u);
}

TEST(latin_words, that_are_very_long_are_cut) {
  const auto all = by_trigrams_in(std::string(50'000, 'x'));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), 256u);
  const auto wide = by_trigrams_in([] {
    std::string out;
    for (int i = 0; i < 300; ++i) out += "я";
    return out;
  }());
  EXPECT_EQ(wide[0].size(), 256u);
}

TEST(latin_words, that_find_everything_are_left_out_of_queries_unless_there_are_no_others) {
  EXPECT_EQ(by_trigrams_in("how to index the files", tokenize_mode::query), (list{"index", "file"}));
  EXPECT_EQ(by_trigrams_in("to be or not to be", tokenize_mode::query), (list{"to", "be", "or", "not", "to", "be"}));
  EXPECT_EQ(by_trigrams_in("", tokenize_mode::query), (list{}));
  EXPECT_EQ(by_trigrams_in("?! ..", tokenize_mode::query), (list{}));
}

TEST(trigrams, overlap_and_end_shorter) {
  EXPECT_EQ(by_trigrams_in("検索する本棚"), (list{"検索す", "索する", "する本", "る本棚", "本棚", "棚"}));
  EXPECT_EQ(by_trigrams_in("本、棚"), (list{"本", "棚"}));
  EXPECT_EQ(by_trigrams_in("ｶﾞｲﾄﾞ"), (list{"ガイド", "イド", "ド"}));
}

TEST(trigrams, of_queries_are_whole_or_a_prefix) {
  EXPECT_EQ(by_trigrams_in("検索する", tokenize_mode::query), (list{"検索す", "索する"}));
  EXPECT_EQ(by_trigrams_in("本棚", tokenize_mode::query), (list{"本棚…"}));
  EXPECT_EQ(by_trigrams_in("本", tokenize_mode::query), (list{"本…"}));
  EXPECT_EQ(by_trigrams_in("図書館", tokenize_mode::query), (list{"図書館"}));
}

TEST(trigrams, cut_korean_by_pairs_and_thai_by_triples) {
  EXPECT_EQ(by_trigrams_in("서버는 시"), (list{"서버", "버는", "시"}));
  EXPECT_EQ(by_trigrams_in("กขคง"), (list{"กขค", "ขคง", "คง", "ง"}));
}

TEST(trigrams, are_separated_by_malformed_bytes) {
  EXPECT_EQ(by_trigrams_in("本\xff棚 a\xe3\x81"
                           "b"),
            (list{"本", "棚", "a", "b"}));
}

TEST(trigrams, of_long_texts_are_those_of_their_parts) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "検索 word ";
  const auto all = make_trigram_tokenizer()->tokenize(text, tokenize_mode::index);
  EXPECT_EQ(all.size(), 120'000u);
  EXPECT_EQ(all.back().text, "word");
  EXPECT_EQ(all.back().end, text.size() - 1);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const token& a, const token& b) { return a.begin < b.begin; }));
  EXPECT_EQ(make_trigram_tokenizer()->id(), "trigrams-1");
}

}  // namespace
}  // namespace hondana::tokenizer

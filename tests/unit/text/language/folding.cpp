/// Characters in the form that is compared, with where they come from.
#include <algorithm>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "text/language/language.hpp"

namespace hondana::language {
namespace {

TEST(folding, makes_one_of_full_and_half_width) {
  EXPECT_EQ(fold("ＡＢＣ１２３"), "abc123");
  EXPECT_EQ(fold("ﾊﾟｿｺﾝ ｶﾞｲﾄﾞ"), "パソコン ガイド");
  EXPECT_EQ(fold("　"), " ");
  EXPECT_EQ(fold("㈱①㍿ﬁ"), "(株)1株式会社fi");
}

TEST(folding, folds_case_in_every_script) {
  EXPECT_EQ(fold("Größe STRASSE Straße"), "grösse strasse strasse");
  EXPECT_EQ(fold("ПРИВЕТ ΣΟΦΟΣ"), "привет σοφοσ");
}

TEST(folding, composes_marks_in_any_order_and_drops_what_is_ignorable) {
  EXPECT_EQ(fold("か\u3099は\u309a"), "がぱ");
  EXPECT_EQ(fold("cafe\u0301"), "café");
  EXPECT_EQ(fold("a\u0323\u0302"), fold("a\u0302\u0323"));
  EXPECT_EQ(fold("soft\u00adhyphen\u200b"), "softhyphen");
  EXPECT_EQ(fold("\u1112\u1161\u11ab"), "한");
}

TEST(folding, reads_hyphens_between_katakana_as_long_vowels_and_keeps_dashes) {
  EXPECT_EQ(fold("サ‐バ ユ−ザ ｻｰﾊﾞ サ─バ"), "サーバ ユーザ サーバ サーバ");
  EXPECT_EQ(fold("ロンドン―パリ 東京‐大阪 サーバ−"), "ロンドン―パリ 東京‐大阪 サーバ−");
}

TEST(folding, replaces_malformed_bytes_as_many_as_belong_together) {
  EXPECT_EQ(fold("a\xff"
                 "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(fold("\xe3\x81"), "\uFFFD");
  EXPECT_EQ(fold("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(fold("\xc0\xaf\xf5"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(fold("\xf0\x9f\x98x"), "\uFFFDx");
}

TEST(folding, says_where_every_byte_comes_from) {
  const std::string text = "Ａbｶﾞ\xffé";
  const auto out = fold_with_offsets(text);
  EXPECT_EQ(out.text, "abガ\uFFFDé");
  const std::vector<std::size_t> expected = {0, 3, 4, 4, 4, 10, 10, 10, 11, 11, text.size()};
  EXPECT_EQ(out.source_offsets, expected);
  const auto marks = fold_with_offsets("み\u0301ﾟ。").source_offsets;
  EXPECT_TRUE(std::is_sorted(marks.begin(), marks.end()));
  EXPECT_EQ(fold_with_offsets("").source_offsets, std::vector<std::size_t>{0});
}

TEST(folding, is_never_longer_than_eighteen_times_the_text) {
  const std::string text = "\uFDFA";
  EXPECT_LE(fold(text).size(), text.size() * 18);
  EXPECT_GT(fold(text).size(), text.size() * 10);
}

TEST(folding_timing, of_many_marks_takes_no_more_than_linear_time) {
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  const auto started = std::chrono::steady_clock::now();
  EXPECT_FALSE(fold(text).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
}

TEST(composing, makes_nfc_and_leaves_what_is_no_utf8) {
  EXPECT_EQ(to_nfc("か\u3099.md"), "が.md");
  EXPECT_EQ(to_nfc("ＡＢＣ Å"), "ＡＢＣ Å");
  EXPECT_EQ(to_nfc("\u212b"), "Å");
  EXPECT_EQ(to_nfc("a\xff\xe3"
                   "e\u0301"),
            "a\xff\xe3"
            "é");
  EXPECT_EQ(to_nfc(""), "");
}

TEST(ranges, match_whole_subtags_in_either_case) {
  EXPECT_TRUE(matches_range("ja", "ja"));
  EXPECT_TRUE(matches_range("ja-JP", "JA"));
  EXPECT_TRUE(matches_range("zh-Hant-TW", "zh-hant"));
  EXPECT_TRUE(matches_range("de", "*"));
  EXPECT_FALSE(matches_range("jav", "ja"));
  EXPECT_FALSE(matches_range("ja", "ja-JP"));
  EXPECT_FALSE(matches_range("ja", ""));
  EXPECT_FALSE(matches_range("", "ja"));
}

}  // namespace
}  // namespace hondana::language

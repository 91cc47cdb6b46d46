/// Japanese words by MeCab. Needs libmecab2 and mecab-ipadic-utf8.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "text/tokenizer/mecab_tokenizer.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::tokenizer {
namespace {

const std::shared_ptr<const tokenizer>& ipadic() {
  static const auto all = make_mecab_tokenizer("/var/lib/mecab/dic/ipadic-utf8").value();
  return all;
}
std::vector<std::string> by_mecab_in(std::string_view text, tokenize_mode what_for = tokenize_mode::index) {
  std::vector<std::string> out;
  for (auto& one : ipadic()->tokenize(text, what_for)) out.push_back(std::move(one.text));
  return out;
}
using texts = std::vector<std::string>;

TEST(mecab, gives_base_forms_without_particles_auxiliaries_and_marks) {
  EXPECT_EQ(by_mecab_in("サーバーの設定を書きました。"), (texts{"サーバ", "設定", "書く"}));
  EXPECT_EQ(by_mecab_in("美しくない本が落ちていた"), (texts{"美しい", "本", "落ちる"}));
  EXPECT_EQ(by_mecab_in("ー々ゝ・。"), (texts{}));
}

TEST(mecab, cuts_compounds_into_their_parts_and_keeps_counters) {
  EXPECT_EQ(by_mecab_in("自然言語処理"), (texts{"自然", "言語", "処理"}));
  EXPECT_EQ(by_mecab_in("三十人と第3章"), (texts{"三", "十", "人", "第", "3", "章"}));
}

TEST(mecab, sees_folded_text_and_says_where_it_is_written) {
  const std::string text = "ﾊﾟｿｺﾝでＦｉｌｅｓを検索";
  const auto all = ipadic()->tokenize(text, tokenize_mode::index);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].text, "パソコン");
  EXPECT_EQ(text.substr(all[0].begin, all[0].end - all[0].begin), "ﾊﾟｿｺﾝ");
  EXPECT_EQ(all[1].text, "file");
  EXPECT_EQ(text.substr(all[1].begin, all[1].end - all[1].begin), "Ｆｉｌｅｓ");
  EXPECT_EQ(text.substr(all[2].begin, all[2].end - all[2].begin), "検索");
}

TEST(mecab, finds_a_word_with_and_without_its_last_long_vowel) {
  EXPECT_EQ(by_mecab_in("ユーザー"), by_mecab_in("ユーザ"));
  EXPECT_EQ(by_mecab_in("コピー"), (texts{"コピー"}));
}

TEST(mecab, leaves_out_of_queries_what_finds_everything_but_never_all) {
  EXPECT_EQ(by_mecab_in("これを検索すること", tokenize_mode::query), (texts{"検索"}));
  EXPECT_EQ(by_mecab_in("the 検索", tokenize_mode::query), (texts{"検索"}));
  EXPECT_EQ(by_mecab_in("これ", tokenize_mode::query), (texts{"これ"}));
  EXPECT_FALSE(by_mecab_in("は", tokenize_mode::query).empty());
  EXPECT_FALSE(by_mecab_in("です", tokenize_mode::query).empty());
}

TEST(mecab_timing, cuts_long_runs_without_a_break_in_linear_time) {
  std::string text;
  while (text.size() < 300'000) text += "東京都庁舎建設";
  const auto started = std::chrono::steady_clock::now();
  const auto all = ipadic()->tokenize(text, tokenize_mode::index);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
  EXPECT_GT(all.size(), 40'000u);
  EXPECT_LE(all.back().end, text.size());
}

TEST(mecab, gives_the_same_in_several_threads) {
  const auto expected = by_mecab_in("隣の客はよく柿食う客だ files");
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::vector<int> wrong(4, 0);
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) wrong[i] += by_mecab_in("隣の客はよく柿食う客だ files") != expected ? 1 : 0;
    });
  for (auto& one : threads) one.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(mecab, names_itself_for_machines_and_people) {
  EXPECT_EQ(ipadic()->id().rfind("words-1 ipadic-UTF-8-", 0), 0u) << ipadic()->id();
  EXPECT_EQ(ipadic()->description(), "MeCab with /var/lib/mecab/dic/ipadic-utf8 (ipadic)");
  const auto usual = make_mecab_tokenizer();
  ASSERT_TRUE(usual) << usual.error().public_text;
  EXPECT_EQ((*usual)->id(), ipadic()->id());
}

TEST(mecab, refuses_a_folder_that_is_not_there_or_is_no_dictionary) {
  const auto missing = make_mecab_tokenizer("/nowhere at/all");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::source_unavailable);
  EXPECT_EQ(missing.error().public_text,
            "MeCab cannot load the dictionary `/nowhere at/all`; install mecab-ipadic-utf8 (Debian) and name its folder, "
            "/var/lib/mecab/dic/ipadic-utf8");
  EXPECT_FALSE(make_mecab_tokenizer("/"));
}

TEST(mecab, refuses_a_dictionary_in_another_charset) {
  // mecab-ipadic, which mecab-ipadic-utf8 needs, is in EUC-JP.
  const auto other = make_mecab_tokenizer("/var/lib/mecab/dic/ipadic");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().public_text,
            "MeCab's dictionary `/var/lib/mecab/dic/ipadic` is in EUC-JP, but must be in UTF-8; install mecab-ipadic-utf8 "
            "(Debian) and name its folder, /var/lib/mecab/dic/ipadic-utf8");
}

}  // namespace
}  // namespace hondana::tokenizer

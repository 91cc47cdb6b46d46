/// Real texts in each charset, found out and read.
#include <iconv.h>

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/charsets/charset_decoder.hpp"

namespace hondana::charsets {
namespace {

std::string encoded(std::string text, const char* to) {
  const iconv_t by = ::iconv_open(to, "UTF-8");
  std::string out(text.size() * 4 + 16, '\0');
  char* from = text.data();
  char* into = out.data();
  std::size_t left = text.size(), room = out.size();
  EXPECT_NE(::iconv(by, &from, &left, &into, &room), static_cast<std::size_t>(-1)) << text << ' ' << to;
  EXPECT_NE(::iconv(by, nullptr, nullptr, &into, &room), static_cast<std::size_t>(-1));
  ::iconv_close(by);
  out.resize(out.size() - room);
  return out;
}

const std::vector<std::string>& short_texts() {
  static const std::vector<std::string> all = {
      "会議議事録.txt",
      "見積書",
      "請求書_2024年3月.xlsx",
      "設定ファイル",
      "はじめに",
      "目次",
      "東京",
      "日本語",
      "図書館の本棚",
      "インストール手順",
      "使い方",
      "資料",
      "一覧",
      "案内",
      "仕様書",
      "第1章 概要",
      "変更履歴",
      "README（日本語）",
      "テスト",
      "社内報",
      "新規作成",
      "お知らせ",
      "よくある質問",
      "売上報告書",
      "組織図",
      "ログイン画面",
      "エラーメッセージ",
      "本",
      "検索",
      "議事録",
      "名前を付けて保存",
      "株式会社山田商店",
      "データベース設計",
      "あ",
      "これはペンです。",
      "価格表（税込）",
      "〒100-0001 東京都千代田区",
      "昭和64年",
      "運用マニュアル",
      "バックアップの復元",
      "①設定②確認",
      "サーバの起動と停止",
      "ネットワーク",
      "ユーザー管理",
      "注意事項",
      "写真",
      "出張旅費精算書",
      "年間計画",
      "契約書（案）",
      "打ち合わせメモ",
  };
  return all;
}

TEST(short_japanese, is_found_out_in_every_charset) {
  for (const auto& text : short_texts())
    for (const auto& [charset, converter] : std::vector<std::pair<std::string, const char*>>{
             {"UTF-8", "UTF-8"}, {"Shift_JIS", "CP932"}, {"EUC-JP", "EUC-JP-MS"}, {"UTF-16LE", "UTF-16"}}) {
      const auto out = decode(encoded(text, converter));
      ASSERT_TRUE(out) << text << ' ' << charset;
      EXPECT_EQ(out->charset, charset) << text << " is read as " << out->text;
      EXPECT_EQ(out->text, text) << charset;
      EXPECT_EQ(out->replacements, 0u);
    }
}

TEST(short_japanese, is_found_out_with_escape_sequences) {
  for (const auto& text : short_texts()) {
    if (text.find("①") != std::string::npos) continue;
    const auto out = decode(encoded(text, "ISO-2022-JP-3"));
    ASSERT_TRUE(out) << text;
    EXPECT_EQ(out->charset, "ISO-2022-JP") << text;
    EXPECT_EQ(out->text, text);
  }
}

TEST(short_japanese, may_be_half_width_katakana) {
  for (const char* const text : {"ﾃｽﾄ", "ﾃﾞｰﾀ", "ﾌｧｲﾙ ﾊﾟｽ", "ｶﾞｲﾄﾞ.txt"}) {
    const auto out = decode(encoded(text, "CP932"));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->charset, "Shift_JIS") << text << ' ' << out->text;
    EXPECT_EQ(out->text, text);
  }
}

TEST(japanese, with_characters_of_jis_x_0201_0212_and_0213_is_read) {
  EXPECT_EQ(decode("\x1b(I\x43\x3d\x44\x1b(B ok").value().text, "ﾃｽﾄ ok");
  EXPECT_EQ(decode("\x1b$(D\x22\x30\x1b(B").value().charset, "ISO-2022-JP");
  EXPECT_EQ(decode(encoded("𠮟る", "ISO-2022-JP-3")).value().text, "𠮟る");
  EXPECT_EQ(decode(encoded("これは𠮟るか゚です", "EUC-JISX0213"), "euc-jp").value().text, "これは𠮟るか゚です");
  EXPECT_EQ(decode(encoded("髙橋㈱ です", "EUC-JP-MS")).value().text, "髙橋㈱ です");
  EXPECT_EQ(decode(encoded("髙橋㈱ №1 です", "CP932")).value().text, "髙橋㈱ №1 です");
}

TEST(unicode, with_and_without_marks_is_read) {
  using namespace std::string_literals;
  EXPECT_EQ(decode("\xef\xbb\xbf本").value().text, "本");
  EXPECT_EQ(decode("\xff\xfe\x2c\x67"s).value().text, "本");
  EXPECT_EQ(decode("\xfe\xff\x67\x2c"s).value().charset, "UTF-16BE");
  EXPECT_EQ(decode("\xff\xfe\0\0\x2c\x67\0\0"s).value().charset, "UTF-32LE");
  EXPECT_EQ(decode(encoded("plain text\n", "UTF-16LE")).value().charset, "UTF-16LE");
  EXPECT_EQ(decode(encoded("plain text\n", "UTF-16BE")).value().text, "plain text\n");
  EXPECT_EQ(decode(encoded("日本語の文章\nです", "UTF-16LE")).value().text, "日本語の文章\nです");
  EXPECT_EQ(decode(encoded("日本語の文章\nです", "UTF-16BE")).value().charset, "UTF-16BE");
  EXPECT_EQ(decode(encoded("日本語", "UTF-16BE"), "utf-16be").value().text, "日本語");
  // Pairs of surrogates between other characters, and as the first and the last.
  for (const auto* text : {"𠮟", "𠮟る", "これは𠮟", "これは𠮟る😀です", "😀😀"}) {
    EXPECT_EQ(decode("\xff\xfe" + encoded(text, "UTF-16LE")).value().text, text);
    EXPECT_EQ(decode("\xfe\xff" + encoded(text, "UTF-16BE")).value().text, text);
    EXPECT_EQ(decode(encoded(text, "UTF-16LE"), "utf-16le").value().text, text);
  }
  EXPECT_EQ(decode("").value().charset, "UTF-8");
  EXPECT_EQ(decode("ascii only").value().charset, "UTF-8");
}

TEST(unicode, that_is_malformed_is_replaced_and_counted) {
  using namespace std::string_literals;
  const auto utf8 = decode("日本語の文章\xffです").value();
  EXPECT_EQ(utf8.text, "日本語の文章\uFFFDです");
  EXPECT_EQ(utf8.replacements, 1u);
  EXPECT_EQ(utf8.charset, "UTF-8");
  EXPECT_EQ(decode("\xff\xfe\x2c\x67\x00\xd8\x2c\x67"s).value().replacements, 1u);
  EXPECT_EQ(decode("\xff\xfe\x2c\x67\x2c"s).value().text, "本\uFFFD");
  // Halves of a pair, at the end and in the wrong order.
  std::string prose;
  for (int i = 0; i < 50; ++i) prose += "これは日本語の文章です。";
  const auto wide = "\xff\xfe"s + encoded(prose, "UTF-16LE");
  EXPECT_EQ(decode(wide + "\x42\xd8"s).value().text, prose + "\uFFFD");
  EXPECT_EQ(decode(wide + "\x9f\xdf\x42\xd8\x2c\x67"s).value().text, prose + "\uFFFD\uFFFD本");
}

TEST(binary, is_no_text) {
  using namespace std::string_literals;
  EXPECT_FALSE(decode("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s));
  EXPECT_FALSE(decode("text with \0 in it"s));
  EXPECT_FALSE(decode("\x01\x02\x03\x04 abc"));
  EXPECT_FALSE(decode("\xff\xfe\0\0"s + std::string(400, '\x01') + std::string(400, '\xff')));
  EXPECT_TRUE(decode("\x1b[1mbold\x1b[0m and \x1b(B plain"));
}

TEST(other_languages, are_read) {
  EXPECT_EQ(decode("Gr\xf6\xdf"
                   "e und M\xfcller")
                .value()
                .text,
            "Größe und Müller");
  EXPECT_EQ(decode("caf\xe9").value().text, "café");
  EXPECT_EQ(decode("na\xefve r\xe9sum\xe9 \x96 voil\xe0").value().charset, "windows-1252");
  const std::string russian = "Сервер читает настройки при запуске и записывает их в журнал, который лежит рядом с программой.";
  EXPECT_EQ(decode(encoded(russian, "CP1251")).value().text, russian);
  EXPECT_EQ(decode(encoded(russian, "KOI8-R")).value().text, russian);
  const std::string chinese =
      "服务器在启动时读取设置，并且把它们写入日志文件，这个文件和程序放在一起，用户可以随时查看里面的内容。";
  EXPECT_EQ(decode(encoded(chinese, "GB18030")).value().text, chinese);
}

TEST(declarations, are_believed_where_the_bytes_allow) {
  EXPECT_EQ(decode(encoded("鰺", "CP932"), "text/html; charset=\"x-sjis\"").value().text, "鰺");
  EXPECT_EQ(decode("caf\xe9", "ISO-8859-2").value().charset, "ISO-8859-2");
  EXPECT_EQ(decode(encoded("図表", "EUC-JP"), "euc-jp-unix").value().text, "図表");
  EXPECT_EQ(decode(encoded("図表の作り方", "EUC-JP"), "Shift_JIS").value().charset, "EUC-JP");
  EXPECT_EQ(decode("日本語です", "windows-1252").value().charset, "UTF-8");
  EXPECT_EQ(decode(encoded("日本語です", "CP932"), "utf-8").value().charset, "Shift_JIS");
  EXPECT_EQ(decode("text", "no such//TRANSLIT").value().charset, "UTF-8");
}

TEST(mixtures, are_taken_for_what_fits_most) {
  const auto mostly = encoded("これは長い文章で、設定ファイルの書き方を説明しています。", "CP932");
  const auto out = decode(mostly + encoded("図", "EUC-JP") + "\xff" + mostly).value();
  EXPECT_EQ(out.charset, "Shift_JIS");
  EXPECT_GE(out.replacements, 1u);
  EXPECT_NE(out.text.find("設定ファイル"), std::string::npos);
  EXPECT_EQ(decode("日本語の文章です。これはとても長い。\x82\xa0").value().charset, "UTF-8");
}

TEST(long_texts_timing, are_read_in_linear_time) {
  load_converters();
  const auto line = encoded("サーバーは起動時に設定を読み込みます。\n", "EUC-JP-MS");
  std::string text;
  while (text.size() < 4'000'000) text += line;
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(decode(text).value().charset, "EUC-JP");
  static_cast<void>(decode(std::string(4'000'000, '\xe9')));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hondana::charsets

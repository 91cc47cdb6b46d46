/// Encodings, said and guessed.
#include "sources/git/text_encoding.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"

namespace hondana::git {
namespace {

using namespace std::string_literals;

void expect_text(const converted_text& found, std::string_view text, std::string_view from) {
  EXPECT_EQ(found.text, text);
  EXPECT_EQ(found.encoding, from);
}

TEST(git_text, in_utf8_stays_as_it_is) {
  for (const std::string one : {"", "plain", "日本語", "\xEF\xBB\xBFmarked", "a\0b"}) expect_text(to_utf8(one), one, "");
  expect_text(to_utf8("日本語", "UTF-8"), "日本語", "");
  expect_text(to_utf8("日本語", "utf8"), "日本語", "");
}

TEST(git_text, is_converted_from_what_it_is_said_to_be) {
  expect_text(to_utf8("\x93\xfa\x96\x7b\x8c\xea", "SJIS"), "日本語", "Shift_JIS");
  expect_text(to_utf8("\x93\xfa\x96\x7b\x8c\xea", "shift_jis"), "日本語", "Shift_JIS");
  expect_text(to_utf8("\x87\x40", "cp932"), "①", "Shift_JIS");
  expect_text(to_utf8("\xc6\xfc\xcb\xdc\xb8\xec", "eucJP"), "日本語", "EUC-JP");
  expect_text(to_utf8("\x1b$BF|K\\8l\x1b(B", "ISO-2022-JP"), "日本語", "ISO-2022-JP");
  expect_text(to_utf8("gr\xfc\xdf", "ISO-8859-1"), "grüß", "ISO-8859-1");
  expect_text(to_utf8("\xa4", "latin-9"), "€", "ISO-8859-15");
  expect_text(to_utf8("\xcf\xf0\xe8\xe2\xe5\xf2", "windows-1251"), "Привет", "windows-1251");
  expect_text(to_utf8("\xf0\xd2\xc9\xd7\xc5\xd4", "KOI8-R"), "Привет", "KOI8-R");
  expect_text(to_utf8("\xd6\xd0\xce\xc4", "gbk"), "中文", "GB18030");
  expect_text(to_utf8("\xa4\xa4\xa4\xe5", "Big5"), "中文", "Big5");
  expect_text(to_utf8("\xc7\xd1\xb1\xdb", "EUC-KR"), "한글", "EUC-KR");
  expect_text(to_utf8("a\0b\0"s, "UTF-16LE"), "ab", "UTF-16LE");
}

TEST(git_text, said_to_be_what_is_not_known_or_does_not_fit_is_guessed) {
  for (const std::string said : {"no-such-thing", "../../x", "UTF-16//TRANSLIT", "\xff", " ", "-", "x y", "ISO-8859-1//IGNORE"})
    expect_text(to_utf8("gr\xfc\xdf", said), "grüß", "windows-1252");
  expect_text(to_utf8("gr\xfc\xdf", std::string(100'000, 'x')), "grüß", "windows-1252");
  expect_text(to_utf8("gr\xfc\xdf", "UTF-8"), "grüß", "windows-1252");
  expect_text(to_utf8("gr\xfc!", "EUC-JP"), "grü!", "windows-1252");
}

TEST(git_text, in_japanese_encodings_is_guessed) {
  expect_text(to_utf8("\x93\xfa\x96\x7b\x8c\xea"), "日本語", "Shift_JIS");
  expect_text(to_utf8("fix: \x93\xfa\x96\x7b\x8c\xea\x82\xf0\x92\xbc\x82\xb7\n"), "fix: 日本語を直す\n", "Shift_JIS");
  expect_text(to_utf8("\xb6\xc5 \x83\x4a\x83\x69"), "ｶﾅ カナ", "Shift_JIS");
  expect_text(to_utf8("\x97\xd1 Taro"), "林 Taro", "Shift_JIS");
  expect_text(to_utf8("\xc6\xfc\xcb\xdc\xb8\xec"), "日本語", "EUC-JP");
  expect_text(to_utf8("\xce\xd3 Taro"), "林 Taro", "EUC-JP");
}

TEST(git_text, in_western_encodings_is_not_taken_for_japanese) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{{"Andr\xe9", "André"},
                                                                         {"Premi\xe8re", "Première"},
                                                                         {"cr\xe9\xe9"
                                                                          "e",
                                                                          "créée"},
                                                                         {"\xc9"
                                                                          "cole",
                                                                          "École"},
                                                                         {"It\x92s", "It’s"},
                                                                         {"M\xfcller", "Müller"},
                                                                         {"\xd8rsted", "Ørsted"},
                                                                         {"Bj\xf6rn \xc5str\xf6m", "Björn Åström"},
                                                                         {"na\xefve caf\xe9", "naïve café"},
                                                                         {"\x93quoted\x94 \x96 dash", "“quoted” – dash"},
                                                                         {"100 \x80", "100 €"},
                                                                         {"G\xc9N\xc9RAL", "GÉNÉRAL"},
                                                                         {"Fran\xe7ois, \xe0 l'\xe9t\xe9", "François, à l'été"},
                                                                         {"\xa9 2001", "© 2001"},
                                                                         {"Jos\xe9 Mar\xed"
                                                                          "a \xd1u\xf1"
                                                                          "ez",
                                                                          "José María Ñuñez"}};
  for (const auto& [bytes, text] : cases) expect_text(to_utf8(bytes), text, "windows-1252");
}

TEST(git_text, in_marked_utf16_is_guessed) {
  expect_text(to_utf8("\xFF\xFE"
                      "a\0\xe5\x65"s),
              "a日", "UTF-16LE");
  expect_text(to_utf8("\xFE\xFF"
                      "\0a\x65\xe5"s),
              "a日", "UTF-16BE");
  expect_text(to_utf8("\xFF\xFE\x3d\xd8\x00\xde"s), "😀", "UTF-16LE");
  // Half a character, and half a pair.
  EXPECT_EQ(to_utf8("\xFF\xFE"
                    "abc")
                .encoding,
            "windows-1252");
  EXPECT_EQ(to_utf8("\xFF\xFE\x3d\xd8"s).encoding, "windows-1252");
}

TEST(git_text, that_fits_nothing_never_fails) {
  expect_text(to_utf8("\x81\x8d\x8f\x90\x9d"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD", "windows-1252");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (const std::string_view said :
       {"", "Shift_JIS", "EUC-JP", "ISO-2022-JP", "GB18030", "Big5", "UTF-16LE", "windows-1255"}) {
    const auto found = to_utf8(all, said);
    EXPECT_TRUE(json::is_utf8(found.text)) << said;
    EXPECT_NE(found.encoding, "") << said;
  }
}

TEST(git_text, of_many_bytes_is_converted_whole) {
  std::string bytes, text;
  for (int i = 0; i < 100'000; ++i) bytes += "\x93\xfa", text += "日";
  expect_text(to_utf8(bytes), text, "Shift_JIS");
  expect_text(to_utf8(bytes, "CP932"), text, "Shift_JIS");
}

TEST(git_text, of_files_is_none_where_they_are_binary) {
  EXPECT_EQ(decode_file("plain\n")->text, "plain\n");
  EXPECT_EQ(decode_file("")->text, "");
  EXPECT_EQ(decode_file("\x93\xfa\x96\x7b\x8c\xea\n")->encoding, "Shift_JIS");
  EXPECT_EQ(decode_file("gr\xfc\xdf\r\n\tx\x1b[0m\f")->text, "grüß\r\n\tx\x1b[0m\f");
  EXPECT_EQ(decode_file("\xFF\xFE"
                        "a\0"s)
                ->text,
            "a");
  EXPECT_FALSE(decode_file("a\0b"s));
  EXPECT_FALSE(decode_file("\xFF\xFE\0\0"s));
  EXPECT_FALSE(decode_file("\x89PNG\r\n\x1a\n\x01\x02"));
  EXPECT_TRUE(decode_file("\x01 is well-formed"));
}

TEST(git_text, of_paths_has_a_replacement_for_what_is_no_utf8) {
  EXPECT_EQ(display_path("a/日本.txt"), "a/日本.txt");
  EXPECT_EQ(display_path("a/\x93\xfa.txt"), "a/\uFFFD\uFFFD.txt");
}

TEST(git_text, has_a_table_for_every_encoding_that_it_knows) {
  for (const std::string_view one :
       {"UTF-8",        "UTF-16LE",     "UTF-16BE",     "Shift_JIS",    "EUC-JP",       "ISO-2022-JP",  "windows-1250",
        "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257",
        "windows-1258", "ISO-8859-1",   "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",   "ISO-8859-5",   "ISO-8859-6",
        "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-9",   "ISO-8859-10",  "ISO-8859-13",  "ISO-8859-14",  "ISO-8859-15",
        "ISO-8859-16",  "KOI8-R",       "KOI8-U",       "GB18030",      "Big5",         "EUC-KR"}) {
    EXPECT_EQ(canonical_encoding(one), one);
    EXPECT_TRUE(decode("", one)) << one;
  }
}

}  // namespace
}  // namespace hondana::git

/// Documents in the encodings that Japanese is written in.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;

// "# 設計の手引き\n\nこの文書は設計を説明します。\n" in four encodings.
const std::string in_utf8 = "# 設計の手引き\n\nこの文書は設計を説明します。\n";
const std::string in_shift_jis =
    "# \x90\xDD\x8C\x76\x82\xCC\x8E\xE8\x88\xF8\x82\xAB\n\n\x82\xB1\x82\xCC\x95\xB6\x8F\x91\x82\xCD\x90\xDD\x8C\x76\x82\xF0"
    "\x90\xE0\x96\xBE\x82\xB5\x82\xDC\x82\xB7\x81\x42\n";
const std::string in_euc_jp =
    "# \xC0\xDF\xB7\xD7\xA4\xCE\xBC\xEA\xB0\xFA\xA4\xAD\n\n\xA4\xB3\xA4\xCE\xCA\xB8\xBD\xF1\xA4\xCF\xC0\xDF\xB7\xD7\xA4\xF2"
    "\xC0\xE2\xCC\xC0\xA4\xB7\xA4\xDE\xA4\xB9\xA1\xA3\n";
const std::string in_iso_2022_jp = "# \x1B$B@_7W$N<j0z$-\x1B(B\n\n\x1B$B$3$NJ8=q$O@_7W$r@bL@$7$^$9!#\x1B(B\n";

struct documents_in_encodings : served_documents {};

TEST_F(documents_in_encodings, are_served_as_utf_8_with_the_original_beside_them) {
  write("utf8.md", in_utf8);
  write("sjis.md", in_shift_jis);
  write("euc.md", in_euc_jp);
  write("jis.md", in_iso_2022_jp);
  const auto from = serve();
  for (const auto& [name, charset, bytes] :
       {std::tuple("sjis", "Shift_JIS", in_shift_jis), std::tuple("euc", "EUC-JP", in_euc_jp),
        std::tuple("jis", "ISO-2022-JP", in_iso_2022_jp)}) {
    const auto uri = "docs://book/" + std::string(name) + ".md";
    EXPECT_EQ(text_at(*from, uri), in_utf8) << name;
    EXPECT_EQ(original_at(*from, uri), bytes) << name;
    const auto entry = entry_at(*from, uri);
    EXPECT_EQ(entry.title, "設計の手引き") << name;
    EXPECT_EQ(entry.description, "この文書は設計を説明します。") << name;
    EXPECT_EQ(fact_of(entry.metadata, "lang"), "ja") << name;
    EXPECT_EQ(fact_of(entry.metadata, "charset"), charset) << name;
    EXPECT_EQ(entry.size, in_utf8.size()) << name;
  }
  EXPECT_EQ(text_at(*from, "docs://book/utf8.md"), in_utf8);
  EXPECT_EQ(original_at(*from, "docs://book/utf8.md"), "none");
}

TEST_F(documents_in_encodings, say_how_many_places_were_replaced) {
  auto mixed = in_utf8 + in_utf8 + in_utf8;
  write("mixed.md", mixed + "\xFF\xFE broken\n");
  const auto from = serve();
  EXPECT_THAT(text_at(*from, "docs://book/mixed.md"), HasSubstr("\xEF\xBF\xBD"));
  EXPECT_NE(fact_of(entry_at(*from, "docs://book/mixed.md").metadata, "invalidSequences"), "");
  EXPECT_THAT(surveyed(*from, true).at("mixed.md"), HasSubstr("replaced"));
  EXPECT_NE(original_at(*from, "docs://book/mixed.md"), "none");
}

TEST_F(documents_in_encodings, are_what_a_rule_says_and_have_another_version_then) {
  // Too short to be told from other encodings.
  write("kana.txt", "\xB1\xB2\xB3\n");
  settle("kana.txt");
  const auto from = serve();
  const auto before = entry_at(*from, "docs://book/kana.txt");
  write(".hondana-docs.toml", "[[rule]]\nmatch = \"kana.txt\"\ncharset = \"Shift_JIS\"\nlang = \"ja\"\n");
  const auto after = entry_at(*from, "docs://book/kana.txt");
  EXPECT_EQ(text_at(*from, "docs://book/kana.txt"), "ｱｲｳ\n");
  EXPECT_EQ(fact_of(after.metadata, "lang"), "ja");
  EXPECT_NE(after.version, before.version);
}

TEST_F(documents_in_encodings, have_names_that_are_shift_jis_bytes) {
  write("\x90\xDD\x8C\x76.md", "# Plan\n");
  const auto from = serve();
  const auto entry = entry_at(*from, "docs://book/%90%DD%8Cv.md");
  EXPECT_EQ(entry.name, "設計.md");
  EXPECT_EQ(text_at(*from, entry.uri), "# Plan\n");
  EXPECT_EQ(completed(*from, "{+path}{?section}", "path", "設"), (std::vector<std::string>{"%90%DD%8Cv.md"}));
}

TEST_F(documents_in_encodings, that_are_no_text_are_a_clear_error_and_given_as_they_are_where_nothing_is_masked) {
  std::string noise;
  for (int i = 0; i < 4000; ++i) noise += static_cast<char>((i * 7919 + i / 3) % 256);
  write("noise.txt", noise);
  write("fine.md", "# Fine\n");
  const auto from = serve();
  const auto got = text_at(*from, "docs://book/noise.txt");
  EXPECT_THAT(got, HasSubstr("error: The document is not text"));
  EXPECT_EQ(error_at(*from, "docs://book/noise.txt?format=original"), errc::unsupported);
  auto how = plain_options();
  how.redact = false;
  const auto raw = read(*serve(how), "docs://book/noise.txt?format=original");
  ASSERT_TRUE(raw);
  EXPECT_EQ(*std::get<shared_bytes>(raw->contents.front().data), noise);
  EXPECT_EQ(text_at(*from, "docs://book/fine.md"), "# Fine\n");
}

}  // namespace
}  // namespace hondana::docs

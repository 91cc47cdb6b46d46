/// YAML as trees with places.
#include <string>

#include <gtest/gtest.h>

#include "text/located/node.hpp"
#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using test::told;

std::string of_yaml(std::string_view text) { return told(config_format::yaml, text); }

TEST(yaml_tree, has_the_place_of_every_value) {
  EXPECT_EQ(of_yaml("name: web\n"
                    "# a comment: with a colon\n"
                    "\"ports\":\n"
                    "  - 80   # http\n"
                    "  - \"443\"\n"
                    "  - 'it''s'\n"
                    "flow: {a: [1, two], b: {}, c: []}\n"
                    "folded: >-\n"
                    "  one\n"
                    "  two\n"
                    "\n"
                    "literal: |\n"
                    "  x: 1\n"
                    "   y\n"
                    "plain: over\n"
                    "  two lines\n"
                    "last: true\n"),
            "1 name = \"web\" <web>\n"
            "4 ports(3)[0] = 80 <80>\n"
            "5 ports(3)[1] = \"443\" <\"443\">\n"
            "6 ports(3)[2] = \"it's\" <'it''s'>\n"
            "7 flow.a[0] = 1 <1>\n"
            "7 flow.a[1] = \"two\" <two>\n"
            "7 flow.b = {} <{}>\n"
            "7 flow.c = [] <[]>\n"
            "8 folded = \"one two\" <>-\n  one\n  two>\n"
            "12 literal = \"x: 1\\n y\\n\" <|\n  x: 1\n   y>\n"
            "15 plain = \"over two lines\" <over\n  two lines>\n"
            "17 last = true <true>\n");
}

TEST(yaml_tree, has_the_places_of_what_is_not_written) {
  EXPECT_EQ(of_yaml("a:\nb:   # nothing\n\n\nc: ~\nd:\n-\n- 1\n-\ne: null\nf: {x: , y}\ng: !!str\nh: &none\ni: *none\n"),
            "1 a = null <>\n"
            "2 b = null <>\n"
            "5 c = null <~>\n"
            "7 d(6)[0] = null <>\n"
            "8 d(6)[1] = 1 <1>\n"
            "9 d(6)[2] = null <>\n"
            "10 e = null <null>\n"
            "11 f.x = null <>\n"
            "11 f.y = null <>\n"
            "12 g = \"\" <>\n"
            "13 h = null <>\n"
            "13 i(14) = null <>\n");
}

TEST(yaml_tree, resolves_scalars_by_the_core_schema) {
  EXPECT_EQ(of_yaml("- yes\n- no\n- on\n- 0x1F\n- 0o17\n- 017\n- +12\n- 1.50\n- .5\n- 1e3\n- 22:22\n- 2001-12-14\n"
                    "- 123456789012345678901234567890\n- TRUE\n- 1_000\n- \"1\"\n- -0.0\n- 1.2.3\n"),
            "1 [0] = \"yes\" <yes>\n2 [1] = \"no\" <no>\n3 [2] = \"on\" <on>\n4 [3] = 31 <0x1F>\n5 [4] = 15 <0o17>\n"
            "6 [5] = 17 <017>\n7 [6] = 12 <+12>\n8 [7] = 1.5 <1.50>\n9 [8] = 0.5 <.5>\n10 [9] = 1000.0 <1e3>\n"
            "11 [10] = \"22:22\" <22:22>\n12 [11] = \"2001-12-14\" <2001-12-14>\n"
            "13 [12] = 123456789012345678901234567890 <123456789012345678901234567890>\n14 [13] = true <TRUE>\n"
            "15 [14] = \"1_000\" <1_000>\n16 [15] = \"1\" <\"1\">\n17 [16] = -0.0 <-0.0>\n18 [17] = \"1.2.3\" <1.2.3>\n");
  EXPECT_EQ(of_yaml("a: .inf\nb: 1e999\n"),
            "1 a = \".inf\" <.inf>\n2 b = \"1e999\" <1e999>\n"
            "! line 1: infinities and NaN are not JSON numbers; the value is read as text\n"
            "! line 2: a number that is too large is read as text\n");
}

TEST(yaml_tree, resolves_tags) {
  EXPECT_EQ(
      of_yaml(
          "- !!str 12\n- !!int \"12\"\n- !!float 3\n- !!bool yes\n- !Ref bucket\n- ! 5\n- !!binary aGVsbG8=\n- !Sub\n  - a\n"),
      "1 [0] = \"12\" <12>\n2 [1] = 12 <\"12\">\n3 [2] = 3.0 <3>\n4 [3] = \"yes\" <yes>\n"
      "5 [4] = \"bucket\" <bucket>\n6 [5] = \"5\" <5>\n7 [6] = \"aGVsbG8=\" <aGVsbG8=>\n9 [7][0] = \"a\" <a>\n"
      "! line 4: the tag \"tag:yaml.org,2002:bool\" does not fit its value, which is read as text\n"
      "! line 5: the tag \"!Ref\" is ignored; its value is read as text\n"
      "! line 9: the tag \"!Sub\" is ignored\n");
}

TEST(yaml_tree, resolves_aliases_and_merges) {
  EXPECT_EQ(
      of_yaml("base: &base\n  image: a\n  tag: 1\nmore: &more {tag: 2, extra: x}\n"
              "web:\n  <<: *base\n  tag: 3\nall:\n  image: own\n  <<: [*more, *base]\nlist: &l [1]\nsame: *l\n\"<<\": 1\n"),
      "2 base(1).image = \"a\" <a>\n3 base(1).tag = 1 <1>\n4 more.tag = 2 <2>\n4 more.extra = \"x\" <x>\n"
      "2 web(5).image = \"a\" <a>\n7 web(5).tag = 3 <3>\n"
      "9 all(8).image = \"own\" <own>\n4 all(8).tag = 2 <2>\n4 all(8).extra = \"x\" <x>\n"
      "11 list[0] = 1 <1>\n11 same(12)[0] = 1 <1>\n13 << = 1 <1>\n");
}

TEST(yaml_tree, makes_a_list_of_documents) {
  EXPECT_EQ(of_yaml("# first\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n"), "3 [0].a = 1 <1>\n7 [1].b = 2 <2>\n");
  EXPECT_EQ(of_yaml("---\na: 1\n---\n"), "2 a = 1 <1>\n");
  EXPECT_EQ(of_yaml(""), "1  = null <>\n");
  EXPECT_EQ(of_yaml("# only this\n"), "1  = null <>\n");
}

TEST(yaml_tree, remarks_keys_that_are_given_again) {
  EXPECT_EQ(of_yaml("port: 1\nhost: x\nport: 2\n"),
            "3 port = 2 <2>\n2 host = \"x\" <x>\n! line 3: the key \"port\" is repeated; this value is used\n");
}

TEST(yaml_tree, counts_bytes_and_lines_as_they_are) {
  EXPECT_EQ(of_yaml("\xEF\xBB\xBF"
                    "本: 棚\r\n\"é\": \"ü\"\r\nlist:\r\n- x\r\n- |\r\n  y\r\n"),
            "1 本 = \"棚\" <棚>\n2 é = \"ü\" <\"ü\">\n4 list(3)[0] = \"x\" <x>\n5 list(3)[1] = \"y\\n\" <|\r\n  y>\n");
}

TEST(yaml_tree, takes_every_escape) {
  EXPECT_EQ(of_yaml(R"(- "\x41\xe9\u672c\U0001F4DA\n\t\"\/\\\e\0"
- "é\_b\Nc\Ld\P"
)"),
            "1 [0] = \"Aé本📚\\n\\t\\\"/\\\\\\u001b\\u0000\" <"
            R"("\x41\xe9\u672c\U0001F4DA\n\t\"\/\\\e\0")"
            ">\n2 [1] = \"é\u00A0b\xC2\x85"
            "c\u2028d\u2029\" <"
            R"("é\_b\Nc\Ld\P")"
            ">\n");
}

TEST(yaml_tree, refuses_what_is_wrong_by_its_line_and_without_its_words) {
  const std::string word = "correct-horse";
  EXPECT_EQ(of_yaml("a: 1\nb: [" + word + "\nc: 2\n").find(word), std::string::npos);
  EXPECT_EQ(of_yaml("a: *nothing_" + word), "failed: line 1: the referenced anchor is not defined");
  EXPECT_EQ(of_yaml("ok: 1\na: \"\\"
                    "q\"\n"),
            "failed: line 2: unknown escape character");
  EXPECT_EQ(of_yaml("a: 1\n? [b]\n: 2\n"), "failed: line 2: a key is a list or a table, which JSON does not support");
  const std::string stray = "unexpected content; is the indentation wrong, or is a \"---\" missing?";
  EXPECT_EQ(of_yaml("[1, 2]\n[3]\n"), "failed: line 2: " + stray);
  EXPECT_EQ(of_yaml("  a: 1\nb: 2\n"), "failed: line 2: " + stray);
  EXPECT_EQ(of_yaml("a: &x\n  b: *x\n"), "failed: line 2: an alias inside the value that it refers to");
}

TEST(yaml_tree, keeps_final_lines_of_blocks) {
  EXPECT_EQ(of_yaml("k: >+\n  a\n\nz: 1\n"), "1 k = \"a\\n\\n\" <>+\n  a>\n4 z = 1 <1>\n");
  EXPECT_EQ(of_yaml("k: |+\n  a\n\nz: 1\n"), "1 k = \"a\\n\\n\" <|+\n  a>\n4 z = 1 <1>\n");
  EXPECT_EQ(of_yaml("k: >\n  a\n\n   b\n  c\n\n\nz: 1\n"), "1 k = \"a\\n\\n b\\nc\\n\" <>\n  a\n\n   b\n  c>\n8 z = 1 <1>\n");
  EXPECT_EQ(of_yaml("k: | # c\nz: 1\n"), "1 k = \"\" <| # c>\n2 z = 1 <1>\n");
}

TEST(yaml_tree, keeps_empty_lines_at_the_end_of_quoted_scalars) {
  EXPECT_EQ(of_yaml("c: 'x\n\n\n  '\n"), "1 c = \"x\\n\\n\" <'x\n\n\n  '>\n");
}

TEST(yaml_tree, refuses_what_is_half_written) {
  EXPECT_EQ(of_yaml("top1:\n  key1: val1\ntop2\n"), "failed: line 3: could not find expected ':'");
  EXPECT_EQ(of_yaml("server:\n  host: a\n  por"), "failed: line 3: could not find expected ':'");
  EXPECT_EQ(of_yaml("server:\n  host: a\nkey: \"x\n"), "failed: line 4: unexpected end of stream");
  EXPECT_EQ(of_yaml("key: [a, b\n"), "failed: line 2: did not find expected ',' or ']'");
  EXPECT_EQ(of_yaml("server:\n  host: \"a"), "failed: line 2: unexpected end of stream");
}

TEST(yaml_tree, reads_keys_after_question_marks) {
  EXPECT_EQ(of_yaml("? a\n: 1\n? |\n  b\n: - 2\n? c\n"), "2 a(1) = 1 <1>\n5 b\n(3)[0] = 2 <2>\n6 c = null <>\n");
}

TEST(yaml_tree, reads_surrogate_pairs_in_double_quotes) {
  EXPECT_EQ(of_yaml(R"({"\ud83d\ude00": "本\uD83D\uDE00x\uD83D\uDE01", "b": 1})"),
            R"(1 😀 = "本😀x😁" <"本\uD83D\uDE00x\uD83D\uDE01">)"
            "\n1 b = 1 <1>\n");
  EXPECT_EQ(of_yaml("a: \\ud83d\\ude00\nb: '\\ud83d\\ude00'\nc: \"\\\\ud83d\"\nd: 1\n"),
            "1 a = \"\\\\ud83d\\\\ude00\" <\\ud83d\\ude00>\n2 b = \"\\\\ud83d\\\\ude00\" <'\\ud83d\\ude00'>\n"
            "3 c = \"\\\\ud83d\" <\"\\\\ud83d\">\n4 d = 1 <1>\n");
  EXPECT_EQ(of_yaml("a: 1\nb: \"\\ud83d\"\n"), "failed: line 2: invalid Unicode character escape code");
}

TEST(yaml_tree, has_no_line_endings_of_yaml_1_1) {
  EXPECT_EQ(of_yaml("a: x\u2028y\u0085z\nb: \"x\u2029 y\"\n"),
            "1 a = \"x\u2028y\u0085z\" <x\u2028y\u0085z>\n2 b = \"x\u2029 y\" <\"x\u2029 y\">\n");
}

TEST(yaml_tree, places_values_after_many_characters) {
  std::string text;
  std::string expected;
  for (int i = 1; i <= 40; ++i) {
    const auto name = "棚" + std::to_string(i);
    text += name + ": \"\\ud83d\\ude00é\"\n";
    expected += std::to_string(i) + ' ' + name + " = \"😀é\" <\"\\ud83d\\ude00é\">\n";
  }
  EXPECT_EQ(of_yaml(text), expected);
}

TEST(yaml_tree, refuses_characters_that_yaml_does_not_allow) {
  EXPECT_EQ(of_yaml("a: 1\nb: x\x01y\n"), "failed: line 2: a character that YAML does not allow");
}

TEST(yaml_tree, stops_bombs_early) {
  std::string laughs =
      "a: &a ["
      "lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (char name = 'b'; name <= 'z'; ++name) {
    laughs += std::string(1, name) + ": &" + name + " [";
    for (int i = 0; i < 9; ++i) laughs += (i == 0 ? "*" : ", *") + std::string(1, static_cast<char>(name - 1));
    laughs += "]\n";
  }
  std::string wide = "a: &a \"" + std::string(1 << 20, 'x') + "\"\nb:\n";
  for (int i = 0; i < 50; ++i) wide += "- *a\n";
  EXPECT_EQ(of_yaml(laughs), "failed: line 1: more than 200000 values, counting each repetition by an alias");
  EXPECT_EQ(of_yaml(wide), "failed: line 1: aliases repeat more than 8388608 bytes of text");
  EXPECT_EQ(of_yaml(std::string(1 << 20, '[')), "failed: line 1: lists and tables are nested deeper than 100 levels");
  EXPECT_EQ(of_yaml(std::string(1 << 19, '{')), "failed: line 1: lists and tables are nested deeper than 100 levels");
  std::string lines;
  for (int i = 0; i < 1 << 20; ++i) lines += "[\n";
  EXPECT_EQ(of_yaml(lines), "failed: line 101: lists and tables are nested deeper than 100 levels");
  EXPECT_EQ(of_yaml("{a: [" + std::string(1 << 22, '[')), "failed: line 1: lists and tables are nested deeper than 100 levels");
  std::string commas = "[";
  for (int i = 0; i < 1'000'000; ++i) commas += "[],";
  EXPECT_EQ(of_yaml(commas), "failed: line 1: more than 200000 values");
  std::string dashes;
  for (int i = 0; i < 1 << 18; ++i) dashes += "- ";
  EXPECT_EQ(of_yaml(dashes), "failed: line 1: lists and tables are nested deeper than 100 levels");
  std::string deep;
  for (int i = 0; i < 150; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(of_yaml(deep), "failed: line 101: lists and tables are nested deeper than 100 levels");
}

}  // namespace

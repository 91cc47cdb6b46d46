/// The formats that are read line by line.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using test::told;

TEST(dotenv_reader, takes_names_and_values) {
  EXPECT_EQ(told(config_format::dotenv,
                 "# a comment\n"
                 "A=1\n"
                 "export B = two words  # comment\n"
                 "C=\n"
                 "  D.x-y: yes\n"
                 "E=a#b\n"
                 "F='single \\n # kept' # comment\n"
                 "G=\"double\\nline # kept\"\n"
                 "H=`back \"tick\"`\n"
                 "export=1\n"
                 "URL=https://x.example/?a=b\n"),
            "2 A = \"1\" <1>\n3 B = \"two words\" <two words>\n4 C = \"\" <>\n5 D.x-y = \"yes\" <yes>\n6 E = \"a\" <a>\n"
            "7 F = \"single \\\\n # kept\" <'single \\n # kept'>\n8 G = \"double\\nline # kept\" <\"double\\nline # kept\">\n"
            "9 H = \"back \\\"tick\\\"\" <`back \"tick\"`>\n10 export = \"1\" <1>\n"
            "11 URL = \"https://x.example/?a=b\" <https://x.example/?a=b>\n");
}

TEST(dotenv_reader, takes_quoted_values_over_several_lines) {
  EXPECT_EQ(told(config_format::dotenv, "A=\"one\r\ntwo \\\"x\\\"\r\n# three\" # end\r\nB=2\r\n"),
            "1 A = \"one\\ntwo \\\\\\\"x\\\\\\\"\\n# three\" <\"one\r\ntwo \\\"x\\\"\r\n# three\">\n4 B = \"2\" <2>\n");
}

TEST(dotenv_reader, remarks_what_is_taken_in_a_way_of_its_own) {
  EXPECT_EQ(told(config_format::dotenv, "A=1\nnonsense here\nA=2\nB=\"x\" y\nKEY:value\n"),
            "3 A = \"2\" <2>\n4 B = \"\\\"x\\\" y\" <\"x\" y>\n"
            "! line 2: not a comment or NAME=value; ignored\n"
            "! line 3: the key \"A\" is repeated; this value is used\n"
            "! line 4: unexpected text after the closing quote; the quotes are read as part of the value\n"
            "! line 5: not a comment or NAME=value; ignored\n");
}

TEST(dotenv_reader, takes_a_quote_that_is_never_closed_for_half_a_file) {
  const std::string said = "failed: line 2: the opening quote of the value of \"B\" is never closed; is the file half-written?";
  EXPECT_EQ(told(config_format::dotenv, "A=1\nB=\"half"), said);
  EXPECT_EQ(told(config_format::dotenv, "A=1\nB='half\nC=2\n"), said);
  EXPECT_EQ(told(config_format::dotenv, "A=1\nB=\"half\nC=\"2\"\n"), said);
  EXPECT_EQ(told(config_format::dotenv, "A=1\nB=\"half \\\" x\nC=2\n"), said);
}

TEST(compose_env_reader, reads_what_compose_reads) {
  EXPECT_EQ(told(config_format::compose_env,
                 "A=a#b\n"
                 "B=VAL # comment\n"
                 "C=VAL# not a comment\n"
                 "D=\"VAL # not a comment\" # comment\n"
                 "E='$OTHER \\n Let\\'s go!'\n"
                 "F=\"{\\\"a\\\": 1}\\n\\ty\\q\"\n"
                 "G='SOME\r\nVALUE'\n"
                 "export H=${VAR:-x}\n"
                 "I=`x` y\n"
                 "J: z\n"
                 "K=\n"),
            "1 A = \"a#b\" <a#b>\n2 B = \"VAL\" <VAL>\n3 C = \"VAL# not a comment\" <VAL# not a comment>\n"
            "4 D = \"VAL # not a comment\" <\"VAL # not a comment\">\n"
            "5 E = \"$OTHER \\\\n Let's go!\" <'$OTHER \\n Let\\'s go!'>\n"
            "6 F = \"{\\\"a\\\": 1}\\n\\ty\\\\q\" <\"{\\\"a\\\": 1}\\n\\ty\\q\">\n"
            "7 G = \"SOME\\nVALUE\" <'SOME\r\nVALUE'>\n9 H = \"${VAR:-x}\" <${VAR:-x}>\n10 I = \"`x` y\" <`x` y>\n"
            "11 J = \"z\" <z>\n12 K = \"\" <>\n");
}

TEST(compose_env_reader, refuses_what_compose_refuses) {
  EXPECT_EQ(told(config_format::compose_env, "A=1\nB=\"half\\\"\n"),
            "failed: line 2: the opening quote of the value of \"B\" is never closed; is the file half-written?");
  EXPECT_EQ(told(config_format::compose_env, "A=\"x\" y\n"), "failed: line 1: unexpected text after the closing quote");
  EXPECT_EQ(told(config_format::compose_env, "A=1\nB=2\n", {.max_values = 1}),
            "failed: line 2: more than 1 values, counting each repetition by an alias");
}

TEST(dotenv_reader_timing, takes_linear_time) {
  const auto begun = std::chrono::steady_clock::now();
  std::string text;
  while (text.size() < 4'000'000) text += "A=\"\\\"x\" y\nB='\\' z\\'\n";
  const auto said = told(config_format::dotenv, text);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_FALSE(said.empty());
}

TEST(properties_reader, reads_what_java_reads) {
  EXPECT_EQ(told(config_format::properties,
                 "# a comment\n"
                 "  ! another\n"
                 "\n"
                 "a=1\n"
                 "  b : two  \n"
                 "c three\n"
                 "d\n"
                 "e\\ f\\=g = h\\tu00e9\\u00e9\\uD83D\\uDE00\\q\n"
                 "list = one, \\\n"
                 "     two, \\\r\n"
                 "\tthree\n"
                 "path=C:\\\\x\\\\\n"
                 "k = \\\n"
                 "  # no comment\n"
                 "a.b.c==x\n"
                 "last=\\"),
            "4 a = \"1\" <1>\n5 b = \"two  \" <two  >\n6 c = \"three\" <three>\n7 d = \"\" <>\n"
            "8 e f=g = \"h\\tu00e9é😀q\" <h\\tu00e9\\u00e9\\uD83D\\uDE00\\q>\n"
            "9 list = \"one, two, three\" <one, \\\n     two, \\\r\n\tthree>\n12 path = \"C:\\\\x\\\\\" <C:\\\\x\\\\>\n"
            "14 k(13) = \"# no comment\" <# no comment>\n15 a.b.c = \"=x\" <=x>\n16 last = \"\" <>\n");
}

TEST(properties_reader, takes_latin_1_where_it_is_no_utf_8) {
  EXPECT_EQ(told(config_format::properties, "a = caf\xE9\nb = \xFC"),
            "1 a = \"café\" <caf\xE9>\n2 b = \"ü\" <\xFC>\n! line 1: the file is not UTF-8 and is read as ISO 8859-1\n");
  EXPECT_EQ(told(config_format::properties, "a = 本\na = 棚"),
            "2 a = \"棚\" <棚>\n! line 2: the key \"a\" is repeated; this value is used\n");
}

TEST(properties_reader, refuses_what_java_refuses) {
  EXPECT_EQ(told(config_format::properties, "a=1\nb=\\u12"), "failed: line 2: \\u without four hexadecimal digits");
  EXPECT_EQ(told(config_format::properties, "a=\\uD83Dx"),
            "1 a = \"\xEF\xBF\xBDx\" <\\uD83Dx>\n! line 1: half of a surrogate pair is not a character and is replaced\n");
}

TEST(ini_reader, reads_sections_of_many_programs) {
  EXPECT_EQ(told(config_format::ini,
                 "; a comment\n"
                 "root = true\n"
                 "[mysqld]\n"
                 "port=3306 # default\n"
                 "skip-networking\n"
                 "color=#fff;x\n"
                 "[remote \"or]igin\"] ; git's\n"
                 "\turl = git@example.org:a/b.git\n"
                 "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
                 "[*.{js,py}]\n"
                 "quoted = \" a ; b \\\"c\\\" \" ; comment\n"
                 "single = 'C:\\new'\n"
                 "half = \"x\n"
                 "Name[de]: Ein Name\n"
                 "dir: C:\\x\n"
                 "extension[] = a\n"
                 "extension[] = b\n"
                 "//registry.example/:always = x\n"
                 "empty =\n"),
            "2 root = \"true\" <true>\n4 mysqld.port = \"3306\" <3306>\n5 mysqld.skip-networking = null <>\n"
            "6 mysqld.color = \"#fff;x\" <#fff;x>\n"
            "8 remote \"or]igin\".url = \"git@example.org:a/b.git\" <git@example.org:a/b.git>\n"
            "9 remote \"or]igin\".fetch = \"+refs/heads/*:refs/remotes/origin/*\" <+refs/heads/*:refs/remotes/origin/*>\n"
            "11 *.{js,py}.quoted = \" a ; b \\\"c\\\" \" <\" a ; b \\\"c\\\" \">\n"
            "12 *.{js,py}.single = \"C:\\\\new\" <'C:\\new'>\n13 *.{js,py}.half = \"\\\"x\" <\"x>\n"
            "14 *.{js,py}.Name[de] = \"Ein Name\" <Ein Name>\n15 *.{js,py}.dir = \"C:\\\\x\" <C:\\x>\n"
            "16 *.{js,py}.extension[0] = \"a\" <a>\n17 *.{js,py}.extension[1] = \"b\" <b>\n"
            "18 *.{js,py}.//registry.example/:always = \"x\" <x>\n19 *.{js,py}.empty = \"\" <>\n");
}

TEST(ini_reader, goes_on_in_lines_that_are_indented_deeper) {
  EXPECT_EQ(told(config_format::ini,
                 "[program:web]\n"
                 "environment =\n"
                 "    A=\"1\",\n"
                 "    # a comment\n"
                 "    B=\"2\"\n"
                 "\n"
                 "command = run \\\n"
                 "  --fast\n"
                 "next = 1\n"),
            "3 program:web.environment(2) = \"A=\\\"1\\\",\\nB=\\\"2\\\"\" <A=\"1\",\n    # a comment\n    B=\"2\">\n"
            "7 program:web.command = \"run --fast\" <run \\\n  --fast>\n9 program:web.next = \"1\" <1>\n");
}

TEST(ini_reader, merges_and_remarks_what_is_given_again) {
  EXPECT_EQ(told(config_format::ini, "[a]\nx=1\n[b]\ny=1\n[a]\nx=2\n"),
            "6 a.x = \"2\" <2>\n4 b.y = \"1\" <1>\n"
            "! line 5: the section \"a\" is repeated; both are merged\n"
            "! line 6: the key \"x\" is repeated; this value is used\n");
  EXPECT_EQ(told(config_format::ini, "[a]\n[b\n"), "failed: line 2: a section without a closing bracket");
  EXPECT_EQ(told(config_format::ini, "[a] b\n"), "failed: line 1: unexpected text after the name of a section");
  EXPECT_EQ(told(config_format::ini, "\n= b\n"), "failed: line 2: a value without a key");
}

TEST(systemd_reader, reads_units) {
  EXPECT_EQ(told(config_format::systemd,
                 "# comment\n"
                 "[Unit]\n"
                 "Description=A \"quoted\" thing # no comment\n"
                 "After=network.target\n"
                 "After = time.target\n"
                 "[Service]\n"
                 "ExecStart=/usr/bin/x \\\n"
                 "    --one \\\n"
                 "; a comment between\n"
                 "    --two\n"
                 "Environment=A=1\n"
                 "Environment=B=2\n"
                 "Environment=\n"
                 "Environment=C=3\n"
                 "Empty=\n"
                 "Even=a\\\\\n"
                 "[Unit]\n"
                 "Before=x\n"),
            "3 Unit.Description = \"A \\\"quoted\\\" thing # no comment\" <A \"quoted\" thing # no comment>\n"
            "4 Unit.After[0] = \"network.target\" <network.target>\n5 Unit.After[1] = \"time.target\" <time.target>\n"
            "18 Unit.Before = \"x\" <x>\n"
            "7 Service.ExecStart = \"/usr/bin/x  --one  --two\" </usr/bin/x \\\n    --one \\\n; a comment between\n    --two>\n"
            "14 Service.Environment = \"C=3\" <C=3>\n15 Service.Empty = \"\" <>\n16 Service.Even = \"a\\\\\\\\\" <a\\\\>\n");
}

TEST(systemd_reader, remarks_what_systemd_passes_over) {
  EXPECT_EQ(told(config_format::systemd, "A=1\n[Unit]\nnonsense\nB=1\n"),
            "4 Unit.B = \"1\" <1>\n"
            "! line 1: a setting before the first section; ignored\n"
            "! line 3: not a comment, a section or a setting with \"=\"; ignored\n");
  EXPECT_EQ(told(config_format::systemd, "[Unit\nA=1\n"), "failed: line 1: a section without a closing bracket");
}

}  // namespace

/// Formats that look like INI, each by its own specification.
#include <string>

#include <gtest/gtest.h>

#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using test::told;

TEST(gitconfig, reads_a_variable_on_the_line_of_its_section) {
  EXPECT_EQ(told(config_format::gitconfig, "[core] bare = false\n[user]\n\tname = Ann\n"),
            "1 core.bare = \"false\" <false>\n3 user.name = \"Ann\" <Ann>\n");
}

TEST(gitconfig, reads_quotes_escapes_comments_and_continuations) {
  EXPECT_EQ(told(config_format::gitconfig,
                 "# comment\n"
                 "[Core]; comment\n"
                 "\tbare\n"
                 "\teditor = \"vim\" -c \"set tw=72 # not a comment\" ; comment\n"
                 "\tpager = a\\tb\\\"c\\\\ # comment\n"
                 "\tempty =\n"
                 "[alias]\n"
                 "\tlong = one \\\n"
                 "  two\\\n"
                 "three  \n"
                 "\twords = a  b \" c \"\n"
                 "[remote \"or]i\\\"gin\"]\n"
                 "\turl = a\n"
                 "\tURL = b\n"
                 "[core]\r\n"
                 "\tautoCRLF = true\r\n"),
            "3 core.bare = true <>\n"
            "4 core.editor = \"vim -c set tw=72 # not a comment\" <\"vim\" -c \"set tw=72 # not a comment\">\n"
            "5 core.pager = \"a\\tb\\\"c\\\\\" <a\\tb\\\"c\\\\>\n6 core.empty = \"\" <>\n16 core.autoCRLF = \"true\" <true>\n"
            "8 alias.long = \"one   twothree\" <one \\\n  two\\\nthree>\n11 alias.words = \"a  b  c \" <a  b \" c \">\n"
            "13 remote \"or]i\\\"gin\".url[0] = \"a\" <a>\n14 remote \"or]i\\\"gin\".url[1] = \"b\" <b>\n");
}

TEST(gitconfig, refuses_what_git_refuses) {
  EXPECT_EQ(told(config_format::gitconfig, "a = 1\n"), "failed: line 1: not a comment, a section or a variable of a section");
  EXPECT_EQ(told(config_format::gitconfig, "[a]\n1b = 1\n"),
            "failed: line 2: not a comment, a section or a variable of a section");
  EXPECT_EQ(told(config_format::gitconfig, "[a]\nb ; c\n"), "failed: line 2: a variable without \"=\" is followed by text");
  EXPECT_EQ(told(config_format::gitconfig, "[a]\nb = \"c\nd = 1\n"),
            "failed: line 2: the opening quote of a value is never closed");
  EXPECT_EQ(told(config_format::gitconfig, "[a]\nb = \\q\n"), "failed: line 2: an escape that git does not know");
  EXPECT_EQ(told(config_format::gitconfig, "[a\n"), "failed: line 1: a section without a name or a closing bracket");
  EXPECT_EQ(told(config_format::gitconfig, "[]\n"), "failed: line 1: a section without a name or a closing bracket");
  EXPECT_EQ(told(config_format::gitconfig, "[a \"b\n\"]\n"), "failed: line 1: the name of a section is never closed");
  EXPECT_EQ(told(config_format::gitconfig, "[a \"b\\"), "failed: line 1: the name of a section is never closed");
  EXPECT_EQ(told(config_format::gitconfig, "[a b]\n"), "failed: line 1: the name of a section needs quotes after its blank");
}

TEST(editorconfig, has_no_comments_after_values) {
  EXPECT_EQ(told(config_format::editorconfig,
                 "root = true\n"
                 "[*.cs]\n"
                 "file_header_template = Part A ; Part B\n"
                 "separator = a#b # c\n"
                 "; a comment\n"
                 "# another\n"
                 "Indent_Size = 4\n"
                 "  [*.{a,b}[0-9]]\n"
                 "quoted = \"x\"\n"
                 "nonsense\n"),
            "1 root = \"true\" <true>\n3 *.cs.file_header_template = \"Part A ; Part B\" <Part A ; Part B>\n"
            "4 *.cs.separator = \"a#b # c\" <a#b # c>\n7 *.cs.indent_size = \"4\" <4>\n"
            "9 *.{a,b}[0-9].quoted = \"\\\"x\\\"\" <\"x\">\n"
            "! line 10: not a comment, a section or a key with \"=\"; ignored\n");
}

TEST(desktop, has_comments_on_lines_of_their_own_only) {
  EXPECT_EQ(told(config_format::desktop,
                 "# a comment\n"
                 "[Desktop Entry]\n"
                 "Name=Learn C # the easy way\n"
                 "Comment[ja]=音楽 ; 動画\n"
                 "Exec=sh -c \"echo ok ; sleep 1\" %U\n"
                 "Path = C:\\\\x\\sy\\q\n"
                 "Categories=Office;Viewer;\n"
                 ";X=1\n"),
            "3 Desktop Entry.Name = \"Learn C # the easy way\" <Learn C # the easy way>\n"
            "4 Desktop Entry.Comment[ja] = \"音楽 ; 動画\" <音楽 ; 動画>\n"
            "5 Desktop Entry.Exec = \"sh -c \\\"echo ok ; sleep 1\\\" %U\" <sh -c \"echo ok ; sleep 1\" %U>\n"
            "6 Desktop Entry.Path = \"C:\\\\x y\\\\q\" <C:\\\\x\\sy\\q>\n"
            "7 Desktop Entry.Categories = \"Office;Viewer;\" <Office;Viewer;>\n8 Desktop Entry.;X = \"1\" <1>\n");
}

TEST(configparser, has_no_comments_after_values) {
  EXPECT_EQ(told(config_format::configparser,
                 "[metadata]\n"
                 "description = tiny tool ; not only for ants\n"
                 "color: #ff0000\n"
                 "url = https://x.example/?a=b # c\n"
                 "quoted = \"x\"\n"
                 "empty =\n"),
            "2 metadata.description = \"tiny tool ; not only for ants\" <tiny tool ; not only for ants>\n"
            "3 metadata.color = \"#ff0000\" <#ff0000>\n"
            "4 metadata.url = \"https://x.example/?a=b # c\" <https://x.example/?a=b # c>\n"
            "5 metadata.quoted = \"\\\"x\\\"\" <\"x\">\n6 metadata.empty = \"\" <>\n");
}

TEST(configparser, continues_values_on_deeper_lines) {
  EXPECT_EQ(told(config_format::configparser,
                 "[options]\n"
                 "requires =\n"
                 "    a>=1\n"
                 "    # a comment\n"
                 "\n"
                 "    b ; python_version<\"3\"\n"
                 "\n"
                 "  deeper = one\n"
                 "    two\n"
                 "next = 1\n"
                 "\n"),
            "3 options.requires(2) = \"\\na>=1\\n\\nb ; python_version<\\\"3\\\"\\n\\ndeeper = one\\ntwo\" "
            "<a>=1\n    # a comment\n\n    b ; python_version<\"3\"\n\n  deeper = one\n    two>\n"
            "10 options.next = \"1\" <1>\n");
}

TEST(configparser, refuses_what_python_refuses) {
  EXPECT_EQ(told(config_format::configparser, "a = 1\n"), "failed: line 1: a key before the first section");
  EXPECT_EQ(told(config_format::configparser, "[a]\nb\n"), "failed: line 2: a key without \"=\" or \":\"");
  EXPECT_EQ(told(config_format::configparser, "[a]\n: b\n"), "failed: line 2: a value without a key");
  EXPECT_EQ(told(config_format::configparser, "[a\n"), "failed: line 1: a section without a name or a closing bracket");
}

TEST(sectioned_formats, remark_what_is_given_again) {
  const std::string said =
      "4 a.x = \"2\" <2>\n! line 3: the section \"a\" is repeated; both are merged\n"
      "! line 4: the key \"x\" is repeated; this value is used\n";
  for (const auto format : {config_format::editorconfig, config_format::desktop, config_format::configparser}) {
    EXPECT_EQ(told(format, "[a]\nx=1\n[a]\nx=2\n"), said) << name_of(format);
  }
}

TEST(sectioned_formats, stop_at_their_limits) {
  for (const auto format :
       {config_format::gitconfig, config_format::editorconfig, config_format::desktop, config_format::configparser}) {
    EXPECT_EQ(told(format, "[a]\nb=1\nc=1\nd=1\n", {.max_values = 3}),
              "failed: line 4: more than 3 values, counting each repetition by an alias")
        << name_of(format);
  }
}

}  // namespace

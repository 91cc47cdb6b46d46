/// Headings, ids and links of Markdown.
#include <string>

#include <gtest/gtest.h>

#include "text/markup/outline.hpp"

namespace hondana::markup {
namespace {

outline of(std::string_view text) { return outline_of(markup_format::markdown, text); }

std::string headings_of(const outline& one) {
  std::string out;
  for (const auto& each : one.sections) out += std::to_string(each.level) + ' ' + each.heading + " #" + each.id + '\n';
  return out;
}
std::string links_of(const outline& one) {
  std::string out;
  for (const auto& each : one.links)
    out += std::to_string(each.line) + (each.is_image ? " ! " : " ") + each.target + " [" + each.text + "]\n";
  return out;
}

TEST(markdown, headings_of_both_kinds_make_sections_that_end_at_the_next_of_their_level) {
  const std::string text = "Title\n=====\n\nIntro\n\n## A ##\n\ntext\n\n### A1\nx\n\nB *b*\n---\nend";
  const auto made = of(text);
  EXPECT_EQ(headings_of(made), "1 Title #title\n2 A #a\n3 A1 #a1\n2 B b #b-b\n");
  EXPECT_EQ(made.title, "Title");
  ASSERT_EQ(made.sections.size(), 4u);
  EXPECT_EQ(made.sections[0].end, text.size());
  EXPECT_EQ(made.sections[0].last_line, 15u);
  EXPECT_EQ(made.sections[1].first_line, 6u);
  EXPECT_EQ(made.sections[1].last_line, 12u);
  EXPECT_EQ(made.sections[1].end, text.find("B *b*"));
  EXPECT_EQ(made.sections[2].begin, text.find("### A1"));
  EXPECT_FALSE(made.is_truncated);
}

TEST(markdown, ids_are_those_of_github) {
  EXPECT_EQ(headings_of(of("# Hello, World!\n# Hello, World!\n# hello-world-1\n# C++ & `code_x`\n# ---\n")),
            "1 Hello, World! #hello-world\n1 Hello, World! #hello-world-1\n1 hello-world-1 #hello-world-1-1\n"
            "1 C++ & code_x #c--code_x\n1 --- #---\n");
  EXPECT_EQ(headings_of(of("# 第1章　はじめに\n## ガイド・設定。\n## Ｆｕｌｌ幅ー\n＃ 見出しではない\n## ÄÖ\n# !!!\n")),
            "1 第1章　はじめに #第1章はじめに\n2 ガイド・設定。 #ガイド設定\n2 Ｆｕｌｌ幅ー #ｆｕｌｌ幅ー\n2 ÄÖ #äö\n1 !!! "
            "#section\n");
}

TEST(markdown, ids_that_the_document_gives_are_kept_and_unique) {
  EXPECT_EQ(headings_of(of("# Set up {#install}\n## Other {: #x .y }\n## Again {#install}\n## Set {a}\n")),
            "1 Set up #install\n2 Other #x\n2 Again #install-1\n2 Set {a} #set-a\n");
}

TEST(markdown, what_is_code_or_a_comment_has_no_headings) {
  EXPECT_EQ(
      headings_of(of(
          "```\n# a\n```\n~~~ md\n# b\n```\n# c\n~~~\n    # d\n\n<!-- x\n# e\n\n# f -->\n<pre>\n# g\n\n# h\n</pre>\n# real\n")),
      "1 real #real\n");
  EXPECT_EQ(
      headings_of(
          of("- item\n\n  ```\n# not closed by this\n\n> # quoted\n\n* # in a list\n\n#hashtag\n\\# escaped\n####### seven\n")),
      "1 not closed by this #not-closed-by-this\n");
  EXPECT_EQ(headings_of(of("> ```\n# after the quote ends the code too\n")),
            "1 after the quote ends the code too #after-the-quote-ends-the-code-too\n");
  EXPECT_EQ(headings_of(of("text\n    # continues\n---\n")), "2 text # continues #text--continues\n");
}

TEST(markdown, a_fence_is_closed_by_as_many_marks_of_its_kind_and_by_nothing_else) {
  EXPECT_EQ(headings_of(of("````\n# a\n```\n# b\n`````\n# real\n")), "1 real #real\n");
  EXPECT_EQ(headings_of(of("~~~~~\n# a\n~~~~\n# b\n~~~~~\n# real\n")), "1 real #real\n");
  EXPECT_EQ(headings_of(of("````\n# a\n~~~~\n# b\n```` no end\n# c\n    ````\n# d\n   ````  \n# real\n")), "1 real #real\n");
  // Two marks begin no fence.
  EXPECT_EQ(headings_of(of("``\n# real\n``\n")), "1 real #real\n");
}

TEST(markdown, headings_are_read_without_their_marks) {
  EXPECT_EQ(headings_of(of("# **Bold** _it_ `co*de` [link](x) ![pic](y) &amp; a\\*b <b>c</b> snake_case_name ~~no~~\n")),
            "1 Bold it co*de link pic & a*b c snake_case_name no #bold-it-code-link-pic--ab-c-snake_case_name-no\n");
  EXPECT_EQ(headings_of(of("#\n# #\n## x #y\n")), "1  #section\n1  #section-1\n2 x #y #x-y\n");
}

TEST(markdown, masks_of_secrets_are_read_and_not_taken_for_emphasis) {
  EXPECT_EQ(headings_of(of("# Use ghp_************ **now**\n## \"****\" and \"****\"\n### **key: **********\n")),
            "1 Use ghp_************ now #use-ghp_-now\n2 \"****\" and \"****\" #-and-\n3 **key: ********** #key-\n");
  EXPECT_EQ(headings_of(of("# **one****two**\n# ***all***\n")), "1 onetwo #onetwo\n1 all #all\n");
}

TEST(markdown, links_of_all_kinds_are_found_with_their_lines) {
  EXPECT_EQ(
      links_of(of("[a](b.md#c \"t\") and ![p](<my pic.png>)\nsee <https://e.x/y> or https://e.x/z(1), www.e.x.\n<m@e.x>\n")),
      "1 b.md#c [a]\n1 ! my pic.png [p]\n2 https://e.x/y [https://e.x/y]\n2 https://e.x/z(1) [https://e.x/z(1)]\n"
      "2 http://www.e.x [www.e.x]\n3 mailto:m@e.x [m@e.x]\n");
  EXPECT_EQ(links_of(of("[a](<b c.md> \"the \\\"title\\\"\") [d](<e (f).md>\n'(t) \"u\"') [g](h \"i\" j)\n")),
            "1 b c.md [a]\n1 e (f).md [d]\n");
  EXPECT_EQ(links_of(of("[one][L], [l][], [l], [no]\n\n[l]: <t u> 'x'\n[other]:/p\n[^1]: note\n")),
            "1 t u [one]\n1 t u [l]\n1 t u [l]\n");
  EXPECT_EQ(links_of(of("[![alt](pic)](page)\n<a href=\"h&amp;i\">te\nxt</a> <img src='s' alt=\"d\">\n")),
            "1 ! pic [alt]\n1 page [alt]\n2 h&i [te xt]\n3 ! s [d]\n");
  EXPECT_EQ(links_of(of("`[a](b)` \\[c](d) [e](f g)\n\n    [h](i)\n\n```\n[j](k)\n```\n")), "");
  EXPECT_EQ(links_of(of("詳細は[設定](設定.md)、https://例.jp/あ。次\n")),
            "1 設定.md [設定]\n1 https://例.jp/あ [https://例.jp/あ]\n");
  EXPECT_EQ(links_of(of("| a | b |\n|---|---|\n| [x](y) | z |\n")), "3 y [x]\n");
}

TEST(markdown, front_matter_says_the_title_and_holds_no_headings) {
  const std::string text = "---\ntitle: \"設定 ガイド\"\n# comment\n---\n# First\n";
  const auto made = of(text);
  EXPECT_EQ(made.title, "設定 ガイド");
  EXPECT_EQ(headings_of(made), "1 First #first\n");
  EXPECT_EQ(made.front_matter_end, text.find("# First"));
  EXPECT_EQ(made.sections[0].first_line, 5u);
}

TEST(markdown, front_matter_that_is_wrong_is_passed_over_or_is_text) {
  EXPECT_EQ(of("---\ntitle: [1, 2]\n---\n# A\n").title, "A");
  EXPECT_EQ(of("---\ntitle: 'open\n---\n# A\n").front_matter_end, 21u);
  EXPECT_EQ(of("---\njust words\n---\n# A\n").front_matter_end, 0u);
  EXPECT_EQ(headings_of(of("---\njust words\n---\n# A\n")), "2 just words #just-words\n1 A #a\n");
  EXPECT_EQ(of("---\nnever: closed\n# A\n").sections.size(), 1u);
  EXPECT_EQ(of("").sections.size(), 0u);
  EXPECT_EQ(of("\xEF\xBB\xBF# With a mark\r\n\r\ntext\r\n").title, "With a mark");
}

TEST(markdown, links_may_have_urls_as_text) {
  EXPECT_EQ(links_of(of("[https://e.x/a](https://e.x/b) [![http://i.x](i.png)](http://e.x)\n[see http://e.x][l] [http://e.x/] "
                        "https://e.x/a]b\n\n[l]: m\n")),
            "1 https://e.x/b [https://e.x/a]\n1 ! i.png [http://i.x]\n1 http://e.x [http://i.x]\n2 m [see http://e.x]\n"
            "2 http://e.x/ [http://e.x/]\n2 https://e.x/a]b [https://e.x/a]b]\n");
}

TEST(markdown, front_matter_may_be_toml) {
  const std::string text =
      "+++\ndate = 2026-01-31\ntitle = \"The \\\"big\\\" \\u3042 guide\" # comment\n[menu]\ntitle = \"no\"\n+++\n# First\n";
  const auto made = of(text);
  EXPECT_EQ(made.title, "The \"big\" あ guide");
  EXPECT_EQ(headings_of(made), "1 First #first\n");
  EXPECT_EQ(made.front_matter_end, text.find("# First"));
  EXPECT_EQ(of("+++\ntitle = 'a\\b'\n+++\n# A\n").title, "a\\b");
  EXPECT_EQ(of("+++\n[menu]\ntitle = 'no'\n+++\n# A\n").title, "A");
  EXPECT_EQ(of("+++\ntitle = [1]\n+++\n# A\n").title, "A");
  EXPECT_EQ(of("+++\ntitle = \"open\\\n+++\n# A\n").title, "open\\");
  EXPECT_EQ(of("+++\n# A\n+++\n").front_matter_end, 0u);
  EXPECT_EQ(of("+++\ntitle = 'never closed'\n# A\n").front_matter_end, 0u);
}

TEST(markdown, outlines_have_caps) {
  std::string text;
  for (int at = 0; at < 10'500; ++at) text += "# a\n[l](m)\n";
  const auto made = of(text);
  EXPECT_EQ(made.sections.size(), 10'000u);
  EXPECT_EQ(made.links.size(), 10'000u);
  EXPECT_TRUE(made.is_truncated);
  EXPECT_EQ(made.sections.back().id, "a-9999");
  EXPECT_EQ(of("# " + std::string(100'000, 'x') + "\n").sections[0].heading.size(), 400u);
  EXPECT_TRUE(of("[a](" + std::string(5000, 'x') + ")\n").links.empty());
}

}  // namespace
}  // namespace hondana::markup

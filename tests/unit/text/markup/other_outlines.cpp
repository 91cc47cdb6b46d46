/// Outlines of AsciiDoc, reStructuredText and plain text.
#include <string>

#include <gtest/gtest.h>

#include "text/markup/outline.hpp"

namespace hondana::markup {
namespace {

std::string sections_in(markup_format how, std::string_view text) {
  std::string out;
  for (const auto& each : outline_of(how, text).sections)
    out += std::to_string(each.level) + ' ' + each.heading + " #" + each.id + " " + std::to_string(each.first_line) + "-" +
           std::to_string(each.last_line) + '\n';
  return out;
}
std::string links_in(markup_format how, std::string_view text) {
  std::string out;
  for (const auto& each : outline_of(how, text).links)
    out += std::to_string(each.line) + (each.is_image ? " ! " : " ") + each.target + " [" + each.text + "]\n";
  return out;
}

TEST(asciidoc, titles_and_anchors_make_sections) {
  EXPECT_EQ(sections_in(
                markup_format::asciidoc,
                "= Guide for `all`\n:toc:\n:url: https://e.x\n\n[[start]]\n== First *steps*\ntext\n\n[#deep.role]\n=== 設定\n\n"
                "----\n== code\n----\n\n////\n== comment\n////\n// == line\n== [[last]]Last\n....\n== literal\n....\n"),
            "1 Guide for all #guide-for-all 1-23\n2 First steps #start 6-19\n3 設定 #deep 10-19\n2 Last #last 20-23\n");
}

TEST(asciidoc, links_are_as_they_are_written) {
  EXPECT_EQ(
      links_in(markup_format::asciidoc,
               ":base: https://e.x\n\nSee link:a.adoc#b[A b], xref:other.adoc[other], xref:here[] and <<start,the start>>.\n"
               "image::p.png[Pic,300]\nhttps://e.x/y[text^] link:{base}/z[Z] <<o.adoc#i>>\n\n----\nlink:no[no]\n----\n"),
      "3 a.adoc#b [A b]\n3 other.adoc [other]\n3 #here []\n3 #start [the start]\n4 ! p.png [Pic]\n5 https://e.x/y [text]\n"
      "5 https://e.x/z [Z]\n5 o.adoc#i []\n");
  EXPECT_EQ(links_in(markup_format::asciidoc, "https://e.x/a.[A] https://e.x/b. [no] (https://e.x/c) link:d link:e[E]\n"),
            "1 https://e.x/a. [A]\n1 https://e.x/b [https://e.x/b]\n1 https://e.x/c [https://e.x/c]\n1 e [E]\n");
}

TEST(asciidoc, titles_with_underlines_make_sections) {
  EXPECT_EQ(
      sections_in(markup_format::asciidoc,
                  "Manual\n======\n\nNAME\n----\n\ntool - does it\n\nOptions\n-------\n\nUse it.\n\nSub "
                  "topic\n~~~~~~~~~\n\nDeep\n^^^^^\n\n"
                  "設定\n--\n\nMuch longer\n-----\n\ncode\n-----\n\nnot one\nNot two\n-------\ncode\n-------\n\n----\n----\n"),
      "1 Manual #manual 1-36\n2 NAME #name 4-8\n2 Options #options 9-19\n3 Sub topic #sub-topic 14-19\n4 Deep #deep 17-19\n"
      "2 設定 #設定 20-36\n");
}

TEST(asciidoc, conditionals_are_evaluated) {
  EXPECT_EQ(
      sections_in(
          markup_format::asciidoc,
          "= {product} Guide\n:product: Gadget\n\nifndef::nope[]\n== Shown\n\ntext\nendif::[]\n\n== End\n\ntext\n\n[discrete]\n"
          "== Aside\n\nmore\n"),
      "1 Gadget Guide #gadget-guide 1-17\n2 Shown #shown 5-9\n2 End #end 10-17\n");
  EXPECT_EQ(
      sections_in(
          markup_format::asciidoc,
          ":a: 1\n:b:\n:gone: x\n:gone!:\n\nifdef::none[]\n== No 1\n\nifdef::a[]\n== No 2\nendif::[]\nendif::none[]\n\n"
          "ifdef::none,a[]\n== Yes 1\n\nendif::[]\nifdef::none+a[]\n== No 3\n\nendif::[]\nifeval::[\"{a}\" == \"1\"]\n"
          "== Yes 2\n\nendif::[]\nifeval::[{a} >= 2]\n== No 4\n\nendif::[]\nifndef::none[== Yes 3]\n\nifdef::gone[== No 5]\n\n"
          "ifdef::backend-html5[== Yes 4]\n\nifeval::[wrong]\n== Yes 5\n\nendif::[]\n\\ifdef::none[]\n\n== Yes 6\n"),
      "2 Yes 1 #yes-1 15-22\n2 Yes 2 #yes-2 23-29\n2 Yes 3 #yes-3 30-33\n2 Yes 4 #yes-4 34-36\n2 Yes 5 #yes-5 37-41\n"
      "2 Yes 6 #yes-6 42-42\n");
}

TEST(asciidoc, blocks_have_no_sections) {
  EXPECT_EQ(sections_in(markup_format::asciidoc,
                        "```lang\n== code\n```\n\n== A\n\n====\n== in an example\n----\n== code\n====\n\n== B\n\n****\n== in a "
                        "sidebar\n****\n\n"
                        "|===\n|x\n== in a table\n|===\n== C\n\n[source]\n--\n== code\n--\n[comment]\nno\n== no\n\n"
                        "////\nifdef::x[]\n////\n== D\n\n++++\n== raw\n"),
            "2 A #a 5-12\n2 B #b 13-22\n2 C #c 23-35\n2 D #d 36-39\n");
}

TEST(asciidoc, paragraphs_and_list_items_have_no_sections) {
  EXPECT_EQ(sections_in(markup_format::asciidoc,
                        "text\n== No\n// comment\n== No\n\n* item\n== No\n+\n== No\n\nterm::\n\n== No\n\nterm:: text\n\n== "
                        "A\n.Title of a block\n\n== B\n"
                        "image::a.png[]\n== C\n\'\'\'\n== D\n:attribute: x\n== E\n* item\n+\n----\ncode\n----\n\n== F\n"),
            "2 A #a 17-19\n2 B #b 20-21\n2 C #c 22-23\n2 D #d 24-25\n2 E #e 26-32\n2 F #f 33-33\n");
}

TEST(asciidoc, levels_follow_offsets_and_styles) {
  EXPECT_EQ(
      sections_in(markup_format::asciidoc,
                  "= Book\nAnn Author <ann@e.x>\nv1.0\n:doctype: book\n\n= Part\n\n[preface]\n= Before\n\n:leveloffset: "
                  "+1\n\n= Chapter\n\n"
                  "== Section ==\n\n:leveloffset: -1\n\n[appendix]\n////\nno\n////\n== More\n\n:leveloffset!:\n\n# Last\n"),
      "1 Book #book 1-5\n1 Part #part 6-26\n2 Before #before 9-12\n2 Chapter #chapter 13-22\n3 Section #section 15-22\n"
      "2 More #more 23-26\n1 Last #last 27-27\n");
}

TEST(asciidoc, ids_belong_to_the_next_block) {
  EXPECT_EQ(sections_in(markup_format::asciidoc,
                        "[[unused]]\ntext\n\n== A\n\n[[one]]\n\n// comment\n== B\n\n[#two.role]\n== C\n\n[id=three]\n== "
                        "D\n\n== E [[five,label]]\n"),
            "2 A #a 4-8\n2 B #one 9-11\n2 C #two 12-14\n2 D #three 15-16\n2 E #five 17-17\n");
}

TEST(asciidoc, titles_are_read_without_their_marks) {
  EXPECT_EQ(sections_in(markup_format::asciidoc,
                        ":x: *Y*\n:experimental:\n== *b* __u__n `code_a` +{x}+ {x} \\{x} {none} {cpp}\n\n== snake_case_name "
                        "2*3*4 \\*kept* font-*\n\n"
                        "== The `this` and \"`quoted`\" [.role]#text# ^1^\n\n== link:a[A] <<b,B>> kbd:[F1] https://e.x[X] "
                        "((term))(((no)))\n"),
            "2 b un code_a {x} *Y* {x} {none} C++ #b-un-code_a-x-y-x-none-c 3-4\n"
            "2 snake_case_name 2*3*4 *kept* font-* #snake_case_name-234-kept-font- 5-6\n"
            "2 The this and \"quoted\" text 1 #the-this-and-quoted-text-1 7-8\n2 A B F1 X term #a-b-f1-x-term 9-9\n");
}

TEST(asciidoc, malformed_markup_is_text) {
  EXPECT_EQ(sections_in(markup_format::asciidoc,
                        ":\n::\n:!:\n[]\n\n[[]]\n\n[#]\n\n[id=\"]\n\n== [[ *a `b +c ++d pass:[e {f <<g ((h "
                        "[[\n\nifdef::[]\nifeval::[]\nifeval::[ == ]\nendif::[]\n"
                        "ifndef::,[]\n== B\n\nendif::x[]\n"),
            "2 [[ *a `b +c ++d pass:[e {f <<g ((h [[ #-a-b-c-d-passe-f-g-h- 12-18\n2 B #b 19-21\n");
}

TEST(asciidoc, includes_are_links) {
  EXPECT_EQ(links_in(markup_format::asciidoc,
                     ":dir: parts\n\n== A\ninclude::{dir}/a.adoc[leveloffset=+1]\n== B\n\\include::b.adoc[]\n"),
            "4 parts/a.adoc []\n");
}

TEST(restructured_text, levels_follow_the_first_use_of_adornments) {
  EXPECT_EQ(
      sections_in(
          markup_format::restructured_text,
          "=====\nTitle\n=====\n\nIntro\n\n.. _setup-label:\n\nSetup\n-----\n\ntext::\n\n  Literal\n  -------\n\nDeep\n~~~~\n\n"
          "設定\n----\n\n.. comment\n   Not\n   ---\n\n.. code-block:: py\n\n   Code\n   ====\n\nEnd ``x``\n---------\n"),
      "1 Title #title 1-33\n2 Setup #setup-label 9-19\n3 Deep #deep 17-19\n2 設定 #設定 20-31\n2 End x #end-x 32-33\n");
}

TEST(restructured_text, links_and_roles_keep_their_targets) {
  EXPECT_EQ(
      links_in(
          markup_format::restructured_text,
          "See `text <https://e.x>`_ and :doc:`../guide`, :ref:`Label <setup-label>`,\n`Known`_ and `unknown`_ ``code``.\n\n"
          ".. _Known: https://k.x\n.. image:: p.png\n\nhttps://bare.x.\n"),
      "1 https://e.x [text]\n1 ../guide [../guide]\n1 setup-label [Label]\n2 https://k.x [Known]\n5 ! p.png []\n"
      "7 https://bare.x [https://bare.x]\n");
}

TEST(restructured_text, substitutions_and_short_titles_are_read) {
  EXPECT_EQ(sections_in(markup_format::restructured_text,
                        ".. |name| replace:: *Gadget*\n   Two\n.. |c| unicode:: 0xA9 .. sign\n\nThe |name| book |c| "
                        "|none|\n==========================\n\n"
                        "Text.\n\nA\n-\n\nOne letter as a title.\n\nB\n-\n\nAnother\n--\n\nend\n"),
            "1 The Gadget Two book © |none| #the-gadget-two-book--none 5-21\n2 A #a 10-14\n2 B #b 15-21\n");
}

TEST(restructured_text, references_find_their_targets) {
  EXPECT_EQ(
      links_in(markup_format::restructured_text,
               "Tool_ Guide\n===========\n\nSee repository_ and `the FAQ`_ and anonymous__ and :ref:`lbl`, `more <Tool_>`_ and "
               "none_.\n\n"
               ".. _Tracker:\n   https://example.org/t\n\nNext part\n---------\n\nTracker_, alias_ and ``Tool_``.\n\n"
               ".. _repository: other.rst\n.. _the FAQ: faq.rst\n__ third.rst\n.. _alias: `the FAQ`_\n.. _Tool: "
               "https://tool.example/\n\n"
               ".. _lbl:\n\nLabelled\n--------\n\n.. include:: part.txt\n"),
      "1 https://tool.example/ [Tool]\n4 other.rst [repository]\n4 faq.rst [the FAQ]\n4 third.rst [anonymous]\n4 #lbl [lbl]\n"
      "4 https://tool.example/ [more]\n12 https://example.org/t [Tracker]\n12 faq.rst [alias]\n25 part.txt []\n");
  EXPECT_EQ(sections_in(markup_format::restructured_text,
                        "Tool_ and _none_\n================\n\n.. _Tool:\n   https://e.x\n\nNext\n----\n\n.. "
                        "_unused:\n\ntext\n\nLast\n----\n\n.. _a:\n.. _b:\n\nC\n-\n"),
            "1 Tool and _none_ #tool-and-_none_ 1-21\n2 Next #next 7-13\n2 Last #last 14-19\n2 C #b 20-21\n");
}

TEST(restructured_text, only_titles_make_sections) {
  EXPECT_EQ(
      sections_in(
          markup_format::restructured_text,
          "Title\n=====\n\n===  ===\nA    B\n===  ===\n1    2\n===  ===\n\n+-----+\n| x   |\n+-----+\n\n::\n\n> Quoted\n> "
          "------\n\n"
          "text::\n\n  Literal\n  -------\n\n- item\n-----\n\nparagraph\nNot one\n-------\n\n..\n   Comment\n   -------\n\n"
          "1. Numbered\n-----------\n\n- item\nAfter\n-----\n\n  Block quote\n  -----------\n\n>>> doctest\nx\n----\n"),
      "1 Title #title 1-47\n2 1. Numbered #1-numbered 35-38\n2 After #after 39-47\n");
}

TEST(restructured_text, malformed_markup_is_text) {
  EXPECT_EQ(
      sections_in(markup_format::restructured_text,
                  ".. _\n.. _:\n.. _`\n.. _`a`\n.. |\n.. |a|\n.. |a| replace::\n.. |a| unicode:: 0x U+FFFFFFFF\n__\n.. __:\n\n"
                  "`a `b` ``c :ref:`d |a| |e _`f [1\n--------------------------------\n"),
      "1 a `b ``c :ref:`d |a| |e _`f [1 #a-b-c-refd-a-e-_f-1 12-13\n");
}

TEST(restructured_text, levels_cannot_be_left_out) {
  EXPECT_EQ(sections_in(markup_format::restructured_text,
                        "====\nA\n====\n\nB\n----\n\nC\n~~~~\n\nD\n----\n\nE\n^^^^\n\n====\nF\n====\n\nG\n~~~~\n\nH\n++++\n"),
            "1 A #a 1-16\n2 B #b 5-10\n3 C #c 8-10\n2 D #d 11-16\n1 F #f 17-25\n");
}

TEST(restructured_text, titles_are_read_as_they_are_shown) {
  EXPECT_EQ(sections_in(markup_format::restructured_text,
                        ":mod:`!os` -- *em* **args ``*x`` \\*y :class:`~a.b.C`\\ s :pep:`8` MADV_* [1]_\n"
                        "==========================================================================\n"),
            "1 os -- em **args *x *y Cs PEP 8 MADV_* [1] #os----em-args-x-y-cs-pep-8-madv_-1 1-2\n");
}

TEST(plain_text, headings_are_only_lines_that_surely_are) {
  EXPECT_EQ(
      sections_in(markup_format::plain,
                  "Read me\n=======\n\ntext\n\n1.2 Scope\n\nmore\n\n第1章 はじめに\n\n本文\n\n【注意】\n\nx\n\n1. an item\n\n"
                  "1.1 Contents ......... 3\n\n2024 was good\n\n第三者は問題。\n\n第一節\n\ny\n"),
      "1 Read me #read-me 1-28\n3 1.2 Scope #12-scope 6-9\n2 第1章 はじめに #第1章-はじめに 10-13\n2 【注意】 #注意 14-28\n3 "
      "第一節 #第一節 26-28\n");
  EXPECT_EQ(links_in(markup_format::plain, "a\nsee https://e.x/a, http://b.x\n"),
            "2 https://e.x/a [https://e.x/a]\n2 http://b.x [http://b.x]\n");
}

TEST(formats, are_told_by_type_and_then_by_name) {
  EXPECT_EQ(detect_format("text/markdown; charset=utf-8", "x"), markup_format::markdown);
  EXPECT_EQ(detect_format("text/plain", "a/guide.adoc"), markup_format::asciidoc);
  EXPECT_EQ(detect_format("", "INDEX.RST"), markup_format::restructured_text);
  EXPECT_EQ(detect_format("text/html", "a.md"), markup_format::html);
  EXPECT_EQ(detect_format("text/plain", "README"), markup_format::plain);
  EXPECT_EQ(detect_format("text/plain", "notes.txt"), markup_format::plain);
  EXPECT_EQ(detect_format("text/plain", "main.cpp"), std::nullopt);
  EXPECT_EQ(detect_format("application/json", "a.md"), std::nullopt);
  EXPECT_EQ(detect_format("image/png", ""), std::nullopt);
}

}  // namespace
}  // namespace hondana::markup

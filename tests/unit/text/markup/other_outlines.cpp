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

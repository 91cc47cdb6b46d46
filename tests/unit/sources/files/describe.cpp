/// Titles and descriptions from the fronts of files.
#include "sources/files/description.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hondana::files {
namespace {

description markdown(std::string_view text) { return describe("text/markdown", text, true); }
std::string summary(std::string_view type, std::string_view text) { return describe(type, text, true).summary; }

TEST(describe_markdown, takes_the_first_heading_and_the_first_paragraph) {
  EXPECT_EQ(markdown("# Hondana\n\nServes a folder\nas resources.\n\nMore.\n"),
            (description{"Hondana", "Serves a folder as resources."}));
  EXPECT_EQ(markdown("Hondana\n=======\n\nText.\n"), (description{"Hondana", "Text."}));
  EXPECT_EQ(markdown("Sub\n---\nText"), (description{"Sub", "Text"}));
  EXPECT_EQ(markdown("## Two ##\r\n\r\nText.\r\n"), (description{"Two", "Text."}));
  EXPECT_EQ(markdown("\xEF\xBB\xBF# 本棚\n\n本を読む。\n"), (description{"本棚", "本を読む。"}));
  EXPECT_EQ(markdown("Only text.\n"), (description{"", "Only text."}));
  EXPECT_EQ(markdown("#hashtag is text\n"), (description{"", "#hashtag is text"}));
  EXPECT_EQ(markdown("####### seven\n"), (description{"", "####### seven"}));
  EXPECT_EQ(markdown("# C#\n"), (description{"C#", ""}));
  EXPECT_EQ(markdown(""), description{});
  EXPECT_EQ(markdown("#\n##\n"), description{});
}

TEST(describe_markdown, prefers_front_matter) {
  EXPECT_EQ(markdown("---\ntitle: \"The title\"\ndate: 2024\ndescription: What it is\n---\n# Heading\n\nText.\n"),
            (description{"The title", "What it is"}));
  EXPECT_EQ(markdown("---\nlayout: page\n---\n# Heading\n\nText.\n"), (description{"Heading", "Text."}));
  EXPECT_EQ(markdown("---\ntitle: never closed\n\n# Heading\n").title, "Heading");
}

TEST(describe_markdown, passes_over_what_is_no_prose) {
  EXPECT_EQ(
      markdown("<p align=center>\n<img src=x>\n</p>\n\n# Name\n\n[![build](a.svg)](b) ![x](y.png)\n\n- list\n- of things\n\n"
               "| a | b |\n|---|---|\n\n```sh\n# not a heading\ncode\n```\n\n    # indented\n\n***\n\nAt last a paragraph.\n"),
      (description{"Name", "At last a paragraph."}));
  EXPECT_EQ(markdown("<!-- a comment\n# still a comment\n-->\n# Name\n<!-- one line -->\nText\n"),
            (description{"Name", "Text"}));
  EXPECT_EQ(markdown("# Name\n\nCopyright 2024 Somebody. All rights reserved.\n\nWhat it does.\n").summary, "What it does.");
}

TEST(describe_markdown, drops_marks) {
  EXPECT_EQ(markdown("# The `core` of **it**\n\nSee [the guide](guide.md) and __this__, not [that].\n"),
            (description{"The core of it", "See the guide and this, not [that]."}));
  EXPECT_EQ(markdown("# [The _b_ [c]](<d (e).md> \"(f) \\\"g\\\"\")\n\n[That] and [this](<h i.md> \"the \\\"title\\\"\"), "
                     "[![j](k)](l) ![m](n 'o)')not [p](q r s).\n"),
            (description{"The _b_ [c]", "[That] and this, not [p](q r s)."}));
  EXPECT_EQ(markdown("# A\n\n[![](i.svg) The manual](https://d) has it, and [![i](i.svg)](https://e) nothing.\n").summary,
            "The manual has it, and nothing.");
  EXPECT_EQ(markdown("> A quoted tagline\n").summary, "A quoted tagline");
}

TEST(describe_markdown, shows_masks_of_secrets) {
  EXPECT_EQ(markdown("# Use ghp_**********\n\nWith **ghp_****************, or ****.\n"),
            (description{"Use ghp_**********", "With ghp_****************, or ****."}));
}

TEST(describe_python, takes_the_docstring) {
  EXPECT_EQ(
      summary("text/x-python",
              "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# Copyright 2024\n\"\"\"Does a thing.\n\nIn detail.\n\"\"\"\n"),
      "Does a thing.");
  EXPECT_EQ(summary("text/x-python", "'''One line.'''\nx = 1\n"), "One line.");
  EXPECT_EQ(summary("text/x-python", "r\"\"\"Raw\nand two lines.\"\"\""), "Raw and two lines.");
  EXPECT_EQ(summary("text/x-python", "\"single quotes\"\n"), "single quotes");
  EXPECT_EQ(summary("text/x-python", "\"\"\"never closed\n"), "never closed");
  EXPECT_EQ(summary("text/x-python", "# A comment instead.\nimport os\n"), "A comment instead.");
  EXPECT_EQ(summary("text/x-python", "import os\n\"\"\"not one\"\"\"\n"), "");
}

TEST(describe_source, takes_the_leading_comment) {
  EXPECT_EQ(summary("text/x-c++src", "/// Reads files.\n#include <x>\n"), "Reads files.");
  EXPECT_EQ(summary("text/x-c++src", "// Reads\n// files.\n\n// Another.\n"), "Reads files.");
  EXPECT_EQ(summary("text/x-java", "/**\n * Reads files.\n *\n * @author x\n */\npackage a;\n"), "Reads files.");
  EXPECT_EQ(summary("text/x-csrc", "/* one line */\nint x;\n"), "one line");
  EXPECT_EQ(summary("text/x-rust", "//! Crate docs.\n\nuse x;\n"), "Crate docs.");
  EXPECT_EQ(summary("text/x-shellscript", "#!/bin/sh\n# Builds it.\nset -e\n"), "Builds it.");
  EXPECT_EQ(summary("text/x-sql", "-- The tables.\nCREATE TABLE x;\n"), "The tables.");
  EXPECT_EQ(summary("text/x-lisp", ";;; init.el --- settings\n"), "init.el --- settings");
  EXPECT_EQ(summary("text/html", "<!DOCTYPE html>\n<!-- The page. -->\n<html>\n"), "The page.");
  EXPECT_EQ(summary("application/xml", "<?xml version=\"1.0\"?>\n<!--\n  The\n  file.\n-->\n"), "The file.");
  EXPECT_EQ(summary("text/x-lua", "--[[ A module.\n]]\n"), "A module.");
  EXPECT_EQ(summary("text/x-haskell", "{- A module. -}\n"), "A module.");
  EXPECT_EQ(summary("text/x-ini", "; Settings.\n[a]\n"), "Settings.");
  EXPECT_EQ(summary("text/x-c++src", "int x;  // not leading\n"), "");
  EXPECT_EQ(summary("text/x-csrc", "/* never closed\n"), "never closed");
  EXPECT_EQ(summary("application/json", "{\"a\": 1}"), "");
  EXPECT_EQ(summary("image/png", "// text"), "");
}

TEST(describe_html, takes_the_title_and_the_first_paragraph) {
  EXPECT_EQ(describe("text/html",
                     "<html><head><title>The Manual</title></head><body><p>How to <b>use</b> it.</p></body></html>", true),
            (description{"The Manual", "How to use it."}));
  EXPECT_EQ(describe("text/html", "<meta name=Description content='R&amp;D  notes'><h1>Head</h1><p>Text", true),
            (description{"Head", "R&D notes"}));
  EXPECT_EQ(describe("application/xhtml+xml", "<!-- The page. --><title>T</title><p>Copyright 2024 X", true),
            (description{"T", "The page."}));
}

TEST(describe_source, passes_over_licences_and_lines_for_tools) {
  EXPECT_EQ(
      summary("text/x-c++src", "// SPDX-License-Identifier: Apache-2.0\n// Copyright 2024 The Authors\n//\n// What it is.\n"),
      "What it is.");
  EXPECT_EQ(summary("text/x-csrc", "/*\n * Copyright (c) 2024 X\n * All rights reserved.\n */\n\n/* What it is. */\n"),
            "What it is.");
  EXPECT_EQ(summary("text/x-go",
                    "// Licensed under the Apache License, Version 2.0 (the \"License\");\n// you may not.\n\n// Package x "
                    "does y.\npackage x\n"),
            "Package x does y.");
  EXPECT_EQ(summary("text/javascript", "/* eslint-disable no-undef */\n// ==========\n// What it is.\n"), "What it is.");
  EXPECT_EQ(summary("text/x-csrc", "/**\n * @file x.c\n * @brief What it is.\n */\n"), "What it is.");
  EXPECT_EQ(summary("text/x-csrc", "// Copyright only\nint x;\n"), "");
}

TEST(describe_prose, takes_the_first_paragraph) {
  EXPECT_EQ(summary("text/plain", "\nThe first\n  paragraph.\n\nThe second.\n"), "The first paragraph.");
  EXPECT_EQ(describe("text/x-rst", "=====\nTitle\n=====\n\n.. image:: x\n\nText.\n", true), (description{"Title", "Text."}));
  EXPECT_EQ(describe("text/x-rst", "Title\n*****\nText.\n", true), (description{"Title", "Text."}));
}

TEST(describe_cut, ends_after_a_word_with_an_ellipsis_within_200_characters) {
  std::string words;
  while (words.size() < 400) words += "abcdefghi ";
  const auto cut = summary("text/plain", words);
  EXPECT_EQ(cut, words.substr(0, 199) + "…");
  std::string exact(200, 'x');
  EXPECT_EQ(summary("text/plain", exact), exact);
  EXPECT_EQ(summary("text/plain", exact + "y"), std::string(199, 'x') + "…");
}

TEST(describe_cut, counts_characters_and_never_splits_one) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "本";
  std::string expected;
  for (int i = 0; i < 199; ++i) expected += "本";
  EXPECT_EQ(summary("text/plain", text), expected + "…");
}

TEST(describe_front, that_was_cut_from_a_longer_file_loses_its_last_line) {
  EXPECT_EQ(describe("text/plain", "whole line\nhalf a li", false).summary, "whole line");
  EXPECT_EQ(describe("text/plain", "本\xe6\x9c", false).summary, "本");
}

TEST(describe_front, that_is_no_text_says_nothing) {
  EXPECT_EQ(markdown("# \xff\xfe"), description{});
  EXPECT_EQ(markdown(std::string_view("# a\0b", 5)), description{});
}

TEST(describe_front, loses_control_characters_and_direction_marks) {
  EXPECT_EQ(markdown("# a\x1b[31mb\x07\tc\u0085d\u202Ee\u2066f\u00A0 g\n").title, "a [31mb c d e f g");
}

TEST(describe_front, of_nothing_but_openers_has_no_more_than_200_characters) {
  for (const char* piece : {"[", "![", "<!--", "/*", "(", "```\n", "\"\"\"", "# ", "- "}) {
    std::string text;
    while (text.size() < 4096) text += piece;
    for (const char* type : {"text/markdown", "text/x-python", "text/x-c++src", "text/html", "text/x-rst"}) {
      EXPECT_LE(describe(type, text, true).summary.size(), 800u);
    }
  }
}

}  // namespace
}  // namespace hondana::files

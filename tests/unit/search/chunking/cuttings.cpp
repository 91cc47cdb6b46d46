/// Passages of prose, code and data.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"
#include "search/chunking/passages.hpp"

namespace hondana::chunking {
namespace {

/// What must hold for every cut of a text whose passages are parts of the source.
void check(std::string_view text, const chunked_text& made, const chunking_options& how) {
  std::vector<bool> covered(text.size());
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (const auto& one : made.passages) {
    ASSERT_FALSE(one.text.empty());
    ASSERT_TRUE(!json::is_utf8(text) || (json::is_utf8(one.text) && json::is_utf8(one.heading) && json::is_utf8(one.title)));
    ASSERT_LE(one.text.size(), how.max_bytes);
    ASSERT_LT(one.begin, one.end);
    ASSERT_LE(one.end, text.size());
    ASSERT_GE(one.begin, begin);
    ASSERT_GE(one.end, end);
    begin = one.begin;
    end = one.end;
    ASSERT_EQ(one.first_line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    ASSERT_EQ(one.last_line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    const auto continues = [text](std::uint64_t at) {
      return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    ASSERT_FALSE(continues(one.begin));
    ASSERT_FALSE(continues(one.end));
    std::fill(covered.begin() + static_cast<std::ptrdiff_t>(begin), covered.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  if (!made.is_complete) return;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (covered[at] || static_cast<unsigned char>(text[at]) <= ' ') continue;
    // Rules, fences and marks around.
    ASSERT_NE(std::string_view("`~=-*_#<>!|:.[]/\xEF\xBB\xBF").find(text[at]), std::string_view::npos)
        << at << ": " << text.substr(at, 40);
  }
}

chunked_text checked(std::string_view text, std::string_view name, const chunking_options& how = {}) {
  auto made = chunk_text(text, "", name, how);
  check(text, made, how);
  return made;
}

std::string sentences(int count, std::string_view one = "This is a sentence of some words. ") {
  std::string out;
  for (int at = 0; at < count; ++at) out += one;
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

TEST(passages_of_prose, have_their_headings_and_ranges) {
  const auto text = "# Guide\n\n" + sentences(12) + "\n## Setup\n\n" + sentences(12) + "\n### Windows ###\n\n" + sentences(60) +
                    "\n## End\n\n" + sentences(10);
  const auto made = checked(text, "a.md");
  ASSERT_GE(made.passages.size(), 5u);
  EXPECT_EQ(made.passages[0].heading, "Guide");
  EXPECT_EQ(made.passages[0].title, "Guide");
  EXPECT_EQ(made.passages[0].text.substr(0, 11), "Guide\n\nThis");
  EXPECT_EQ(made.passages[0].begin, 0u);
  EXPECT_EQ(made.passages[1].heading, "Guide › Setup");
  EXPECT_EQ(made.passages[1].begin, text.find("## Setup"));
  EXPECT_EQ(made.passages[2].heading, "Guide › Setup › Windows");
  EXPECT_EQ(made.passages[2].text.substr(0, 13), "Windows\n\nThis");
  EXPECT_EQ(made.passages[3].heading, "Guide › Setup › Windows");
  EXPECT_LT(made.passages[3].begin, made.passages[2].end) << "they overlap";
  EXPECT_TRUE(made.passages[3].text.starts_with("This is"));
  EXPECT_EQ(made.passages.back().heading, "Guide › End");
}

TEST(passages_of_prose, small_sections_are_joined_and_large_ones_keep_their_heading) {
  const auto joined = checked("# Guide\n\nShort.\n\n## A\n\na\n\n## B\n\nb\n", "a.md");
  ASSERT_EQ(joined.passages.size(), 1u);
  EXPECT_EQ(joined.passages[0].heading, "Guide");
  EXPECT_EQ(joined.passages[0].text, "Guide\n\nShort.\n\nA\n\na\n\nB\n\nb");
  const auto apart = checked("# Guide\n\nShort.\n\n## A\n\n" + sentences(25), "a.md");
  ASSERT_EQ(apart.passages.size(), 2u);
  EXPECT_EQ(apart.passages[0].heading, "Guide");
  EXPECT_EQ(apart.passages[1].heading, "Guide › A");
  const auto bare = checked("# Guide\n\n## A\n\n" + sentences(25), "a.md");
  ASSERT_EQ(bare.passages.size(), 1u);
  EXPECT_EQ(bare.passages[0].heading, "Guide › A");
}

TEST(passages_of_prose, japanese_is_cut_at_its_sentences) {
  const auto text = "# 設定\n\n" + sentences(60, "これは「長い文。」です。次の文も、同じくらい長いものです！");
  const auto made = checked(text, "a.md");
  ASSERT_GE(made.passages.size(), 4u);
  for (const auto& one : made.passages) EXPECT_TRUE(one.text.ends_with("。") || one.text.ends_with("！")) << one.text;
  EXPECT_TRUE(made.passages[1].text.starts_with("これは「") || made.passages[1].text.starts_with("次の"))
      << made.passages[1].text.substr(0, 60);
}

TEST(passages_of_prose, front_matter_comments_and_fences_are_not_in_the_text) {
  const auto made = chunk_text("---\ntitle: T\n---\n<!-- no -->\n```cpp\nint a;\n```\n\n[l]: x\n<div align=center>seen</div>\n",
                               "text/markdown", "");
  ASSERT_EQ(made.passages.size(), 1u);
  EXPECT_EQ(made.passages[0].text, "int a;\n\nseen");
  EXPECT_EQ(made.passages[0].title, "T");
  EXPECT_TRUE(chunk_text("", "text/markdown", "").passages.empty());
  EXPECT_TRUE(chunk_text("<!-- no -->\n\n---\n", "text/markdown", "").passages.empty());
}

TEST(passages_of_prose, pages_are_told_by_form_feeds) {
  const auto made = checked("One page.\n\fThe second\npage.\n\f\fFourth", "x.txt");
  ASSERT_EQ(made.passages.size(), 3u);
  EXPECT_EQ(made.passages[0].page, 1u);
  EXPECT_EQ(made.passages[1].page, 2u);
  EXPECT_EQ(made.passages[1].first_line, 2u);
  EXPECT_EQ(made.passages[1].last_line, 3u);
  EXPECT_EQ(made.passages[2].page, 4u);
  EXPECT_EQ(chunk_text("# A\n\nx\n\f# B\n\ny\n", "text/markdown", "a.pptx").passages.size(), 2u);
}

TEST(passages_of_tables, repeat_their_header) {
  std::string text = "name,value\n";
  for (int at = 0; at < 200; ++at) text += "row " + std::to_string(at) + ",\"a \"\"b\"\"\nc\"\n";
  const auto made = checked(text, "a.csv");
  ASSERT_GE(made.passages.size(), 3u);
  for (const auto& one : made.passages) {
    EXPECT_TRUE(one.text.starts_with("name,value\nrow ")) << one.text.substr(0, 40);
    EXPECT_TRUE(one.text.ends_with("c\""));
  }
  EXPECT_EQ(text.substr(made.passages[1].begin, 4), "row ");
  std::string rows = "# T\n\n| a | b |\n|---|---|\n";
  for (int at = 0; at < 200; ++at) rows += "| x" + std::to_string(at) + " | y |\n";
  const auto table = checked(rows, "a.md");
  ASSERT_GE(table.passages.size(), 2u);
  EXPECT_TRUE(table.passages[1].text.starts_with("| a | b |\n| x")) << table.passages[1].text.substr(0, 40);
  EXPECT_EQ(table.passages[1].heading, "T");
  (void)checked("a,b\n\"never closed,1\n2,3\n", "a.csv");
}

TEST(passages_of_code, begin_at_declarations_and_have_their_names) {
  std::string body;
  for (int at = 0; at < 20; ++at)
    body += "  const int value_" + std::to_string(at) + " = compute(" + std::to_string(at) + ");\n";
  const auto text = "#include <x>\n\nnamespace a {\n\n/// First.\nint first(int x) {\n" + body + "}\n\nvoid second() {\n" +
                    body + "}\n\nclass third {\n" + body + "};\n}\n";
  const auto made = checked(text, "a.cpp");
  ASSERT_GE(made.passages.size(), 3u);
  EXPECT_NE(made.passages[0].heading.find("first"), std::string::npos) << made.passages[0].heading;
  EXPECT_NE(made.passages[1].heading.find("second"), std::string::npos) << made.passages[1].heading;
  EXPECT_TRUE(made.passages[1].text.starts_with("void second")) << made.passages[1].text.substr(0, 30);
}

TEST(passages_of_code, members_are_named_with_what_holds_them) {
  std::string text = "import os\n\n\nclass Store(Base):\n    \"\"\"Doc.\"\"\"\n\n";
  for (const std::string name : {"load", "save", "drop"}) {
    text += "    def " + name + "(self):\n";
    for (int at = 0; at < 25; ++at)
      text += "        self.value_" + std::to_string(at) + " = compute(" + std::to_string(at) + ")\n";
    text += "\n";
  }
  const auto made = checked(text, "a.py");
  ASSERT_GE(made.passages.size(), 3u);
  EXPECT_EQ(made.passages.back().heading, "Store › drop");
}

TEST(passages_of_code, many_languages_have_names) {
  const std::vector<std::pair<std::string, std::pair<std::string, std::string>>> all{
      {"a.go", {"func (s *Server) Serve(x int) {", "Serve"}},
      {"a.rs", {"pub(crate) async fn run<T>(x: T) {", "run"}},
      {"a.java", {"public final class Cat extends Pet {", "Cat"}},
      {"a.cs", {"internal static int Sum(int a) {", "Sum"}},
      {"a.kt", {"data class Point(val x: Int)", "Point"}},
      {"a.ts", {"export default async function load() {", "load"}},
      {"b.ts", {"export const make = (a) => {", "make"}},
      {"a.rb", {"def valid?(x)", "valid?"}},
      {"a.php", {"public function go($x) {", "go"}},
      {"a.sh", {"build_all() {", "build_all"}},
      {"a.sql", {"CREATE TABLE IF NOT EXISTS users (", "users"}},
      {"a.tf", {"resource \"aws_x\" \"y\" {", "aws_x"}},
      {"a.proto", {"message Order {", "Order"}},
      {"a.clj", {"(defn add [a b]", "add"}},
      {"a.hs", {"parse :: Text -> Int", "parse"}},
      {"a.r", {"mean2 <- function(x) {", "mean2"}},
      {"a.toml", {"[server.tls]", "server.tls"}},
      {"a.yaml", {"services:", "services"}},
      {"Makefile", {"install: all", "install"}},
      {"a.css", {".menu > li {", ".menu > li"}},
      {"a.ex", {"defmodule My.App do", "My.App"}},
      {"a.swift", {"public func draw(in r: Rect) {", "draw"}}};
  for (const auto& [name, line] : all) {
    const auto made = checked(line.first + "\n  x\n", name);
    ASSERT_EQ(made.passages.size(), 1u);
    EXPECT_EQ(made.passages[0].heading, line.second) << name;
  }
}

TEST(passages_of_data, json_is_cut_at_members) {
  std::string text = "{";
  for (const std::string key : {"alpha", "beta", "gamma"}) {
    text += "\"" + key + "\": [";
    for (int at = 0; at < 150; ++at) text += std::to_string(at) + ", ";
    text += "{\"x, [\": \"\\\"}\"}],";
  }
  text += "\"last\": 1}";
  const auto made = checked(text, "a.json");
  ASSERT_GE(made.passages.size(), 3u);
  EXPECT_EQ(made.passages[0].heading, "alpha");
  EXPECT_TRUE(made.passages[1].text.starts_with("\"beta\"")) << made.passages[1].text.substr(0, 30);
  EXPECT_NE(made.passages.back().heading.find("last"), std::string::npos);
  (void)checked("[[[[[[\"open", "a.json");
  std::string long_key = "a";
  for (int at = 0; at < 60; ++at) long_key += "鍵";
  const auto cut_key = checked("{\"" + long_key + "\":{\"x\":1}}", "a.json");
  ASSERT_EQ(cut_key.passages.size(), 1u);
  EXPECT_EQ(cut_key.passages.front().heading, long_key.substr(0, 118) + " › x") << "to the last whole character";
  (void)checked("}}}},,,:\"\\", "a.json");
  EXPECT_EQ(checked("{\"a\":1}\n{\"a\":2}\n", "a.jsonl").passages.size(), 1u);
}

TEST(passages_of_html, have_lines_and_bytes_of_the_source) {
  const std::string html = "<html><body>\n<h1>Guide</h1>\n<p>" + sentences(14) + "</p>\n<h2>Setup</h2>\n<p>" + sentences(14) +
                           "</p></body></html>\n";
  const auto made = chunk_text(html, "text/html", "x");
  ASSERT_EQ(made.passages.size(), 2u);
  EXPECT_EQ(made.passages[1].heading, "Guide › Setup");
  EXPECT_EQ(made.passages[1].first_line, 5u);
  EXPECT_EQ(made.passages[1].last_line, 6u);
  EXPECT_EQ(made.passages[1].begin, html.find("<h2>"));
  EXPECT_EQ(made.passages[0].text.find('<'), std::string::npos);
}

TEST(passages_of_anything, hold_what_is_promised_whatever_the_text_is) {
  std::mt19937 random(12);
  const std::vector<std::string> parts{"# a\n",
                                       "## 見出し\n",
                                       "word ",
                                       "文。",
                                       "「は」",
                                       "\n",
                                       "\n\n",
                                       ". ",
                                       "{",
                                       "}",
                                       "\"",
                                       ",",
                                       "  ",
                                       "\t",
                                       "e\xCC\x81",
                                       "def f():\n",
                                       "| a | b |\n",
                                       "|---|---|\n",
                                       "- item\n",
                                       "> q\n",
                                       "```\n",
                                       "int f() {\n",
                                       "}\n",
                                       "a < b ",
                                       "\xF0\x9F\x98\x80",
                                       "key: value\n",
                                       "\f",
                                       "x=1\r\n",
                                       "averylongwordwithoutanyspaceinit"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const auto count = random() % 400;
    for (std::size_t at = 0; at < count; ++at) text += parts[random() % parts.size()];
    chunking_options how;
    how.max_bytes = 16 + random() % 400;
    how.target_bytes = 1 + random() % how.max_bytes;
    how.overlap = random() % 100;
    for (const std::string name :
         {"a.md", "a.txt", "a.rst", "a.adoc", "a.cpp", "a.py", "a.json", "a.csv", "a.yaml", "a.jsonl", "a.bin"}) {
      const auto made = chunk_text(text, "", name, how);
      check(text, made, how);
      if (HasFatalFailure()) FAIL() << name << " of round " << round;
      EXPECT_EQ(made.passages.size(), chunk_text(text, "", name, how).passages.size());
    }
    for (const auto& one : chunk_text(text, "", "a.html", how).passages) {
      ASSERT_LE(one.text.size(), how.max_bytes);
      ASSERT_LE(one.end, text.size());
      ASSERT_LE(one.first_line, one.last_line);
    }
  }
}

TEST(passages_of_anything, have_places_in_order_and_within_the_text_whatever_the_bytes_are) {
  const std::vector<std::string> parts{"# a\n", "\n",       "\r",     "\v",       "\f",    "\x8A",  "\xFF",
                                       "\xE3",  "\xE3\x80", "\"",     "<",        "<pre",  "<div>", "-->",
                                       "```\n", "---\n",    "<!--",   "  ",       "\t",    "===\n", "- ",
                                       "> ",    "| a |\n",  "|--|\n", "[x]: y\n", "word ", "。",    "\xEF\xBB\xBF"};
  for (int round = 0; round < 4000; ++round) {
    std::mt19937 random(static_cast<std::uint32_t>(round));
    std::string text;
    for (auto count = random() % 40; count > 0; --count) {
      const auto what = random() % 8;
      if (what == 0) text += static_cast<char>(random());
      if (what == 1) text += std::string(random() % 60, static_cast<char>('a' + random() % 26));
      if (what == 2 && !text.empty()) text.insert(random() % text.size(), 1, static_cast<char>(random()));
      if (what > 2) text += parts[random() % parts.size()];
    }
    chunking_options how;
    how.max_bytes = 16 + random() % 256;
    how.target_bytes = 1 + random() % how.max_bytes;
    how.overlap = how.target_bytes / 4;
    for (const std::string name : {"a.md", "a.txt", "a.rst", "a.adoc", "a.cpp", "a.json", "a.csv", "a.yaml", "a.html"}) {
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      for (const auto& one : chunk_text(text, "", name, how).passages) {
        ASSERT_TRUE(begin <= one.begin && end <= one.end && one.begin < one.end && one.end <= text.size())
            << name << " of round " << round;
        begin = one.begin;
        end = one.end;
        if (name == "a.html") continue;
        ASSERT_EQ(one.first_line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'))
            << name << " of round " << round;
        ASSERT_EQ(one.last_line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'))
            << name << " of round " << round;
      }
    }
  }
}

TEST(passages_of_anything, have_a_cap) {
  chunking_options how;
  how.max_passages = 10;
  const auto made = checked(sentences(2000), "a.md", how);
  EXPECT_EQ(made.passages.size(), 10u);
  EXPECT_FALSE(made.is_complete);
  EXPECT_TRUE(checked("x", "a.md", how).is_complete);
}

TEST(passages_of_anything, twenty_megabytes_in_one_line_are_no_trouble) {
  const std::string text(20'000'000, 'x');
  for (const std::string name : {"a.md", "a.json", "a.csv", "a.cpp", "a.txt"}) {
    const auto made = chunk_text(text, "", name);
    EXPECT_TRUE(made.is_complete);
    EXPECT_LE(made.passages.size(), 20'000u);
    EXPECT_EQ(made.passages.back().end, text.size());
  }
}

}  // namespace
}  // namespace hondana::chunking

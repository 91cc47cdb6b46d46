/// Front matter, weights, first paragraphs, rules and addresses by themselves.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_uri.hpp"
#include "sources/docs/snapshot.hpp"

namespace hondana::docs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

double usual(const std::string& path, std::size_t links = 0) {
  const auto now = std::chrono::system_clock::now();
  return rate_document(path, std::chrono::floor<std::chrono::milliseconds>(now - 100 * 24h), links, now).priority;
}

TEST(docs_weights, put_introductions_first_and_archives_last) {
  EXPECT_EQ(usual("README.md"), 0.9);
  EXPECT_EQ(usual("index.html"), 0.9);
  EXPECT_EQ(usual("はじめに.md"), 0.9);
  EXPECT_EQ(usual("目次.txt"), 0.9);
  EXPECT_EQ(usual("sub/README.md"), 0.75);
  EXPECT_EQ(usual("install-guide.md"), 0.8);
  EXPECT_EQ(usual("設計の手引き.md"), 0.8);
  EXPECT_EQ(usual("入門.md"), 0.8);
  EXPECT_EQ(usual("ｶﾞｲﾄﾞ.md"), 0.8);
  EXPECT_EQ(usual("plan.md"), 0.5);
  EXPECT_EQ(usual("CHANGELOG.md"), 0.2);
  EXPECT_EQ(usual("変更履歴.md"), 0.2);
  EXPECT_EQ(usual("archive/guide.md"), 0.1);
  EXPECT_EQ(usual("旧版/入門.md"), 0.1);
  EXPECT_EQ(usual("backup/plan.md"), 0.1);
  EXPECT_EQ(usual("バックアップ.md"), 0.5);  // tells how they are made
  EXPECT_EQ(usual("golden.md"), 0.5);        // "old" is no word of it
  EXPECT_EQ(usual("plan.md", 12), 0.65);
  EXPECT_EQ(usual("CHANGELOG.md", 12), 0.2);
}

TEST(docs_weights, count_age) {
  const auto now = std::chrono::system_clock::now();
  const auto at = [now](auto age) { return std::chrono::floor<std::chrono::milliseconds>(now - age); };
  EXPECT_EQ(rate_document("plan.md", at(1h), 0, now).priority, 0.55);
  EXPECT_EQ(rate_document("plan.md", at(1000 * 24h), 0, now).priority, 0.4);
  EXPECT_EQ(rate_document("plan.md", {}, 0, now).priority, 0.5);
  EXPECT_THAT(rate_document("plan.md", at(1h), 3, now).reason, HasSubstr("3 documents link to it, changed recently"));
}

TEST(docs_statements, take_words_and_numbers) {
  const auto said = parse_front_matter("---\npriority: high\naudience: user\ntitle: 1984\nlang: en-GB\n---\n");
  EXPECT_EQ(said.priority, 0.9);
  EXPECT_THAT(said.audience, ElementsAre(chat_role::user));
  EXPECT_EQ(said.title, "1984");
  EXPECT_EQ(said.lang, "en-GB");
  EXPECT_THAT(said.warnings, IsEmpty());
  EXPECT_EQ(parse_front_matter("---\npriority: 高\n---\n").priority, 0.9);
}

TEST(docs_statements, of_wrong_values_are_warnings) {
  EXPECT_EQ(parse_front_matter("---\npriority: 1.5\n---\n").warnings.size(), 1u);
  EXPECT_EQ(parse_front_matter("---\npriority: urgent\n---\n").warnings.size(), 1u);
  EXPECT_EQ(parse_front_matter("---\naudience: [user, robots]\n---\n").warnings.size(), 1u);
  EXPECT_EQ(parse_front_matter("---\nlang: \"not a tag!\"\n---\n").warnings.size(), 1u);
  EXPECT_EQ(parse_front_matter("---\n- a\n- b\n---\n").warnings.size(), 1u);
}

TEST(docs_statements, are_none_without_front_matter) {
  EXPECT_EQ(parse_front_matter("# Title\n"), front_matter_values());
  EXPECT_EQ(parse_front_matter("---\n\nA rule across the page.\n"), front_matter_values());
  EXPECT_EQ(parse_front_matter(""), front_matter_values());
}

TEST(docs_prose, has_a_first_paragraph) {
  const auto of = [](std::string_view text) { return first_paragraph(markup::markup_format::markdown, text); };
  EXPECT_EQ(of("# T\n\n![x](y) \n\n[![b](c)](d)\n\nThe **first** [one](a.md)\nof two.\n\nNext.\n"), "The first one of two.");
  EXPECT_EQ(of("[a](<b c.md> \"the \\\"title\\\"\") is [b [c]](<d (e).md> \"(f) \\\"g\\\"\"), [h][i] and [j], ![k](l 'm)').\n"),
            "a is b [c], h and [j], k.");
  EXPECT_EQ(of("[a](b c d) and [e](<f) or [g](h\n"), "[a](b c d) and [e](<f) or [g](h");
  EXPECT_EQ(of("Title\n=====\n\n<!-- no\nno -->\n\n```\ncode\n```\n\nText.\n"), "Text.");
  EXPECT_EQ(of("# 題\n\n日本語の文。\n"), "日本語の文。");
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(first_paragraph(markup::markup_format::asciidoc, "= T\n:lang: ja\n\nText.\n"), "Text.");
  EXPECT_EQ(first_paragraph(markup::markup_format::restructured_text, "T\n=\n\n.. note::\n   no\n\nText.\n"), "Text.");
  const auto cut = of(std::string(100'000, 'x'));
  EXPECT_EQ(cut.size(), 200u + 3u);
}

TEST(docs_prose, has_a_title_where_the_first_line_of_plain_text_stands_alone) {
  EXPECT_EQ(title_line("2025 年までの変更履歴\r\n\r\n版 2.8\n"), "2025 年までの変更履歴");
  EXPECT_EQ(title_line("\nNotes \n \nText"), "Notes");
  for (const std::string_view none :
       {"", "Notes", "Notes\n", "Notes\n\n", "Notes\nText\n\nText\n", "One sentence.\n\nText\n", "一文です。\n\n次\n",
        "　字下げ\n\n次\n", "- item\n\nText\n", "  indented\n\nText\n", "=====\n\nText\n", "Dear reader,\n\nText\n"})
    EXPECT_EQ(title_line(none), "") << none;
  EXPECT_EQ(title_line(std::string(161, 'x') + "\n\nText\n"), "");
}

TEST(docs_prose, is_on_one_line_and_cut_behind_characters) {
  EXPECT_EQ(one_line(" a\n\tb \x01 c", 10), "a b c");
  EXPECT_EQ(one_line("日本語", 2), "日本…");
  EXPECT_EQ(escape_link_text("a [b] \\"), "a \\[b\\] \\\\");
}

TEST(docs_rules, say_what_the_last_that_matches_says) {
  const auto said = rules::parse(
      "[[rule]]\nmatch = \"*.md\"\npriority = 0.3\nlang = \"de\"\n[[rule]]\nmatch = [\"top.md\", \"x/\"]\npriority = "
      "\"high\"\n",
      "r");
  ASSERT_TRUE(said) << said.error().public_text;
  EXPECT_EQ(said->evaluate("a.md").priority, 0.3);
  EXPECT_EQ(said->evaluate("top.md").priority, 0.9);
  EXPECT_EQ(said->evaluate("top.md").lang, "de");
  EXPECT_EQ(said->evaluate("x/y.txt").priority, 0.9);
  EXPECT_FALSE(said->evaluate("y.txt").priority);
}

TEST(docs_rules, that_are_wrong_name_their_line) {
  for (const auto* text :
       {"[[rule]]\npriority = 1\n", "[[rule]]\nmatch = \"a\"\npriority = 2\n", "[[rule]]\nmatch = \"a\"\nlang = 3\n",
        "[[rule]]\nmatch = \"a\"\naudience = \"all\"\n", "[[rule]]\nmatch = \"a\"\nnew = 1\n", "rule = 1\n",
        "[[rule]]\nmatch = \"\"\n", "other = 1\n", "[[rule", "[[rule]]\nmatch = \"a\"\npriority = \"urgent\"\n",
        "[[rule]]\nmatch = \"a\"\nexclude = 1\n", "[[rule]]\nmatch = \"a\"\nlang = \"!\"\n"}) {
    const auto said = rules::parse(text, "r.toml");
    ASSERT_FALSE(said) << text;
    EXPECT_EQ(said.error().code, errc::invalid_argument) << text;
    EXPECT_THAT(said.error().public_text, HasSubstr("r.toml")) << text;
  }
  EXPECT_FALSE(rules::parse(std::string(rules::max_bytes + 1, '#'), "r"));
}

TEST(docs_words, are_known_in_any_width) {
  EXPECT_EQ(parse_priority("ＨＩＧＨ"), 0.9);
  EXPECT_EQ(parse_priority("Low"), 0.2);
  EXPECT_FALSE(parse_priority("highest"));
  EXPECT_TRUE(is_language_tag("zh-Hant-TW"));
  EXPECT_FALSE(is_language_tag("ja_JP"));
  EXPECT_FALSE(is_language_tag("-ja"));
}

TEST(docs_kept_texts, are_bounded_and_forget_what_was_used_longest_ago) {
  text_cache kept(100'000);
  const auto text_of_size = [](std::size_t size, std::uint64_t inode) {
    auto made = std::make_shared<document_text>();
    made->content = std::make_shared<const std::string>(size, 'x');
    document_properties about;
    about.stamp.inode = inode;
    made->properties = std::make_shared<const document_properties>(std::move(about));
    return made;
  };
  disk::stamp one;
  one.inode = 1;
  for (const auto* name : {"a", "b", "c", "d", "e", "f"}) kept.insert(name, text_of_size(20'000, 1));
  EXPECT_LE(kept.bytes(), 100'000u);
  EXPECT_EQ(kept.find("a", one, ""), nullptr);
  EXPECT_NE(kept.find("f", one, ""), nullptr);
  kept.insert("large", text_of_size(50'000, 1));
  EXPECT_EQ(kept.find("large", one, ""), nullptr);
  one.inode = 2;
  EXPECT_EQ(kept.find("f", one, ""), nullptr);
}

}  // namespace
}  // namespace hondana::docs

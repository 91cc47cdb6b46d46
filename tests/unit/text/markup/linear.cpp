/// A paragraph of a megabyte that no person wrote takes no more than its length.
#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "text/markup/html.hpp"
#include "text/markup/html_writer.hpp"
#include "text/markup/outline.hpp"

namespace hondana::markup {
namespace {

std::string repeated(std::string_view what, std::size_t bytes) {
  std::string made;
  made.reserve(bytes + what.size());
  while (made.size() < bytes) made += what;
  return made;
}

/// As many of the second behind as many of the first.
std::string nested(std::string_view first, std::string_view second, std::size_t bytes) {
  const auto count = bytes / (first.size() + second.size());
  return repeated(first, count * first.size()) + repeated(second, count * second.size());
}

double seconds_for(markup_format how, const std::string& text) {
  const auto begin = std::clock();
  const auto made = outline_of(how, text);
  EXPECT_LE(made.sections.size(), 10'000u);
  if (how == markup_format::html) {
    EXPECT_LE(render_html(text).text.size(), 16 * text.size() + 16);
  }
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Sixteen times the text takes about sixteen times the time; what is quadratic takes 256 times. The first is too short to
/// be measured well, so that it counts as no less than a little.
void expect_linear(markup_format how, const std::string& name, const std::string& small, const std::string& large) {
  const auto least = std::max(seconds_for(how, small), 0.004);
  const auto most = seconds_for(how, large);
  EXPECT_LT(most, 64 * least) << name.substr(0, 40) << " in format " << static_cast<int>(how) << ": " << least << " s, " << most
                              << " s";
}

constexpr std::size_t little = 1u << 13;
constexpr std::size_t much = 1u << 17;
constexpr markup_format formats[]{markup_format::markdown, markup_format::asciidoc, markup_format::restructured_text,
                                  markup_format::plain, markup_format::html};

TEST(markup_of_one_kind_timing, takes_time_by_its_length_in_all_formats) {
  const std::vector<std::string> units{"&",
                                       "<",
                                       "[",
                                       "]",
                                       "*",
                                       "**a",
                                       "`",
                                       "` ",
                                       "``a",
                                       "_a",
                                       "~",
                                       "![",
                                       "](",
                                       "[](",
                                       "[](<",
                                       "[a](b \"",
                                       "[a](b (",
                                       "<!--",
                                       "<!-- ",
                                       "<a ",
                                       "<a b=\"",
                                       "<a b='",
                                       "</",
                                       "<![CDATA[",
                                       "<?",
                                       "<p>&",
                                       "&amp",
                                       "&#",
                                       "&#x",
                                       "http://",
                                       "www.",
                                       "http://[",
                                       "link:",
                                       "link:a[",
                                       "xref:a[",
                                       "image::",
                                       "<<",
                                       "<<a,",
                                       "{a}",
                                       "{",
                                       ":a:`",
                                       ":ref:`a",
                                       "`a <",
                                       "`a`_",
                                       "a_ ",
                                       "a__ ",
                                       "|a| ",
                                       ".. |a| replace:: |a||a|\n",
                                       "__ a\n",
                                       "a\n-\n",
                                       "= =\n",
                                       ":a: {a}{a}\n",
                                       "ifdef::a[]\n",
                                       "== `a *a\n\n",
                                       "== a\n\n",
                                       "a::\n",
                                       "====\n--\n",
                                       "*a*",
                                       "++",
                                       "[[",
                                       "(((",
                                       ".. _a: ",
                                       "\\",
                                       "\\[",
                                       "> ",
                                       "- ",
                                       "1. ",
                                       "# ",
                                       "#",
                                       "===\n",
                                       "---\n",
                                       "a\n===\n",
                                       "|a",
                                       "|-",
                                       "|-|\n",
                                       "a|b\n",
                                       "[a]: b\n",
                                       "[a]\n",
                                       "\t",
                                       " ",
                                       "\n",
                                       "\r",
                                       "\f",
                                       "<h1>",
                                       "<h1>a",
                                       "<a href=x>",
                                       "<pre>",
                                       "<table>",
                                       "<td>",
                                       "<tr>",
                                       "<li>",
                                       "<ul>",
                                       "<script>",
                                       "<script",
                                       "<title>",
                                       "<div hidden>",
                                       "<svg>",
                                       "</p>",
                                       "<p hidden>",
                                       "<textarea>",
                                       "<![",
                                       "* * ",
                                       "_ _ ",
                                       "第1章 a\n\n",
                                       "【a】\n\n",
                                       "あ",
                                       "\xE3"};
  for (const auto how : formats) {
    for (const auto& one : units) expect_linear(how, one, repeated(one, little), repeated(one, much));
  }
}

TEST(markup_of_one_kind_timing, takes_time_by_its_length_in_one_line_and_in_many) {
  for (const std::string part : {"![", "](",    "[a](b",   "<a b=\"", "*_",   "`` ` ",    "> ",   "- ",  "<!--", "[a]: ",
                                 "\\", "| - ",  "a**b ",   "<a ",     "<<",   "link:a",   "{a",   "`",   ":a:`", "https://",
                                 "==", "= a\n", "<table>", "&amp",    "<li>", ".. _a:\n", "\n\n", "<h1>"}) {
    for (const auto how : formats) {
      expect_linear(how, part, "x " + repeated(part, little), "x " + repeated(part, much));
      expect_linear(how, part + " in lines", repeated(part + "\n", little), repeated(part + "\n", much));
    }
  }
}

TEST(markup_of_two_kinds_timing, takes_time_by_its_length_in_all_formats) {
  const std::vector<std::pair<std::string, std::string>> pairs{{"[", "]"},
                                                               {"![", "](a)"},
                                                               {"[", "](a)"},
                                                               {"*", "a*"},
                                                               {"*a ", "a*"},
                                                               {"_a ", "a_"},
                                                               {"**a", "a**"},
                                                               {"(", ")"},
                                                               {"[a](", ")"},
                                                               {"<a href=x>", "</a>"},
                                                               {"<ul><li>", "</ul>"},
                                                               {"<table><tr><td>", "</table>"},
                                                               {"`a ", " `"},
                                                               {"<<", ">>"},
                                                               {"{", "}"},
                                                               {"~a ", "a~"},
                                                               {"> ", "a\n"},
                                                               {"- ", "a\n"},
                                                               {"<svg>", "</svg>"},
                                                               {"<pre>", "</pre>"},
                                                               {"<h1>", "</h1>"},
                                                               {"<!--", "-->"},
                                                               {"<script>", "</script>"},
                                                               {"![ ", "](a)"}};
  for (const auto how : formats) {
    for (const auto& [first, second] : pairs) {
      expect_linear(how, first + second, nested(first, second, little), nested(first, second, much));
      // The same with labels to be looked up.
      const std::string defined = "[a]: b\n\n";
      expect_linear(how, "defined " + first + second, defined + nested(first, second, little),
                    defined + nested(first, second, much));
    }
  }
}

TEST(markup_of_nested_pictures, still_has_their_texts) {
  const auto made = outline_of(markup_format::markdown, "![a ![b](c) d](e) and [![f](g)](h)\n");
  ASSERT_EQ(made.links.size(), 4u);
  EXPECT_EQ(made.links[0].text, "b");
  EXPECT_EQ(made.links[1].text, "a b d");
  EXPECT_EQ(made.links[2].text, "f");
  EXPECT_EQ(made.links[3].target, "h");
}

}  // namespace
}  // namespace hondana::markup

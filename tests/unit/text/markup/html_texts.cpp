/// HTML as text.
#include <string>

#include <gtest/gtest.h>

#include "text/markup/outline.hpp"

namespace hondana::markup {
namespace {

std::string shown(std::string_view html) { return render_html(html).text; }

TEST(html, is_laid_out_as_people_read_it) {
  EXPECT_EQ(shown("<!doctype html><html lang=ja><head><title>T &amp; U</title><style>p{}</style></head><body>"
                  "<h1>見出し  <small>x</small></h1><p>One\n "
                  "two<br>three</p><ul><li>a<li><p>b</p><ul><li>c</ul></ul>end</body></html>"),
            "# 見出し x\n\nOne two\nthree\n\n- a\n- b\n\n  - c\n\nend\n");
  EXPECT_EQ(
      shown("<table><tr><th>A</th><th>B</th></tr><tr><td>1<br>2</td><td></td></tr></table><pre>\n a\n\n  b &gt; c\n</pre>x"),
      "A | B\n1 2 |\n\n a\n\n  b > c\n\nx\n");
  EXPECT_EQ(shown("a&nbsp;b &#12354;&#x3044; &hearts; &bogus; &amp;lt; a&lt;b &#0;&#xD800;"),
            "a b あい ♥ &bogus; &lt; a&lt;b \xEF\xBF\xBD\xEF\xBF\xBD\n");
}

TEST(html, what_people_do_not_see_is_left_out) {
  EXPECT_EQ(shown("a<script>alert('<p>')</script><STYLE>x</style "
                  "><template><p>t</p></template><noscript>n</noscript><svg><text>s</text></svg>"
                  "<!-- c --><div hidden>h<div>i</div></div><p style='Display : none'>j<p>k<textarea>l</textarea><a "
                  "class=headerlink href=#>¶</a>"),
            "a\n\nk\n");
  EXPECT_EQ(shown("x<script>never closed <p>y"), "x\n");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("<"), "<\n");
  EXPECT_EQ(shown("1 < 2 <b"), "1 < 2 &lt;b\n");
}

TEST(html, text_never_becomes_markup_that_could_be_run) {
  EXPECT_EQ(shown("&lt;script&gt;alert(1)&lt;/script&gt; &lt;vector&gt; &lt;img src=x onerror=a&gt;"),
            "&lt;script>alert(1)&lt;/script> <vector> &lt;img src=x onerror=a>\n");
  EXPECT_EQ(shown("[a](javascript:b) [c]( DATA:d) a[i](x)"), "[a] ( javascript:b) [c] (  DATA:d) a[i](x)\n");
  EXPECT_EQ(shown("<pre>&lt;iframe src=x&gt;</pre>"), "&lt;iframe src=x>\n");
  EXPECT_EQ(shown("&<b>lt;</b>script> <<i>script</i>>"), "&lt;script> &lt;script>\n");
}

TEST(html, lines_are_those_of_the_source) {
  const auto made = render_html("<html>\n<body>\n<h1>A</h1>\n\n<p>one\ntwo\n\n</p>\n<p>three</p>\n");
  EXPECT_EQ(made.text, "# A\n\none two\n\nthree\n");
  ASSERT_EQ(made.source_lines.size(), 5u);
  EXPECT_EQ(made.source_lines[0], 3u);
  EXPECT_EQ(made.source_lines[2], 5u);
  EXPECT_EQ(made.source_lines[4], 9u);
}

TEST(html, outlines_are_of_the_text_or_of_the_source) {
  const std::string html =
      "<title>The  title</title>\n<section id=s><h2>A &amp; B</h2></section>\n<a href='x?a=1&amp;b'>li<b>nk</b></a>\n"
      "<h3 id=own>C</h3><img src=p.png alt='pic'><h3></h3>";
  const auto made = render_html(html);
  EXPECT_EQ(made.outline.title, "The title");
  ASSERT_EQ(made.outline.sections.size(), 2u);
  EXPECT_EQ(made.outline.sections[0].heading, "A & B");
  EXPECT_EQ(made.outline.sections[0].id, "s");
  EXPECT_EQ(made.outline.sections[0].begin, 0u);
  EXPECT_EQ(made.outline.sections[1].begin, made.text.find("### C"));
  ASSERT_EQ(made.outline.links.size(), 2u);
  EXPECT_EQ(made.outline.links[0].target, "x?a=1&b");
  EXPECT_EQ(made.outline.links[0].text, "link");
  EXPECT_TRUE(made.outline.links[1].is_image);
  const auto source = outline_of(markup_format::html, html);
  ASSERT_EQ(source.sections.size(), 2u);
  EXPECT_EQ(source.sections[0].begin, html.find("<h2>"));
  EXPECT_EQ(source.sections[0].first_line, 2u);
  EXPECT_EQ(source.sections[1].id, "own");
  EXPECT_EQ(source.links[0].line, 3u);
  EXPECT_EQ(render_html("<html lang='ja-JP'>x").language, "ja-JP");
}

}  // namespace
}  // namespace hondana::markup

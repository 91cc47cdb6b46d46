/// HTML as text.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "text/markup/html.hpp"
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
  EXPECT_EQ(shown("1 < 2 <b"), "1 < 2\n");
}

TEST(html, text_never_becomes_markup_that_could_be_run) {
  EXPECT_EQ(shown("&lt;script&gt;alert(1)&lt;/script&gt; &lt;vector&gt; &lt;img src=x onerror=a&gt;"),
            "&lt;script>alert(1)&lt;/script> <vector> &lt;img src=x onerror=a>\n");
  EXPECT_EQ(shown("[a](javascript:b) [c]( DATA:d) a[i](x)"), "[a] ( javascript:b) [c] (  DATA:d) a[i](x)\n");
  EXPECT_EQ(shown("<pre>&lt;iframe src=x&gt;</pre>"), "&lt;iframe src=x>\n");
  EXPECT_EQ(shown("&<b>lt;</b>script> <<i>script</i>>"), "&lt;script> &lt;script>\n");
}

TEST(html, comments_end_as_in_the_standard) {
  EXPECT_EQ(shown("One<!-->two</p><p>Three<!--->four</p><p>Five<!-- x --!>six</p><p>Seven <!-- a -- b -->eight</p><p>Nine</p>"),
            "Onetwo\n\nThreefour\n\nFivesix\n\nSeven eight\n\nNine\n");
  EXPECT_EQ(shown("a<!-- never closed <p>b"), "a\n");
}

TEST(html, end_tags_can_be_omitted_and_misplaced) {
  EXPECT_EQ(shown("<p>a<p>b<table><tr><td>1<td>2<tr><td>3<td>4</table>c"), "a\n\nb\n\n1 | 2\n3 | 4\n\nc\n");
  EXPECT_EQ(shown("<b>1<p>2</b>3</p><table>before<tr><td>x</table>"), "1\n\n23\n\nbefore\n\nx\n");
  EXPECT_EQ(shown("<h1>A<h2>B</h1>C"), "# A\n\n## B\n\nC\n");
}

TEST(html, elements_of_svg_are_not_those_of_html) {
  EXPECT_EQ(shown("x<svg><title/><path/></svg>y"), "xy\n");
  EXPECT_EQ(render_html("<svg><title>No</title></svg><title>Yes</title>").outline.title, "Yes");
}

TEST(html, dialogs_and_details_are_shown_as_far_as_people_can_see_them) {
  EXPECT_EQ(shown("<details><summary>Sum</summary>Body</details><dialog>no</dialog><dialog open>yes</dialog>"),
            "Sum\n\nBody\n\nyes\n");
  EXPECT_EQ(shown("<p hidden=until-found>a<p style='display:none!important'>b<p style='VISIBILITY: Hidden'>c"), "a\n");
}

TEST(html, lists_keep_their_numbers) {
  EXPECT_EQ(shown("<ol start=\"5\"><li>five<li>six</ol>"), "5. five\n6. six\n");
  EXPECT_EQ(shown("<ol><li>a<li value=10>b<li>c</ol>"), "1. a\n10. b\n11. c\n");
  EXPECT_EQ(shown("<ol reversed><li>a<li hidden>x<li>b</ol>"), "2. a\n1. b\n");
  EXPECT_EQ(shown("<ol reversed start=9><li>a<li>b</ol>"), "9. a\n8. b\n");
  EXPECT_EQ(shown("<ol type=a start=26><li>x<li>y</ol><ol type=I start=4><li>x<li>y</ol>"), "z. x\naa. y\n\nIV. x\nV. y\n");
  EXPECT_EQ(shown("<ol start=x type=1><li>a</ol><ol style='list-style: none'><li>b</ol>"), "1. a\n\n- b\n");
  EXPECT_EQ(shown("<ol><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ol>"), "1. a\n   - b\n     1. c\n2. d\n");
  EXPECT_EQ(shown("<table><tr><td>x<td><ol start=3><li>a<li>b</ol></table>"), "x | 3. a 4. b\n");
  EXPECT_EQ(shown("<ol start=999999999999><li>a</ol>"), "999999999. a\n");
}

TEST(html, descriptions_follow_their_terms) {
  EXPECT_EQ(shown("<dl><dt>T<dd>one<dd>two<dt>U<dd><p>three</dl>"), "T\n: one\n: two\nU\n: three\n");
}

TEST(html, cells_are_in_their_columns) {
  EXPECT_EQ(shown("<table><tr><th>Who<th>Jan<th>Feb</tr><tr><td rowspan=2>Ann<td>1<td>2</tr><tr><td>3<td>4</tr>"
                  "<tr><td>Bob<td colspan=1>5<td>6</tr></table>"),
            "Who | Jan | Feb\nAnn | 1 | 2\n| | 3 | 4\nBob | 5 | 6\n");
  EXPECT_EQ(shown("<table><caption>Cap</caption><tr><th colspan=2>Name<th>Age<tr><td>Ann<td>Lee<td>5</table>"),
            "Cap\n\nName | | Age\nAnn | Lee | 5\n");
  // A cell does not reach into the next group of rows, and footers are last.
  EXPECT_EQ(shown("<table><tfoot><tr><td>foot</tfoot><tbody><tr><td rowspan=0>A<td>1<tr><td>2<tbody><tr><td>B<td>3</table>"),
            "A | 1\n| | 2\nB | 3\nfoot\n");
  EXPECT_EQ(shown("<table><tr><td><td>x<tr><td> <td></table>"), "| | x\n");
  EXPECT_EQ(shown("<table><tr><td colspan=99999999>a<td>b<tr><td rowspan=-1>c<td hidden>d<td>e</table>"), "a | | b\nc | e\n");
}

TEST(html, headings_and_tables_in_cells_are_kept) {
  const auto made = render_html("<table><tr><td><h2>In a cell</h2><p>one</p><p>two</p></td></tr></table>");
  EXPECT_EQ(made.text, "## In a cell\n\none\n\ntwo\n");
  ASSERT_EQ(made.outline.sections.size(), 1u);
  EXPECT_EQ(made.outline.sections[0].heading, "In a cell");
  EXPECT_EQ(shown("<table><tr><td>nav<td><h2>Head</h2>text<table><tr><td>1<td>2</table><tr><td>a<td>b</table>"),
            "nav\n\n## Head\n\ntext\n\n1 | 2\n\na | b\n");
  EXPECT_EQ(shown("<table><tr><td><pre>1\n2</pre><td><pre>x\n y</pre></table>"), "1\n2\n\nx\n y\n");
  EXPECT_EQ(shown("<table><tr><td><p>a</p><p>b</p><td>c</table>"), "a b | c\n");
}

TEST(html, links_are_resolved_against_the_base) {
  const auto targets = [](std::string_view html) {
    std::string all;
    for (const auto& link : render_html(html).outline.links) all += link.target + ' ';
    return all;
  };
  EXPECT_EQ(targets("<base href='sub/'><a href=b.html>b</a><a href=../c.html>c</a><a href='../../d'>d</a><a href=/e>e</a>"),
            "sub/b.html c.html ../d /e ");
  EXPECT_EQ(
      targets(
          "<a href=c>1</a><base href='https://h.org/a/b/?q#f'><base href=x><a href=../d>2</a><a href=/e>3</a><a href='#g'>4</a>"
          "<a href='?y'>5</a><a href='//k/l'>6</a><a href=mailto:x>7</a><img src=../../../i.png>"),
      "https://h.org/a/b/c https://h.org/a/d https://h.org/e https://h.org/a/b/?q#g https://h.org/a/b/?y https://k/l mailto:x "
      "https://h.org/i.png ");
  EXPECT_EQ(targets("<base href=''><base href=s/><a href=' c '>1</a><map><area href=z alt=Zed></map>"), "c z ");
}

TEST(html, all_character_references_are_decoded) {
  EXPECT_EQ(shown("&#128; &copy 2024 &notit; &NotEqualTilde; &CounterClockwiseContourIntegral; a&ampb &#x1F600; &nbsp;x"),
            "€ © 2024 ¬it; ≂̸ ∳ a&b 😀 x\n");
  EXPECT_EQ(render_html("<a href='?a=1&copy=2&amp;b'>x</a>").outline.links[0].target, "?a=1&copy=2&b");
}

TEST(html, superscripts_are_not_part_of_the_number_before_them) {
  EXPECT_EQ(shown("10<sup>6</sup> H<sub>2</sub>O n<sup>−1</sup> x<sup><a href=#f>4</a></sup>"), "10⁶ H₂O n⁻¹ x⁴\n");
  EXPECT_EQ(shown("e<sup>x</sup> v<sub>max</sub> x<sup>2<sup>3</sup></sup>"), "e^x^ v~max~ x^2³^\n");
  EXPECT_EQ(shown("1<sup>st</sup> a<sup>[3]</sup> b<sup>®</sup> c<sup></sup>d"), "1st a[3] b® cd\n");
}

TEST(html, formulas_are_on_one_line) {
  EXPECT_EQ(shown("A <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> B"), "A 1/2 B\n");
  EXPECT_EQ(
      shown("<math><mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup>"
            "<mo>−</mo><mn>4</mn><mo>&InvisibleTimes;</mo><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow>"
            "</mfrac></math>"),
      "x=(−b±√(b^2−4ac))/(2a)\n");
  EXPECT_EQ(shown("<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
                  "<msub><mi>x</mi><mi>i</mi></msub></math>"),
            "∑_(i=1)^n x_i\n");
  EXPECT_EQ(shown("<math><mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>x</mi></math>"), "1 1/2 x\n");
  EXPECT_EQ(shown("<math><mroot><mn>8</mn><mn>3</mn></mroot></math>, <math><msqrt><mn>9</mn></msqrt></math>"), "³√8, √9\n");
  EXPECT_EQ(
      shown("<math><msup><mrow><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><mo>)</mo></mrow><mrow><mi>n</mi><mo>+</mo><mn>1</mn>"
            "</mrow></msup></math>"),
      "(a+b)^(n+1)\n");
  EXPECT_EQ(
      shown("<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd>"
            "</mtr></mtable></math>"),
      "[1, 0; 0, 1]\n");
  EXPECT_EQ(shown("<math><semantics><mrow><mi>sin</mi><mi>x</mi></mrow><annotation>\\sin x</annotation></semantics></math>"),
            "sin x\n");
  EXPECT_EQ(shown("<math><mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts><mfrac></math>"),
            "_6^14 C\n");
}

TEST(html, ruby_has_its_reading_in_parentheses) {
  EXPECT_EQ(shown("<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>駅"), "東京(とうきょう)駅\n");
  EXPECT_EQ(shown("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby> <ruby><rb>東<rb>北<rt>とう<rt>ほく</ruby> <ruby>x<rt></ruby>"),
            "漢字(かんじ) 東北(とうほく) x\n");
}

TEST(html, other_inline_elements_keep_their_text) {
  EXPECT_EQ(shown("<picture><source srcset=x><img src=a.png alt='A pic'></picture> <q>said</q> a<wbr>b <x-y>z</x-y>"),
            "A pic \"said\" ab z\n");
  EXPECT_EQ(shown("<xmp><b>x</b></xmp>"), "&lt;b>x&lt;/b>\n");
}

TEST(html, empty_elements_of_xhtml_do_not_swallow_the_text) {
  const auto made =
      render_html("<?xml version=\"1.0\"?><html xml:lang=\"fr\"><head><title/><script src=\"x\"/></head><p>seen</p></html>");
  EXPECT_EQ(made.text, "seen\n");
  EXPECT_EQ(made.language, "fr");
}

TEST(html, all_text_has_hidden_parts_and_words_without_the_tags_in_them) {
  EXPECT_EQ(all_text_of_html("<p hidden>a <<b>b</b>&shy;c</p><!-- d<i>e</i> --><script>f<b>g</b></script>"),
            "\na <b\u00adc\n\nde \n\nfg\n");
  EXPECT_EQ(all_text_of_html("<a title='x > y'>h</a>i<template>j</template>"), "hij");
}

TEST(html, deep_and_large_documents_keep_their_text) {
  const auto many = [](std::string_view part, std::size_t count) {
    std::string all;
    for (; count > 0; --count) all += part;
    return all;
  };
  EXPECT_EQ(shown(many("<div>", 100'000) + "deep"), "deep\n");
  EXPECT_EQ(shown(many("<div><b>", 1001) + "wo<i>rd</i></p><h2>He<b>ad</b></h2><script>no</script>end"),
            "word\n\n## Head\n\nend\n");
  EXPECT_EQ(shown("<p " + many("a ", 600) + ">x"), "x\n");
  EXPECT_EQ(shown(many("<a><p></a>", 20'000) + "x"), "x\n");
  EXPECT_FALSE(render_html(many("<div>", 100'000)).is_truncated);
}

TEST(html, lines_are_those_of_the_source) {
  const auto made = render_html("<html>\n<body>\n<h1>A</h1>\n\n<p>one\ntwo\n\n</p>\n<p>three</p>\n");
  EXPECT_EQ(made.text, "# A\n\none two\n\nthree\n");
  ASSERT_EQ(made.source_lines.size(), 5u);
  EXPECT_EQ(made.source_lines[0], 3u);
  EXPECT_EQ(made.source_lines[2], 5u);
  EXPECT_EQ(made.source_lines[4], 9u);
}

TEST(html, lines_of_the_source_increase_where_the_tree_has_another_order) {
  const auto made = render_html("<table>\n<tr><td>one\n<tr><td>two\nlast</td></tr>moved\n</table>\n<p>end");
  EXPECT_EQ(made.text, "moved\n\none\ntwo last\n\nend\n");
  EXPECT_EQ(made.source_lines, (std::vector<std::size_t>{2, 2, 2, 3, 6, 6}));
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

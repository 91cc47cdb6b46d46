/// Secrets in documents.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

// Put together, so that this file has none.
const std::string token = std::string("gh") + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a";

struct secrets_of_documents : served_documents {};

TEST_F(secrets_of_documents, are_masked_before_sections_titles_and_outlines_are_cut_out) {
  write("a.md", "# Use " + token + "\n\nWith " + token + " it works.\n\n## Part\n\n" + token + "\n");
  const auto from = serve();
  for (const auto* query : {"", "?section=part", "?format=outline", "?format=json", "?format=original"}) {
    EXPECT_THAT(text_at(*from, "docs://book/a.md" + std::string(query)), Not(HasSubstr(token.substr(8)))) << query;
  }
  const auto entry = entry_at(*from, "docs://book/a.md");
  EXPECT_THAT(entry.title + entry.description, Not(HasSubstr(token.substr(8))));
  EXPECT_THAT(text_at(*from, "docs://book/"), Not(HasSubstr(token.substr(8))));
  EXPECT_EQ(fact_of(read(*from, "docs://book/a.md")->contents.front().metadata, "redacted"), "3");
  EXPECT_EQ(from->traits().masking, secret_masking::by_source);
  // A document that is UTF-8 text is still one content.
  EXPECT_EQ(original_at(*from, "docs://book/a.md"), "none");
}

TEST_F(secrets_of_documents, leave_masks_that_people_see_in_titles_descriptions_and_outlines) {
  write("a.md", "# Use " + token + "\n\nWith **" + token + "** it works, *really*.\n");
  const auto from = serve();
  const auto entry = entry_at(*from, "docs://book/a.md");
  EXPECT_THAT(entry.title, MatchesRegex("Use .*[*]{20,}"));
  EXPECT_THAT(entry.description, MatchesRegex("With .*[*]{20,} it works, really\\."));
  for (const auto* query : {"docs://book/", "docs://book/a.md?format=outline", "docs://book/a.md?format=json"}) {
    EXPECT_THAT(text_at(*from, query), HasSubstr(std::string(20, '*'))) << query;
  }
}

TEST_F(secrets_of_documents, that_tags_split_are_masked_in_the_text_and_the_file_is_not_given) {
  write("a.html", "<h1>Doc</h1><p>" + token.substr(0, 12) + "<b>" + token.substr(12) + "</b></p>");
  const auto from = serve();
  EXPECT_THAT(text_at(*from, "docs://book/a.html"), Not(HasSubstr(token.substr(12))));
  EXPECT_EQ(original_at(*from, "docs://book/a.html"), "none");
  EXPECT_EQ(error_at(*from, "docs://book/a.html?format=original"), errc::unsupported);
}

TEST_F(secrets_of_documents, in_the_text_keep_the_file_back_also_where_as_many_are_found_in_its_bytes) {
  // One stands in a comment, which the text does not have, and one is split in the text: counts alone would be even.
  write("a.html", "<!-- " + token + " --><h1>Doc</h1><p>" + token.substr(0, 12) + "<b>" + token.substr(12) + "</b></p>");
  write("b.html", "<h1>Doc</h1><p>" + token + "</p>");
  write("spec.pdf", "%PDF-1.7\n" + token + "\n\f");
  const auto from = serve_rendered();
  for (const auto* name : {"a.html", "b.html", "spec.pdf"}) {
    const auto uri = "docs://book/" + std::string(name);
    EXPECT_EQ(original_at(*from, uri), "none") << name;
    EXPECT_THAT(text_at(*from, uri + "?format=original"), HasSubstr("is withheld")) << name;
    EXPECT_EQ(error_at(*from, uri + "?format=original"), errc::unsupported) << name;
    // Who reads the text is told why there is no file beside it, and not where it would be.
    const auto facts = read(*from, uri)->contents.front().metadata;
    EXPECT_THAT(fact_of(facts, "originalWithheld"), HasSubstr("secrets")) << name;
    EXPECT_EQ(fact_of(facts, "original"), "") << name;
  }
}

TEST_F(secrets_of_documents, put_together_in_hidden_text_keep_the_file_back) {
  const auto front = token.substr(0, 12);
  const auto back = token.substr(12);
  const auto angles = std::string(100, '<');
  write("tags.html", "<p>Shown</p><p hidden>" + angles + ' ' + front + "<b>" + back + "</b></p>");
  write("comment.html", "<p>Shown</p><!-- " + front + "<b>" + back + "</b> -->");
  write("unseen.html", "<p>Shown</p><p hidden>" + front + "\u200b" + back + "</p>");
  write("entity.html", "<p>Shown</p><p hidden>" + front + "&shy;" + back + "</p>");
  write("good.html", "<p>Shown</p><p hidden>a<b>b</b> 1 < 2</p>");
  const auto from = serve();
  for (const auto* name : {"tags.html", "comment.html", "unseen.html", "entity.html"}) {
    EXPECT_EQ(error_at(*from, "docs://book/" + std::string(name) + "?format=original"), errc::unsupported) << name;
  }
  EXPECT_THAT(text_at(*from, "docs://book/good.html?format=original"), HasSubstr("1 < 2"));
}

TEST_F(secrets_of_documents, beside_the_text_of_a_file_keep_it_back_and_are_not_counted_in_the_text) {
  write("a.docx", "PK\nbeside: " + token + "\nText\n");
  write("b.docx", "PK\nbeside: a header\nText\n");
  const auto from = serve_rendered();
  EXPECT_EQ(text_at(*from, "docs://book/a.docx"), "Text\n");
  const auto facts = read(*from, "docs://book/a.docx")->contents.front().metadata;
  EXPECT_EQ(fact_of(facts, "redacted"), "");
  EXPECT_THAT(fact_of(facts, "originalWithheld"), HasSubstr("headers"));
  EXPECT_EQ(error_at(*from, "docs://book/a.docx?format=original"), errc::unsupported);
  EXPECT_THAT(original_at(*from, "docs://book/b.docx"), HasSubstr("a header"));
}

TEST_F(secrets_of_documents, could_be_in_what_cannot_be_rendered_or_not_whole_which_is_not_given) {
  write("locked.pdf", "%PDF-1.7\nENCRYPTED\n");
  write("broken.docx", "PK\nBROKEN\n");
  write("long.pdf", "%PDF-1.7\nCUT here\n\f");
  write("noise.txt", std::string("\0\1\2\xff\xfe\0\0\0\3\x80", 10));
  const auto from = serve_rendered();
  for (const auto* name : {"locked.pdf", "broken.docx", "long.pdf", "noise.txt"}) {
    const auto uri = "docs://book/" + std::string(name) + "?format=original";
    EXPECT_EQ(error_at(*from, uri), errc::unsupported) << name;
    EXPECT_THAT(text_at(*from, uri), HasSubstr("is withheld, because it may contain secrets")) << name;
  }
  EXPECT_EQ(original_at(*from, "docs://book/long.pdf"), "none");
  EXPECT_THAT(text_at(*from, "docs://book/locked.pdf?format=original"), HasSubstr("encrypted"));
  // Nor where nothing renders at all.
  EXPECT_EQ(error_at(*serve(), "docs://book/long.pdf?format=original"), errc::unsupported);
  paper->missing = "there is no pdftotext; install poppler-utils";
  EXPECT_THAT(text_at(*serve_rendered(), "docs://book/long.pdf?format=original"), HasSubstr("install poppler-utils"));
}

TEST_F(secrets_of_documents, in_titles_of_files_are_masked_and_keep_the_file_back) {
  write("spec.pdf", "%PDF-1.7\ntitle: Key " + token + "\none\n\f");
  const auto from = serve_rendered();
  EXPECT_EQ(original_at(*from, "docs://book/spec.pdf"), "none");
  EXPECT_EQ(error_at(*from, "docs://book/spec.pdf?format=original"), errc::unsupported);
  EXPECT_THAT(entry_at(*from, "docs://book/spec.pdf").title, Not(HasSubstr(token.substr(8))));
  EXPECT_THAT(entry_at(*from, "docs://book/spec.pdf").title, HasSubstr("Key"));
}

TEST_F(secrets_of_documents, that_marks_and_escapes_split_are_masked_in_titles_headings_and_outlines) {
  const auto split = token.substr(0, 10) + "**" + token.substr(10, 6) + "**" + token.substr(16);
  write("a.md", "---\ndescription: \"" + token.substr(0, 10) + "\\\n  " + token.substr(10) + "\"\n---\n# Use " + split +
                    "\n\n[x " + split + "](b.md)\n");
  const auto from = serve();
  const auto entry = entry_at(*from, "docs://book/a.md");
  EXPECT_THAT(entry.title + entry.description, Not(HasSubstr(token.substr(16))));
  for (const auto* query : {"?format=outline", "?format=json"}) {
    EXPECT_THAT(text_at(*from, "docs://book/a.md" + std::string(query)), Not(HasSubstr(token))) << query;
  }
}

TEST_F(secrets_of_documents, written_with_entities_in_what_html_does_not_show_keep_the_file_back) {
  write("a.html", "<h1>Doc</h1><p title=\"&#103;" + token.substr(1) + "\">x</p>");
  write("b.html", "<h1>Doc</h1><!-- " + token + " --><p>x</p>");
  const auto from = serve();
  EXPECT_EQ(error_at(*from, "docs://book/a.html?format=original"), errc::unsupported);
  const auto masked = text_at(*from, "docs://book/b.html?format=original");
  EXPECT_THAT(masked, HasSubstr("<h1>Doc</h1>"));
  EXPECT_THAT(masked, Not(HasSubstr(token.substr(8))));
}

TEST_F(secrets_of_documents, in_links_of_html_are_masked) {
  write("a.html", "<h1>Doc</h1><a href=\"https://bob:" + token + "@example.org/\">x</a>");
  const auto from = serve();
  EXPECT_THAT(text_at(*from, "docs://book/a.html?format=json"), Not(HasSubstr(token.substr(8))));
}

TEST_F(secrets_of_documents, stay_where_the_configuration_says_so) {
  write("a.md", "# A\n\n" + token + "\n");
  auto how = plain_options();
  how.redact = false;
  const auto from = serve(how);
  EXPECT_THAT(text_at(*from, "docs://book/a.md"), HasSubstr(token));
  EXPECT_EQ(from->traits().masking, secret_masking::none);
}

}  // namespace
}  // namespace hondana::docs

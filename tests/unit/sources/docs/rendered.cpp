/// HTML, PDF and Office files.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

struct rendered_documents : served_documents {};

TEST_F(rendered_documents, of_html_never_have_the_script) {
  const std::string page =
      "<!doctype html><html lang=\"ja\"><head><title>題</title><script>steal()</script><style>p{}</style></head><body>"
      "<h1>見出し</h1><p onclick=\"evil()\">本文<script>steal()</script></p><noscript>x</noscript>"
      "<a href=\"javascript:evil()\">go</a><img src=x onerror=evil()><svg onload=evil()></svg></body></html>";
  write("page.html", page);
  const auto from = serve();
  const auto text = text_at(*from, "docs://book/page.html");
  EXPECT_THAT(text, HasSubstr("本文"));
  for (const auto* word : {"steal", "evil", "<script", "onclick", "<p"}) EXPECT_THAT(text, Not(HasSubstr(word))) << word;
  const auto entry = entry_at(*from, "docs://book/page.html");
  EXPECT_EQ(entry.mime_type, "text/markdown");
  EXPECT_EQ(fact_of(entry.metadata, "lang"), "ja");
  EXPECT_EQ(fact_of(entry.metadata, "originalType"), "text/html");
  // The original is what it is, as a blob under a URI of its own.
  EXPECT_EQ(original_at(*from, "docs://book/page.html"), page);
  const auto file = read(*from, "docs://book/page.html")->contents[1];
  EXPECT_EQ(file.uri, "docs://book/page.html?format=original");
  EXPECT_EQ(file.mime_type, "text/html; charset=UTF-8");
  EXPECT_THAT(text_at(*from, "docs://book/page.html?format=json"), Not(HasSubstr("evil")));
}

TEST_F(rendered_documents, are_text_with_pages_and_the_file_beside_it) {
  const std::string file = "%PDF-1.7\ntitle: 仕様書\nfirst\n\fsecond\n\fthird\n\f";
  write("spec.pdf", file);
  const auto from = serve_rendered();
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf"), "first\n\fsecond\n\fthird\n\f");
  EXPECT_EQ(original_at(*from, "docs://book/spec.pdf"), file);
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf?pages=2-3"), "second\nthird\n");
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf?pages=3-"), "third\n");
  EXPECT_THAT(text_at(*from, "docs://book/spec.pdf?pages=4"), HasSubstr("the document has 3 pages"));
  // What was rendered for a read is known to lists from then on.
  EXPECT_EQ(entry_at(*from, "docs://book/spec.pdf").title, "仕様書");
}

TEST_F(rendered_documents, are_rendered_once_and_not_for_lists) {
  write("spec.pdf", "%PDF-1.7\none\n\f");
  settle("spec.pdf");
  const auto from = serve_rendered();
  EXPECT_EQ(entry_at(*from, "docs://book/spec.pdf").title, "spec");
  EXPECT_EQ(paper->renders, 0);
  EXPECT_THAT(surveyed(*from, true).at("spec.pdf"), HasSubstr("not rendered yet"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_at(*from, "docs://book/spec.pdf"), "one\n\f");
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf?pages=1"), "one\n");
  EXPECT_EQ(paper->renders, 1);
  write("spec.pdf", "%PDF-1.7\nother\n\f");
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf"), "other\n\f");
}

TEST_F(rendered_documents, have_their_name_for_a_title_and_say_so_until_they_are_and_their_own_with_the_first_read) {
  write("spec.pdf", "%PDF-1.7\ntitle: Known\none\n\f");
  settle("spec.pdf");
  const auto from = serve_rendered();
  const auto before = entry_at(*from, "docs://book/spec.pdf");
  EXPECT_EQ(before.title, "spec");
  EXPECT_THAT(before.metadata, Contains(Pair("dev.hondana/provisional", metadata_value(true))));
  const auto got = read(*from, "docs://book/spec.pdf");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->contents.front().title, "Known");
  const auto after = entry_at(*from, "docs://book/spec.pdf");
  EXPECT_EQ(after.title, "Known");
  EXPECT_THAT(after.metadata, Not(Contains(Key("dev.hondana/provisional"))));
}

TEST_F(rendered_documents, that_are_encrypted_or_broken_are_clear_errors_and_the_rest_works) {
  write("locked.pdf", "%PDF-1.7\nENCRYPTED\n");
  write("broken.docx", "PK\nBROKEN\n");
  write("fine.md", "# Fine\n");
  settle("broken.docx");
  const auto from = serve_rendered();
  EXPECT_EQ(text_at(*from, "docs://book/locked.pdf"), "error: The file is encrypted.");
  // Whoever may not see something is told that it is not there, which this is not.
  EXPECT_EQ(error_at(*from, "docs://book/locked.pdf"), errc::unreadable);
  EXPECT_THAT(text_at(*from, "docs://book/broken.docx"), HasSubstr("error: The file is broken."));
  EXPECT_EQ(text_at(*from, "docs://book/fine.md"), "# Fine\n");
  EXPECT_THAT(surveyed(*from, true).at("locked.pdf"), HasSubstr("The file is encrypted."));
  EXPECT_EQ(listed(*from).size(), 4u);
  // What is broken is not tried again before it changes.
  const int before = paper->renders;
  EXPECT_EQ(error_at(*from, "docs://book/broken.docx"), errc::unreadable);
  EXPECT_LE(paper->renders, before + 1);
}

TEST_F(rendered_documents, that_cannot_be_are_given_as_they_are_where_nothing_is_masked) {
  write("spec.pdf", "%PDF-1.7\none\n");
  write("locked.pdf", "%PDF-1.7\nENCRYPTED\n");
  auto how = plain_options();
  how.redact = false;
  const auto from = serve(how);
  EXPECT_EQ(error_at(*from, "docs://book/spec.pdf"), errc::unsupported);
  EXPECT_THAT(text_at(*from, "docs://book/spec.pdf"), HasSubstr("?format=original"));
  EXPECT_EQ(text_at(*from, "docs://book/spec.pdf?format=original"), "%PDF-1.7\none\n");
  how.renderer = paper;
  const auto rendering = serve(how);
  EXPECT_THAT(text_at(*rendering, "docs://book/locked.pdf"), HasSubstr("error: The file is encrypted. ?format=original"));
  EXPECT_EQ(text_at(*rendering, "docs://book/locked.pdf?format=original"), "%PDF-1.7\nENCRYPTED\n");
  paper->missing = "there is no pdftotext; install poppler-utils";
  EXPECT_THAT(text_at(*serve(how), "docs://book/spec.pdf"), HasSubstr("install poppler-utils"));
}

TEST_F(rendered_documents, come_to_be_known_behind_the_requests_and_that_is_told) {
  write("spec.pdf", "%PDF-1.7\ntitle: Known\none\n\f");
  write("locked.pdf", "%PDF-1.7\nENCRYPTED\n");
  settle("locked.pdf");
  const auto from = serve_rendered();
  const auto told = std::make_shared<recorded_changes>();
  from->set_listener(told);
  (void)listed(*from);
  ASSERT_TRUE(told->await("list"));
  EXPECT_EQ(entry_at(*from, "docs://book/spec.pdf").title, "Known");
  from->set_listener(nullptr);
}

TEST_F(rendered_documents, leave_the_original_out_where_it_does_not_fit_or_is_not_wanted) {
  const std::string file = "%PDF-1.7\none\n\f" + std::string(5000, ' ');
  write("spec.pdf", file);
  const auto from = serve_rendered();
  const auto got = read(*from, "docs://book/spec.pdf", {}, 6000);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->contents.size(), 1u);
  EXPECT_EQ(fact_of(got->contents.front().metadata, "original"), "docs://book/spec.pdf?format=original");
  auto how = plain_options();
  how.renderer = paper;
  how.originals = false;
  EXPECT_EQ(original_at(*serve(how), "docs://book/spec.pdf"), "none");
}

TEST_F(rendered_documents, come_without_the_original_for_who_may_not_read_that) {
  write("spec.pdf", "%PDF-1.7\none\n\f");
  const auto from = serve_rendered();
  const auto got = read(*from, "docs://book/spec.pdf", somebody("format=original"));
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->contents.size(), 1u);
  EXPECT_EQ(fact_of(got->contents.front().metadata, "original"), "");
  EXPECT_EQ(read(*from, "docs://book/spec.pdf", somebody("other"))->contents.size(), 2u);
}

}  // namespace
}  // namespace hondana::docs

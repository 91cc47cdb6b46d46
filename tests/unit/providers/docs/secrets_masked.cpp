/// Secrets in documents.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/providers/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
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
  EXPECT_EQ(from->masking(), masking::by_source);
  // A document that is UTF-8 text is still one content.
  EXPECT_EQ(original_at(*from, "docs://book/a.md"), "none");
}

TEST_F(secrets_of_documents, that_tags_split_are_masked_in_the_text_and_the_file_is_not_given) {
  write("a.html", "<h1>Doc</h1><p>" + token.substr(0, 12) + "<b>" + token.substr(12) + "</b></p>");
  const auto from = serve();
  EXPECT_THAT(text_at(*from, "docs://book/a.html"), Not(HasSubstr(token.substr(12))));
  EXPECT_EQ(original_at(*from, "docs://book/a.html"), "none");
  EXPECT_EQ(error_at(*from, "docs://book/a.html?format=original"), errc::access_denied);
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
  EXPECT_EQ(from->masking(), masking::none);
}

}  // namespace
}  // namespace hondana::docs

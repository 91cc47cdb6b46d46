/// URIs that mean a document and are not written as lists write them.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view signs = "!$&'()*+,;=:@";

struct spelled_documents : served_documents {};

errc error_of_children(docs_provider& from, const std::string& uri, caller_info who) {
  children_request request;
  request.caller = std::move(who);
  request.uri = uri;
  const auto got = from.children(request);
  return got ? errc{} : got.error().code;
}

TEST_F(spelled_documents, are_not_given_to_whom_rules_hide_them_under_their_listed_uris) {
  for (const char sign : signs) write(std::string("sec") + sign + "x/s.md", "# Title\n\nHidden words.\n\n## Part\n");
  write("open.md", "# Open\n");
  const auto from = serve();
  for (const char sign : signs) {
    const auto who = somebody(percent_encode(std::string(1, sign)));
    const auto folder = std::string("docs://book/sec") + sign + "x";
    for (const auto* query : {"", "?section=part", "?format=json", "?format=outline", "?format=original"}) {
      const auto uri = folder + "/s.md" + query;
      EXPECT_EQ(error_at(*from, uri, who), errc::resource_not_found) << uri;
      EXPECT_THAT(text_at(*from, uri, who), Not(testing::AnyOf(HasSubstr("Hidden"), HasSubstr("Title")))) << uri;
    }
    for (const auto* query : {"", "?format=outline", "?format=json"}) {
      EXPECT_EQ(error_at(*from, folder + query, who), errc::resource_not_found) << folder << query;
    }
    EXPECT_EQ(error_of_children(*from, folder, who), errc::resource_not_found) << folder;
    describe_request asked;
    asked.caller = who;
    for (const auto& uri : {folder, folder + "/s.md"}) {
      asked.uri = uri;
      EXPECT_FALSE(from->describe(asked)) << uri;
    }
  }
}

TEST_F(spelled_documents, are_told_their_listed_uri_to_who_may_read_them_and_given_to_local_users_without_rules) {
  write("a(1)/b,c.md", "# B\n");
  const auto from = serve();
  const auto raw = std::string("docs://book/a(1)/b,c.md");
  EXPECT_EQ(error_at(*from, raw, somebody("other")), errc::part_not_found);
  EXPECT_THAT(text_at(*from, raw, somebody("other")), HasSubstr("docs://book/a%281%29/b%2Cc.md"));
  EXPECT_EQ(text_at(*from, "docs://book/a%281%29/b%2Cc.md", somebody("other")), "# B\n");
  EXPECT_EQ(text_at(*from, "docs://book/a%281%29", somebody("other")), "docs://book/a%281%29/b%2Cc.md\n");
  caller_info local;
  local.identity = "local";
  EXPECT_EQ(text_at(*from, raw, local), "# B\n");
  EXPECT_EQ(text_at(*from, "docs://book/a(1)", local), "docs://book/a%281%29/b%2Cc.md\n");
  EXPECT_EQ(error_of_children(*from, "docs://book/a(1)", local), errc{});
  // What is completed leads to the listed form.
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "a(", {}, somebody("other")),
              testing::ElementsAre("a%281%29/b%2Cc.md"));
}

TEST_F(spelled_documents, with_an_empty_parameter_are_refused_since_rules_would_not_know_them) {
  write("a.html", "<p>Text</p>");
  const auto from = serve();
  for (const auto* query : {"?format=original&", "?&format=original", "?format=original&&", "?section=x&", "?&",
                            "?format=original&section=", "?section=&format=original"}) {
    EXPECT_EQ(error_at(*from, std::string("docs://book/a.html") + query), errc::invalid_argument) << query;
  }
}

}  // namespace
}  // namespace hondana::docs

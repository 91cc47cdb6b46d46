/// What servers mean by one code.
#include "app/cli/verbs/typed_words.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

/// What a server without our names of reasons means.
errc meaning(const std::string& uri, const std::string& message, std::int64_t code = -32602, bool names_reasons = false,
             value data = {}) {
  auto answer = std::make_shared<rpc_error>();
  answer->code = code;
  answer->message = message;
  answer->data = std::move(data);
  return explain_read_error(uri, {errc::resource_not_found, "the server answered: " + message, {}, answer}, names_reasons).code;
}

TEST(why_not_read, follows_the_words_of_a_server_that_names_no_reason) {
  EXPECT_EQ(meaning("memo:///a", "Resource not found"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a?lines=1", "Resource not found"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "No such memo"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "There is no memo a"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "anything", -32002), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "anything", -32602, false, value::object{{"uri", "memo:///a"}}), errc::resource_not_found);
  EXPECT_EQ(meaning("search:///?q=x&limit=99", "limit=99: expected a whole number from 1 to 50."), errc::invalid_argument);
  EXPECT_EQ(meaning("file:///a?lines=9-2", "lines=9-2: expected FIRST-LAST, FIRST- or FIRST."), errc::invalid_argument);
  EXPECT_EQ(meaning("docs://d/a.pdf", "The file is encrypted"), errc::server_error);
  EXPECT_EQ(meaning("memo:///a%zz", "Resource not found"), errc::invalid_argument) << "which is malformed";
}

TEST(why_not_read, ignores_the_words_of_our_own_servers) {
  const auto ours = [](const std::string& message, value data = {}) {
    return meaning("memo:///a", message, -32602, true, std::move(data));
  };
  EXPECT_EQ(ours("Resource not found", value::object{{"uri", "memo:///a"}}), errc::resource_not_found);
  EXPECT_EQ(ours("There is no parameter x"), errc::invalid_argument);
  EXPECT_EQ(ours("This is not found in a book"), errc::invalid_argument);
}

TEST(as_listed, a_typed_uri_is_canonical_where_the_server_lists_in_our_dialect_and_else_as_it_was_typed) {
  server_description ours;
  ours.has_versions = true;
  EXPECT_EQ(to_listed_uri(ours, "gdrive:///id?sheet=給与"), "gdrive:///id?sheet=%E7%B5%A6%E4%B8%8E");
  EXPECT_EQ(to_listed_uri(ours, "gdrive:///id?sheet=%e7%b5%a6%E4%B8%8E"), "gdrive:///id?sheet=%E7%B5%A6%E4%B8%8E");
  const auto malformed = to_listed_uri(ours, "docs://manual/50% off");
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().code, errc::invalid_argument);
  EXPECT_TRUE(malformed.error().public_text.starts_with("\"docs://manual/50% off\" is malformed: "))
      << malformed.error().public_text;
  EXPECT_EQ(to_listed_uri({}, "memo://本/A b"), "memo://本/A b");
}

TEST(beginning_as_listed, takes_letters_of_any_language_blanks_and_what_is_cut_within_an_escape) {
  EXPECT_EQ(to_listed_prefix("file:///棚/a b{1}"), "file:///%E6%A3%9A/a%20b%7B1%7D");
  EXPECT_EQ(to_listed_prefix("FILE:///%e6%a3%9a/%61"), "file:///%E6%A3%9A/a");
  EXPECT_EQ(to_listed_prefix("docs://a/%e6%a"), "docs://a/%E6%A");
  EXPECT_EQ(to_listed_prefix("docs://a/50%"), "docs://a/50%");
  for (const auto* whole : {"docs", "git+x", "docs:", "docs://", "docs://manual/a(1)", "x:a?b=%25"})
    EXPECT_EQ(to_listed_prefix(whole), whole);
}

TEST(beginning_as_listed, refuses_what_no_uri_begins_with) {
  for (const auto* typed :
       {"", " ", ":", "manual/a(1)", "/home", "1x", "設備", "docs /", "docs://manual/50% off", "x:%zz", "x:a%%", "x:%00"}) {
    const auto got = to_listed_prefix(typed);
    ASSERT_FALSE(got) << typed;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_TRUE(got.error().public_text.starts_with("expected a URI or its beginning, as `hondana ls` prints it, not \"" +
                                                    std::string(typed) + '"'))
        << got.error().public_text;
  }
  EXPECT_TRUE(to_listed_prefix("x:50% off").error().public_text.ends_with(": write a percent sign in a URI as %25."));
}

received_content kept(value::object meta) {
  received_content out;
  out.meta = value(std::move(meta));
  return out;
}

TEST(told_of_kept, names_the_age_of_the_oldest_content_that_was_kept) {
  const std::string what = "offline: the server cannot reach the source now; this is its cached copy";
  const auto aged = [](std::int64_t seconds) {
    return kept({{"dev.hondana/offline", true}, {"dev.hondana/ageSeconds", seconds}});
  };
  EXPECT_EQ(cached_notice({aged(30), aged(7300)}), what + ", last confirmed 2 h ago");
  EXPECT_EQ(cached_notice({kept({{"dev.hondana/offline", true}})}), what);
  EXPECT_EQ(cached_notice({aged(-1)}), what);
  EXPECT_EQ(cached_notice({kept({{"dev.hondana/offline", false}, {"dev.hondana/ageSeconds", 5}})}), "");
  EXPECT_EQ(cached_notice({kept({{"dev.hondana/offline", "yes"}}), received_content{}}), "");
}

}  // namespace
}  // namespace hondana::cli

/// Filters from JSON: what they mean, and the names of what is wrong with them.
#include "protocol/wire/versioned_resources.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "base/json/reader.hpp"

namespace hondana::wire::versioned {
namespace {

using std::chrono::milliseconds;

json::decoded<model::resource_filter> read(const std::string& text) {
  const auto document = json::document::parse(text);
  if (!document) return tl::unexpected(json::member_error{"", "no JSON: " + document.error().message});
  return parse_filter(*document->root().as_object("params.filter"));
}

TEST(a_filter, says_what_it_was_told) {
  const auto filter = read(
      R"({"uriPrefix":"a:","uriPattern":"a:**","namePattern":"[!x]?","mimeType":"Text/*","kind":"k","audience":"assistant",)"
      R"("minPriority":0,"modifiedSince":"1970-01-02","text":"a b"})");
  ASSERT_TRUE(filter) << filter.error().text();
  EXPECT_EQ(filter->uri_prefix, "a:");
  EXPECT_EQ(filter->uri_pattern, "a:**");
  EXPECT_EQ(filter->name_pattern, "[!x]?");
  EXPECT_EQ(filter->mime_type, "text/");
  EXPECT_EQ(filter->kind, "k");
  EXPECT_EQ(filter->audience, chat_role::assistant);
  EXPECT_EQ(filter->min_priority, 0);
  EXPECT_EQ(filter->modified_since->time_since_epoch(), std::chrono::hours(24));
  EXPECT_EQ(filter->text, "a b");
  EXPECT_EQ(*read("{}"), model::resource_filter{});
}

TEST(a_filter, that_is_wrong_names_its_member) {
  const auto error = [](const std::string& text) { return read(text).error().path; };
  EXPECT_EQ(error(R"({"kind":"a","kind":"b"})"), "params.filter.kind");
  EXPECT_EQ(error(R"({"URIPREFIX":"a"})"), "params.filter.URIPREFIX");
  EXPECT_EQ(error(R"({")" + std::string(5000, 'x') + R"(":1})").size(), 114u);
  EXPECT_EQ(error(R"({"uriPattern":")" + std::string(257, 'x') + R"("})"), "params.filter.uriPattern");
  EXPECT_EQ(error(R"({"uriPrefix":")" + std::string(16385, 'x') + R"("})"), "params.filter.uriPrefix");
  EXPECT_EQ(error(R"({"uriPrefix":"本"})"), "params.filter.uriPrefix");
  for (const auto* type : {"text/", "/plain", "text/*x", "te*/x", "a/b/c", "text/plain; charset=utf-8", "text plain/x"}) {
    EXPECT_EQ(error(R"({"mimeType":")" + std::string(type) + R"("})"), "params.filter.mimeType") << type;
  }
  for (const auto* number : {"-0.1", "1.1", "1e300", "null", "\"1\""}) {
    EXPECT_EQ(error(R"({"minPriority":)" + std::string(number) + "}"), "params.filter.minPriority") << number;
  }
}

TEST(a_time, is_a_date_or_a_date_with_time_and_offset) {
  const auto at = [](std::string_view text) { return parse_time(text).value().time_since_epoch(); };
  EXPECT_EQ(at("1970-01-01"), milliseconds(0));
  EXPECT_EQ(at("1970-01-01T00:00:01Z"), milliseconds(1000));
  EXPECT_EQ(at("1970-01-01t00:00:01.5z"), milliseconds(1500));
  EXPECT_EQ(at("1970-01-01T09:00:00+09:00"), milliseconds(0));
  EXPECT_EQ(at("1969-12-31T19:30:00-04:30"), milliseconds(0));
  EXPECT_EQ(at("1970-01-01T00:00:00.123456789Z"), milliseconds(123));
  EXPECT_EQ(at("2024-02-29"), std::chrono::sys_days(std::chrono::year(2024) / 2 / 29).time_since_epoch());
}

TEST(a_time, is_nothing_else) {
  for (const auto* text : {"", "1970", "1970-1-1", "1970-13-01", "1970-02-29", "1970-01-01T", "1970-01-01T00:00Z",
                           "1970-01-01T00:00:00", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z",
                           "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00+9:00",
                           "1970-01-01T00:00:00+09:00x", "1970-01-01 00:00:00Z", "+1970-01-01", "yesterday"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

}  // namespace
}  // namespace hondana::wire::versioned

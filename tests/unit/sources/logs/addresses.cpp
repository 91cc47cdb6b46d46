/// URIs of logs.
#include "sources/logs/address.hpp"

#include <string>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "sources/logs/catalog_entries.hpp"
#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

log_address read_address(const std::string& uri) {
  auto got = parse_address(uri, noon);
  EXPECT_TRUE(got) << uri << ": " << (got ? "" : got.error().public_text);
  return got ? *got : log_address{};
}

failure address_error(const std::string& uri) {
  const auto got = parse_address(uri, noon);
  EXPECT_FALSE(got) << uri;
  return got ? failure{} : got.error();
}

}  // namespace

TEST(log_addresses, parameters_are_read_in_any_order_and_empty_ones_are_none) {
  const auto at =
      read_address("log://app/?level=ERR&since=1h&grep=time%20out&lines=7&until=&cursor=abc&format=json&field=a.b:1");
  EXPECT_EQ(at.name, "app");
  EXPECT_FALSE(at.is_summary);
  EXPECT_TRUE(at.is_json);
  EXPECT_TRUE(at.is_relative);
  EXPECT_EQ(at.query.since, noon - hour);
  EXPECT_FALSE(at.query.until);
  EXPECT_EQ(at.query.min_level, records::severity::error);
  EXPECT_EQ(at.query.grep, "time out");
  EXPECT_EQ(at.lines, 7U);
  EXPECT_EQ(at.query.cursor, "abc");
  ASSERT_EQ(at.query.fields.size(), 1U);
  EXPECT_EQ(at.query.fields[0], std::pair(std::string("a.b"), std::string("1")));
}

TEST(log_addresses, fields_come_with_commas_or_again_and_escaped_commas_belong_to_values) {
  const auto at = read_address("log://app/?field=user=a%2Cb,http.status:500&field=url:http://x/%3Fa=b");
  ASSERT_EQ(at.query.fields.size(), 3U);
  EXPECT_EQ(at.query.fields[0], std::pair(std::string("user"), std::string("a,b")));
  EXPECT_EQ(at.query.fields[1], std::pair(std::string("http.status"), std::string("500")));
  EXPECT_EQ(at.query.fields[2], std::pair(std::string("url"), std::string("http://x/?a=b")));
}

TEST(log_addresses, wrong_values_name_their_parameter_and_what_would_be_right) {
  const auto is = [](const std::string& uri, const std::string& text) {
    const auto why = address_error(uri);
    EXPECT_EQ(why.code, errc::invalid_argument) << uri;
    EXPECT_EQ(why.public_text, text);
  };
  is("log://app/?lines=0", "lines=0: expected a whole number from 1 to 10000.");
  is("log://app/?lines=10001", "lines=10001: expected a whole number from 1 to 10000.");
  is("log://app/?lines=-1", "lines=-1: expected a whole number from 1 to 10000.");
  is("log://app/?lines=9x", "lines=9x: expected a whole number from 1 to 10000.");
  is("log://app/?level=loud", "level=loud: unknown value; known: trace, debug, info, notice, warning, error, critical.");
  is("log://app/?format=markdown", "format=markdown: unknown value; known: text, json.");
  is("log://app/summary?format=text", "format=text: unknown value; known: markdown, json.");
  is("log://app/?field=x", "field: expected the path of a member and its value, such as http.status:500.");
  is("log://app/?field=:x", "field: expected the path of a member and its value, such as http.status:500.");
  is("log://app/?grep=a&grep=b", "grep: given more than once. Give it once.");
  is("log://app/?since=1h&until=2h", "until: it is not after since. Give a later time, or leave it out.");
  is("log://app/?grep=%FF", "grep: the value is not valid UTF-8 or contains a NUL.");
  is("log://app/?grep=%zz",
     "grep: the value has a broken percent-escape. Write % and two hexadecimal digits, and a percent sign itself as %25.");
  std::string many = "log://app/?field=a:1";
  for (int i = 0; i < 16; ++i) many += ",a:1";
  is(many, "field: more than 16 values.");
}

TEST(log_addresses, what_there_is_not_is_not_found_and_parameters_are_named) {
  for (const auto* uri :
       {"log://app", "log://app/x", "log://app/summary/", "log://APP/", "log:///", "log://app/#x", "file:///a"})
    EXPECT_EQ(address_error(uri).code, errc::resource_not_found) << uri;
  EXPECT_EQ(address_error("log://app/?tail=5").code, errc::invalid_argument);
  EXPECT_EQ(address_error("log://app/summary?level=error").code, errc::invalid_argument);
  EXPECT_EQ(address_error("log://app/?tail=5").public_text,
            "unknown parameter \"tail\"; log://NAME/ knows: since, until, level, grep, field, lines, cursor, format.");
  EXPECT_EQ(address_error("log://app/summary?lines=5").public_text,
            "unknown parameter \"lines\"; log://NAME/summary knows: since, until, format.");
}

TEST(log_addresses, what_is_written_is_read_back_with_times_that_stand_still) {
  const std::string uri =
      "log://app/?since=1h&until=now&level=warn&grep=a%26b%25&field=a:b%2Cc,d:e%3Af&lines=5&cursor=x.y%3D&format=json";
  const auto at = read_address(uri);
  const auto written = to_uri(at);
  EXPECT_EQ(
      written,
      "log://app/?since=2026-01-31T11%3A00%3A00Z&until=2026-01-31T12%3A00%3A00Z&level=warning&grep=a%26b%25&field=a%3Ab%2Cc,d%"
      "3Ae%3Af&lines=5&cursor=x.y%3D&format=json");
  EXPECT_EQ(canonical_uri(written).value(), written);
  const auto again = read_address(written);
  EXPECT_FALSE(again.is_relative);
  EXPECT_EQ(again.query.fields, at.query.fields);
  EXPECT_EQ(again.query.grep, at.query.grep);
  EXPECT_EQ(again.query.since, at.query.since);
  EXPECT_EQ(to_uri(again), written);
}

TEST(log_addresses, templates_match_what_is_written) {
  for (const auto& one : make_templates("app")) {
    const auto compiled = uri_template::compile(one.uri_template);
    ASSERT_TRUE(compiled) << one.uri_template;
    EXPECT_TRUE(compiled->match(one.uri_template.find("summary") == std::string::npos ? "log://app/" : "log://app/summary"));
  }
  const auto page = uri_template::compile(make_templates("app").front().uri_template).value();
  uri_template_values values{{"field", std::string("a:b,c")}, {"grep", std::string("x y")}, {"since", std::string("1h")}};
  const auto uri = page.expand(values).value();
  const auto at = read_address(canonical_uri(uri).value());
  ASSERT_EQ(at.query.fields.size(), 1U);
  EXPECT_EQ(at.query.fields[0].second, "b,c");
  EXPECT_EQ(at.query.grep, "x y");
  values["field"] = std::vector<std::string>{"a:b", "c:d"};
  EXPECT_EQ(read_address(canonical_uri(page.expand(values).value()).value()).query.fields.size(), 2U);
}

}  // namespace hondana::logs

/// JSON values: parsing, writing, looking up, comparing.
#include <gtest/gtest.h>

#include <limits>

#include <hondana/value.hpp>

namespace hondana {
namespace {

value parsed(std::string_view text) {
  auto read = value::parse(text);
  EXPECT_TRUE(read) << (read ? std::string() : read.error().public_text);
  return read.value_or(value());
}

TEST(value, keeps_the_order_and_the_kinds_of_what_it_reads) {
  const std::string text = R"({"z":1,"a":[true,null,1.5,1.0,"x"],"m":{"k":-9223372036854775808}})";
  EXPECT_EQ(parsed(text).to_text(), text);
  EXPECT_EQ(parsed(R"({"b":1,"a":{"d":1,"c":2}})").to_canonical_text(), R"({"a":{"c":2,"d":1},"b":1})");
}

TEST(value, equality_is_that_of_json) {
  EXPECT_EQ(parsed("1"), parsed("1.0"));
  EXPECT_EQ(parsed(R"({"a":1,"b":2})"), parsed(R"({"b":2,"a":1.0})"));
  EXPECT_FALSE(parsed("9007199254740993") == parsed("9007199254740992"));
  EXPECT_FALSE(parsed("0") == parsed("false"));
  EXPECT_FALSE(parsed("[1,2]") == parsed("[2,1]"));
}

TEST(value, lookups_name_the_path_of_what_is_missing_or_wrong) {
  const auto from = parsed(R"({"city":"Oslo","days":[1,2],"a/b":{"c":true}})");
  EXPECT_EQ(from.string_at("city").value(), "Oslo");
  EXPECT_EQ(from.integer_at("/days/1").value(), 2);
  EXPECT_TRUE(from.boolean_at("/a~1b/c").value());
  EXPECT_EQ(from.string_at("town").error().public_text, "town: missing");
  EXPECT_EQ(from.integer_at("city").error().public_text, "city: expected an integer of 64 bits, got a string");
  EXPECT_EQ(from.integer_at("/days/01").error().public_text, "/days/01: missing");
}

TEST(value, integers_are_numbers_without_a_fraction_that_fit) {
  EXPECT_EQ(value(3.0).as_integer(), 3);
  EXPECT_FALSE(value(3.5).as_integer());
  EXPECT_FALSE(value(1e300).as_integer());
  EXPECT_FALSE(value(std::numeric_limits<std::uint64_t>::max()).as_integer());
  EXPECT_EQ(value(std::numeric_limits<double>::infinity()).to_text(), "null");
}

TEST(value, twice_the_same_member_is_refused_by_its_path) {
  const auto read = value::parse(R"({"a":[0,{"b":1,"b":2}]})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().public_text, "a[1].b: occurs twice");
}

TEST(value, a_text_beyond_its_caps_is_refused) {
  EXPECT_FALSE(value::parse("[1,2,3]", {.max_bytes = 6, .max_values = 100}));
  EXPECT_FALSE(value::parse("[1,2,3]", {.max_bytes = 100, .max_values = 3}));
  EXPECT_TRUE(value::parse("[1,2,3]", {.max_bytes = 7, .max_values = 4}));
  EXPECT_FALSE(value::parse(std::string(200, '[') + std::string(200, ']')));
}

}  // namespace
}  // namespace hondana

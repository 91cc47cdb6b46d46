/// What a schema says about misfits, and what it refuses to compile.
#include <gtest/gtest.h>

#include <string>

#include "protocol/schema/schema.hpp"

namespace hondana::schema {
namespace {

std::string misfit(std::string_view document, std::string_view instance) {
  const auto compiled = schema::compile(value::parse(document).value());
  if (!compiled) return "refused: " + compiled.error().public_text;
  const auto found = compiled->validate(value::parse(instance).value());
  return found ? found->text() : "fits";
}

std::string refusal(std::string_view document) {
  const auto compiled = schema::compile(value::parse(document).value());
  return compiled ? "taken" : compiled.error().public_text;
}

TEST(schema, a_misfit_names_its_place_in_the_instance) {
  constexpr auto trip =
      R"({"type":"object","properties":{"stops":{"type":"array","items":{"type":"object","properties":{"days":{"type":"integer","minimum":1}},"required":["days"]}}},"additionalProperties":false})";
  EXPECT_EQ(misfit(trip, R"({"stops":[{"days":1},{"days":0}]})"), "stops[1].days: expected a number at least 1");
  EXPECT_EQ(misfit(trip, R"({"stops":[{}]})"), "stops[0]: the member \"days\" is missing");
  EXPECT_EQ(misfit(trip, R"({"stop":[]})"), "unknown member \"stop\"");
  EXPECT_EQ(misfit(trip, R"({"stops":[{"days":1.0}]})"), "fits");
  EXPECT_EQ(misfit(R"({"type":["string","null"]})", "7"), "expected null or a string, got an integer");
  EXPECT_EQ(misfit(R"({"enum":["a","b"]})", R"("c")"), R"(expected one of ["a","b"])");
}

TEST(schema, nothing_is_ever_fetched) {
  EXPECT_EQ(refusal(R"({"properties":{"a":{"$ref":"https://example.com/a.json"}}})"),
            "/properties/a/$ref: refers to https://example.com/a.json, which is not in this document. Schemas are never "
            "fetched: put it below $defs");
  EXPECT_EQ(refusal(R"({"$ref":"#/$defs/none"})"), "/$ref: nothing is at #/$defs/none");
  EXPECT_EQ(refusal(R"({"$ref":"#none"})"), "/$ref: unknown anchor none");
}

TEST(schema, what_is_malformed_or_of_another_dialect_is_refused) {
  EXPECT_EQ(refusal("7"), "the root: a schema must be an object or a boolean");
  EXPECT_EQ(refusal(R"({"type":"text"})"), "/type: unknown type \"text\"");
  EXPECT_EQ(refusal(R"({"maxLength":-1})"), "/maxLength: expected a whole number, 0 or above");
  EXPECT_EQ(refusal(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"),
            "/$schema: only the dialect https://json-schema.org/draft/2020-12/schema is supported");
  EXPECT_NE(refusal("{\"pattern\":\"(?=x)\"}").find("/pattern: this pattern cannot be used"), std::string::npos);
}

TEST(schema, decimal_fractions_are_multiples_as_people_count) {
  const auto cents = schema::compile(value::object{{"multipleOf", 0.01}});
  ASSERT_TRUE(cents);
  for (const double fits : {0.0, 0.07, 1.1, 4.35, 19.99, 123456789.01, -0.29}) EXPECT_FALSE(cents->validate(fits)) << fits;
  for (const double not_so : {0.001, 0.0100001, 19.995, 123456789.005}) EXPECT_TRUE(cents->validate(not_so)) << not_so;
}

TEST(schema, a_schema_that_goes_in_circles_ends) {
  EXPECT_EQ(misfit(R"({"$ref":"#"})", "1"), "checking this value takes too long");
  // Each level asks for two checks of the next: without a limit, 2^60 of them.
  std::string bomb = R"({"$defs":{"d0":{"type":"string"})";
  for (int level = 1; level <= 60; ++level) {
    const auto below = "{\"$ref\":\"#/$defs/d" + std::to_string(level - 1) + "\"}";
    bomb += ",\"d" + std::to_string(level) + "\":{\"anyOf\":[" + below + "," + below + "]}";
  }
  bomb += R"(},"$ref":"#/$defs/d60"})";
  EXPECT_EQ(misfit(bomb, "1"), "checking this value takes too long");
}

TEST(schema, a_pattern_that_would_backtrack_for_ever_elsewhere_is_linear) {
  EXPECT_NE(misfit(R"({"pattern":"^(a+)+$"})", '"' + std::string(50'000, 'a') + "b\""), "fits");
}

}  // namespace
}  // namespace hondana::schema

/// A hostile URI costs time in proportion to its length, whatever the template (CVE-2026-0621).
#include <gtest/gtest.h>

#include <cstddef>
#include <hondana/uri.hpp>
#include <string>
#include <utility>

#include "base/uri/template_matcher.hpp"
#include "unit/base/uri/template_values.hpp"

namespace {

using uri_test::list;
using uri_test::match;
using uri_test::values;

/// The work of matching `uri`, which must start with the literal prefix of `text`.
std::size_t steps(const std::string& text, const std::string& uri) {
  const auto program = hondana::uri::compile_template(hondana::uri::parse_template(text).value()).value();
  hondana::uri::template_matcher matcher(program, std::string_view(uri).substr(program.prefix.size()));
  (void)matcher.match();
  return matcher.steps();
}

std::string repeated(const std::string& unit, std::size_t times) {
  std::string out;
  out.reserve(unit.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += unit;
  return out;
}

TEST(uri_template_cost, exploded_path_against_the_published_attack) {
  const std::string attack = "/users/" + repeated("user1,user2,user3,", 10) + "userX/";
  EXPECT_EQ(match("/users{/id*}", attack), std::nullopt);
  EXPECT_LT(steps("/users{/id*}", attack), 2000U);
  EXPECT_EQ(match("/users{/id*}", "/users" + repeated("/user1", 3) + "/"),
            (values{{"id", list{"user1", "user1", "user1", ""}}}));
}

TEST(uri_template_cost, a_megabyte_is_matched_or_refused_at_once) {
  const std::string attack = "/users/" + repeated("user1,user2,user3,", 58'000) + "userX/";
  ASSERT_GT(attack.size(), 1'000'000U);
  EXPECT_EQ(match("/users{/id*}", attack), std::nullopt);

  const auto segments = match("/users{/id*}", "/users" + repeated("/u", 500'000));
  ASSERT_TRUE(segments);
  EXPECT_EQ(std::get<list>(segments->at("id")).size(), 500'000U);

  EXPECT_EQ(match("{a}-{b}-{c}-{d}-{e}x", repeated("-", 1'000'000)), std::nullopt);
  EXPECT_EQ(match("{+a}", std::string((1U << 20U) + 1, 'a')), std::nullopt) << "longer than 1 MiB";
}

TEST(uri_template_cost, doubles_with_the_length_of_the_uri) {
  const std::pair<const char*, const char*> attacks[] = {
      {"/users{/id*}", "/user1,user2,user3"},
      {"/users{/id*}x", "/user1"},
      {"{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}x", "-"},
      {"{+a}/{+b}/{+c}/{+d}!", "/"},
      {"{+a}aaaaaaaa{?b}x", "a"},
      {"{?a,b,c,m*}x", "&key=value"},
      {"{?m*}x", "a"},
      {"{;m*}x", ";a"},
      {"{;m*}x", "aaaa"},
      {"{.a*}x", ".."},
      {"{a*}{/b*}{?c*}{#d*}!", "a,"},
      {"{a:9999}x{b:9999}y", "x"},
      {"{a:50}{/b:50}x", "%E6%9C%AC"},
      {"{a}{.b}x", ".a"},
  };
  for (const auto& [text, unit] : attacks) {
    const std::string start = text[0] == '/' ? "/users" : text[1] == '?' ? "?m=" : text[1] == ';' ? ";m" : "";
    const std::size_t once = steps(text, start + repeated(unit, 4'000));
    const std::size_t twice = steps(text, start + repeated(unit, 8'000));
    EXPECT_LE(twice, 2 * once + 1000) << text;
    EXPECT_LE(once, 60 * (start.size() + 4'000 * std::string(unit).size())) << text;
  }
}

TEST(uri_template_cost, is_bounded_for_the_largest_template) {
  std::string text = "x:{v0";
  for (int i = 1; i < 250; ++i) text += ",v" + std::to_string(i);
  text += "}";
  const std::string uri = "x:" + repeated(",", 8'000);
  // Three nodes a variable, looked at once for each character.
  EXPECT_LE(steps(text, uri), 2'000U * uri.size());
  EXPECT_EQ(match(text, uri), std::nullopt);
}

}  // namespace

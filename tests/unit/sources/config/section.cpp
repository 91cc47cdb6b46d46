/// Tables of the configuration: strict reading, errors that name file, line and key.
#include "sources/config/section.hpp"

#include <array>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hondana::config {
namespace {

section parsed(std::string_view text) {
  auto made = parse_toml(text, "t.toml");
  EXPECT_TRUE(made) << (made ? "" : made.error().public_text);
  return std::move(*made);
}

TEST(section, reads_what_is_there_and_nothing_where_it_is_absent) {
  auto it = parsed("s = \"x\"\nb = true\ni = 7\nn = 0.5\nsize = \"64KiB\"\nall = [\"a\", \"b\"]\n");
  EXPECT_EQ(it.string("s").value(), "x");
  EXPECT_EQ(it.boolean("b").value(), true);
  EXPECT_EQ(it.integer("i", 0, 10).value(), 7);
  EXPECT_EQ(it.number("n", 0, 1).value(), 0.5);
  EXPECT_EQ(it.bytes("size").value(), 65536u);
  EXPECT_EQ(it.strings("all").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(it.string("absent").value(), std::nullopt);
  EXPECT_TRUE(it.strings("none").value().empty());
  EXPECT_TRUE(it.finish());
}

TEST(section, names_file_line_and_key_of_a_wrong_type) {
  auto it = parsed("\n\ns = 7\n");
  EXPECT_EQ(it.string("s").error().public_text, "t.toml:3: s: expected a string in quotes");
}

TEST(section, names_the_line_of_a_key_inside) {
  const auto it = parsed("\n[http]\nport = 1\n\n[http.tls]\ncertificate_file = \"x\"\n");
  EXPECT_EQ(it.error_at_path("http.port", "no").public_text, "t.toml:3: http.port: no");
  EXPECT_EQ(it.error_at_path("http.tls.certificate_file", "no").public_text, "t.toml:6: http.tls.certificate_file: no");
  EXPECT_EQ(it.error_at_path("http.tls.key_file", "no").public_text, "t.toml:5: http.tls.key_file: no");
  EXPECT_EQ(it.error_at_path("auth.tokens", "no").public_text, "t.toml:1: auth.tokens: no");
  EXPECT_EQ(it.error_at_path("http.port.x", "no").public_text, "t.toml:3: http.port.x: no");
}

// attacks: secrets (a key that the configuration names and a folder holds)
TEST(section, counts_certificates_that_contain_their_key_as_the_servers_own) {
  const auto it = parsed(
      "[http.tls]\ncertificate_file = \"/a/tls.crt\"\nkey_file = \"/a/tls.dat\"\n[[source]]\ncertificate_file = "
      "\"/a/both.crt\"\n"
      "ca_file = \"/a/ca.crt\"\n[[source.scrape]]\ncertificate_file = \"/a/scrape.crt\"\n[[source.scrape]]\ncertificate_file = "
      "\"/a/b.crt\"\n"
      "key_file = \"/a/b.dat\"\n");
  EXPECT_THAT(it.find_own_files(), testing::UnorderedElementsAre("/a/tls.dat", "/a/both.crt", "/a/scrape.crt", "/a/b.dat"));
}

TEST(section, names_the_bounds_of_an_integer) {
  auto it = parsed("port = 70000\n");
  EXPECT_EQ(it.integer("port", 0, 65535).error().public_text, "t.toml:1: port: expected an integer from 0 to 65535");
}

TEST(section, refuses_a_key_nobody_asked_for_and_names_the_known_ones) {
  auto it = parsed("hidden = true\nhiden = true\n");
  ASSERT_TRUE(it.boolean("hidden"));
  EXPECT_EQ(it.finish().error().public_text, "t.toml:2: hiden: unknown key; did you mean \"hidden\"? Known here: hidden");
}

TEST(section, lists_the_known_keys_if_none_is_similar) {
  auto it = parsed("hidden = true\nport = 1\n");
  ASSERT_TRUE(it.boolean("hidden"));
  ASSERT_TRUE(it.boolean("watch"));
  EXPECT_EQ(it.finish().error().public_text, "t.toml:2: port: unknown key; known here: hidden, watch");
}

TEST(section, says_which_values_a_key_has_and_which_one_is_similar) {
  const auto it = parsed("\nmode = \"requierd\"\n");
  constexpr std::array<std::string_view, 3> known{"auto", "required", "off"};
  EXPECT_EQ(it.unknown_value("mode", "requierd", known).public_text,
            "t.toml:2: mode: expected \"auto\", \"required\" or \"off\", not \"requierd\"; did you mean \"required\"?");
  EXPECT_EQ(it.unknown_value("mode", "maybe", known).public_text,
            "t.toml:2: mode: expected \"auto\", \"required\" or \"off\", not \"maybe\"");
}

TEST(section, hands_out_tables_of_an_array_with_their_lines) {
  auto it = parsed("[[source]]\ntype = \"files\"\n\n[[source]]\ntype = 4\n");
  auto all = it.sections("source");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].string("type").value(), "files");
  EXPECT_EQ((*all)[1].string("type").error().public_text, "t.toml:5: source.type: expected a string in quotes");
}

TEST(section, hands_out_a_table_of_strings_by_name) {
  auto it = parsed("headers = { \"X-B\" = \"2\", \"X-A\" = \"1\" }\nwrong = { a = 1 }\nflat = \"x\"\n");
  EXPECT_EQ(it.strings_by_name("headers").value(),
            (std::vector<std::pair<std::string, std::string>>{{"X-A", "1"}, {"X-B", "2"}}));
  EXPECT_TRUE(it.strings_by_name("absent").value().empty());
  EXPECT_EQ(it.strings_by_name("wrong").error().public_text, "t.toml:2: wrong: expected a string in quotes for \"a\"");
  EXPECT_EQ(it.strings_by_name("flat").error().public_text,
            "t.toml:3: flat: expected a table of strings, such as { name = \"text\" }");
}

TEST(section, says_the_same_wherever_it_stands) {
  auto a = parsed("[[source]]\ntype = \"files\"\nallow = [\"x\"]\n").sections("source");
  auto b = parsed("\n\n[[source]]\nallow = [\"x\"]\ntype = \"files\"\n").sections("source");
  auto c = parsed("[[source]]\ntype = \"files\"\nallow = [\"y\"]\n").sections("source");
  EXPECT_TRUE(a->front().is_equivalent_to(b->front()));
  EXPECT_FALSE(a->front().is_equivalent_to(c->front()));
}

TEST(toml, names_the_line_of_a_syntax_error) {
  const auto made = parse_toml("a = 1\nb = = 2\n", "t.toml");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().public_text.rfind("t.toml:2: ", 0), 0u) << made.error().public_text;
}

TEST(toml, refuses_dates) {
  EXPECT_EQ(parse_toml("d = 2025-01-01\n", "t.toml").error().public_text, "t.toml:1: dates and times are not supported here");
}

TEST(toml, has_characters_outside_ascii_in_strings_and_comments_only) {
  EXPECT_TRUE(parse_toml("\xEF\xBB\xBF# 本棚\na = \"本\"\nb = '棚'\n", "t.toml"));
  for (const auto* text : {"a = 1\n本 = 2\n", "\xEF\xBB\xAF", "[\n~", "a = \"x\n\xEF\xBB\xAF", "h=5B'_.'\xC3\xBB"}) {
    const auto made = parse_toml(text, "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().public_text.rfind("t.toml:", 0), 0u) << made.error().public_text;
  }
}

TEST(toml, refuses_nesting_without_end) {
  const auto made = parse_toml("a = " + std::string(200, '[') + std::string(200, ']') + "\n", "t.toml");
  ASSERT_FALSE(made);
}

TEST(parse_size, knows_binary_units_and_nothing_else) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("10 KiB"), 10240u);
  EXPECT_EQ(parse_size("1GiB"), 1073741824u);
  EXPECT_EQ(parse_size("1GB"), std::nullopt);
  EXPECT_EQ(parse_size("-1"), std::nullopt);
  EXPECT_EQ(parse_size(""), std::nullopt);
  EXPECT_EQ(parse_size("99999999999GiB"), std::nullopt);
}

}  // namespace
}  // namespace hondana::config

/// TOML as trees with places.
#include <string>

#include <gtest/gtest.h>

#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using test::told;

std::string of_toml(std::string_view text) { return told(config_format::toml, text); }

TEST(toml_tree, has_the_place_of_every_value_in_the_order_of_the_text) {
  EXPECT_EQ(of_toml("title = \"本棚\" # shelf\n"
                    "\"é\" . b = 'ü' # wide\n"
                    "[z.server]\n"
                    "port = 8_080\n"
                    "list = [ 1,\n"
                    "  2.50, # two\n"
                    "  { x = true, \"y\" = [] } ]\n"
                    "text = \"\"\"\n"
                    "one\n"
                    "two\"\"\"\n"
                    "[[a]]\n"
                    "k = 1\n"
                    "[[a]]\n"
                    "k = 2\n"
                    "[a.sub]\n"
                    "v = -0.0\n"
                    "[z.empty]\n"),
            "1 title = \"本棚\" <\"本棚\">\n"
            "2 é.b = \"ü\" <'ü'>\n"
            "4 z.server.port = 8080 <8_080>\n"
            "5 z.server.list[0] = 1 <1>\n"
            "6 z.server.list[1] = 2.5 <2.50>\n"
            "7 z.server.list[2].x = true <true>\n"
            "7 z.server.list[2].y = [] <[]>\n"
            "8 z.server.text = \"one\\ntwo\" <\"\"\"\none\ntwo\"\"\">\n"
            "17 z.empty = {} <[z.empty]>\n"
            "12 a[0].k = 1 <1>\n"
            "14 a[1].k = 2 <2>\n"
            "16 a[1].sub.v = -0.0 <-0.0>\n");
}

TEST(toml_tree, writes_times_as_texts) {
  EXPECT_EQ(of_toml("a = 1979-05-27T07:32:00Z\nb = 1979-05-27 00:32:00.999-07:00\nc = 1979-05-27\nd = 07:32:00\ne = "
                    "1979-05-27t07:32:00z"),
            "1 a = \"1979-05-27T07:32:00Z\" <1979-05-27T07:32:00Z>\n"
            "2 b = \"1979-05-27T00:32:00.999-07:00\" <1979-05-27 00:32:00.999-07:00>\n3 c = \"1979-05-27\" <1979-05-27>\n"
            "4 d = \"07:32:00\" <07:32:00>\n5 e = \"1979-05-27T07:32:00Z\" <1979-05-27t07:32:00z>\n");
  EXPECT_EQ(of_toml("a = -inf\nb = 1e3\n"),
            "1 a = \"-inf\" <-inf>\n2 b = 1000.0 <1e3>\n"
            "! line 1: infinities and NaN are not JSON numbers; the value is read as text\n");
}

TEST(toml_tree, refuses_what_is_wrong_by_its_line_and_without_its_words) {
  for (const std::string line :
       {"a = hunter2hunter2", "a = \"hunter2hunter2", "a = \"\\qhunter2hunter2\"", "a = 1 hunter2hunter2", "hunter2hunter2",
        "b.hunter2hunter2 = 1", "[b.hunter2hunter2]", "a = 1hunter2", "b = 'hunter2'"}) {
    const auto said = of_toml("b = 2\n\n" + line + "\n");
    EXPECT_EQ(said.find("hunter2"), std::string::npos) << said;
    EXPECT_TRUE(said.starts_with("failed: line 3: ") || said.starts_with("failed: line 4: ")) << said;
    EXPECT_GT(said.size(), 30u) << said;
  }
}

TEST(toml_tree, refuses_a_second_byte_order_mark) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(told(config_format::toml, mark + "a = 1\n"), "1 a = 1 <1>\n");
  EXPECT_EQ(told(config_format::toml, mark + mark + "a = 1\n"), "failed: line 1: a second byte order mark");
}

TEST(toml_tree, stops_at_its_limits) {
  std::string dots = "a";
  for (int i = 0; i < 1 << 20; ++i) dots += ".a";
  EXPECT_EQ(of_toml(dots + " = 1"), "failed: line 1: lists and tables are nested deeper than 100 levels");
  EXPECT_EQ(of_toml('[' + dots + ']'), "failed: line 1: lists and tables are nested deeper than 100 levels");
  EXPECT_EQ(of_toml("x = \"\"\"a\\\"\"\"\"\"\n" + dots + " = 1"),
            "failed: line 2: lists and tables are nested deeper than 100 levels");
  EXPECT_TRUE(of_toml("a = " + std::string(1 << 20, '[')).starts_with("failed: line 1: "));
  std::string many;
  for (int i = 0; i < 150'000; ++i) many += "k" + std::to_string(i) + ".b=1\n";
  for (int i = 0; i < 150'000; ++i) many += "k" + std::to_string(i) + ".c=1\n";
  EXPECT_EQ(of_toml(many), "failed: line 20001: more than 20000 dots in keys");
  std::string list = "a = [";
  for (int i = 0; i < 300'000; ++i) list += "0.5,";
  EXPECT_TRUE(of_toml(list + ']').find("more than 200000 values") != std::string::npos);
}

}  // namespace

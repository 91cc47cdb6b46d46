/// Tables that are replaced after they were merged, and many variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config_files/variable_layers.hpp"
#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

struct replaced_tables : served_set {};

TEST_F(replaced_tables, are_overridden_in_all_layers_that_had_a_part) {
  write("conf/1.yaml", "db: {a: 1, z: 1}\n");
  write("conf/2.yaml", "db: {a: 2}\n");
  write("conf/3.yaml", "db: 5\n");
  const auto from = serve(
      "path = \"conf\"\nwatch = false\n"
      "[[layer]]\nname = \"l1\"\nfile = \"conf/1.yaml\"\n[[layer]]\nname = \"l2\"\nfile = \"conf/2.yaml\"\n"
      "[[layer]]\nname = \"l3\"\nfile = \"conf/3.yaml\"\n");
  EXPECT_EQ(*json_at(*from, "config://conf/merged?key=db").at("/from/0/overrides"),
            json(R"([{"layer":"l2","file":"2.yaml","line":1,"value":{"a":2}},
                     {"layer":"l1","file":"1.yaml","line":1,"value":{"a":1,"z":1}}])"));
  write("conf/1.yaml", "- 1\n");
  fs::remove(root / "conf/2.yaml");
  const auto merged = json_at(*from, "config://conf/merged");
  EXPECT_EQ(*merged.at("/from/0/overrides"), json(R"([{"layer":"l1","file":"1.yaml","line":1}])"));
  fs::remove(root / "conf/3.yaml");
  EXPECT_EQ(*json_at(*from, "config://conf/merged").at("/from/0"), json(R"({"key":"","layer":"l1","file":"1.yaml","line":1})"));
}

struct many_variables : served_set {};

TEST_F(many_variables, of_a_file_are_taken_up_to_the_cap_and_remarked) {
  constexpr int lines = 100'000;
  located::document all;
  all.root.kind = located::node_kind::table;
  for (int i = 0; i < lines; ++i) {
    located::node text;
    text.kind = located::node_kind::text;
    text.text = std::to_string(i);
    all.root.members.push_back({"APP_T__K" + text.text, {}, text});
  }
  const auto file = make_values(all, all);
  const auto made = convert_environment(*file, "APP_");
  const auto* table = made->masked.root.find("t");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->members.size(), max_variables);
  EXPECT_EQ(table->members.back().key, "k" + std::to_string(max_variables - 1));
  EXPECT_THAT(made->masked.warnings, testing::ElementsAre("only the first 10000 are used"));
  EXPECT_EQ(made->raw.root.find("t")->members.size(), max_variables);
  EXPECT_EQ(convert_environment(*file, "OTHER_")->masked.root.members.size(), 0U);
}

TEST_F(many_variables, replace_tables_and_what_stands_in_their_way) {
  write("conf/app.env", "P_A=1\nP_A__B=2\nP_A__C=3\nP_D__E__F=4\nP_D__E=5\nP_D__E__G=6\n");
  const auto from =
      serve("path = \"conf\"\nwatch = false\n[[layer]]\nname = \"e\"\nenv_prefix = \"P_\"\nfile = \"conf/app.env\"\n");
  EXPECT_EQ(*json_at(*from, "config://conf/layers/e").find("value"), json(R"({"a":{"b":"2","c":"3"},"d":{"e":{"g":"6"}}})"));
  write("conf/app.env", "P_A=7\n");
  EXPECT_EQ(*json_at(*from, "config://conf/layers/e").find("value"), json(R"({"a":"7"})"));
}

struct said_besides : served_set {};

TEST_F(said_besides, makes_another_version_of_the_same_values) {
  write("conf/a.yaml", "a: 1\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  for (const auto* uri : {"config://conf/file/a.yaml?format=json", "config://conf/file/a.yaml?key=a"}) {
    replace("conf/a.yaml", "a: 1\n");
    const auto good = read(*from, uri);
    replace("conf/a.yaml", "a: 0\na: 1\n");
    const auto remarked = read(*from, uri);
    replace("conf/a.yaml", "a: 1\nb: [\n");
    const auto stale = read(*from, uri);
    ASSERT_TRUE(good && remarked && stale);
    EXPECT_NE(good->version, remarked->version) << uri;
    EXPECT_NE(good->version, stale->version) << uri;
    EXPECT_NE(remarked->version, stale->version) << uri;
    replace("conf/a.yaml", "a: 1\n");
    EXPECT_EQ(read(*from, uri)->version, good->version);
  }
}

}  // namespace
}  // namespace hondana::config_files

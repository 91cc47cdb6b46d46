/// Layers merged, by hand.
#include <stdlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config_files/config_files_provider.hpp"
#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct layered_set : served_set {
  void SetUp() override {
    write("defaults.toml",
          "title = \"app\"\n"
          "[server]\n"
          "host = \"localhost\"\n"
          "port = 80\n"
          "tags = [\"a\", \"b\"]\n"
          "[log]\n"
          "level = \"info\"\n");
    write("app.yaml",
          "server:\n"
          "  port: 8080\n"
          "  tags: [c]\n"
          "log: verbose\n");
  }
  /// With an environment of the test's own.
  std::shared_ptr<config_files_provider> serve_layers(variables environment = {{"APP_SERVER__HOST", "example.org"},
                                                                               {"APP_SERVER__PORT", "9090"},
                                                                               {"APPLE", "no"},
                                                                               {"OTHER_SERVER__PORT", "1"}}) {
    options all;
    all.name = "app";
    all.watch = false;
    all.layers = {{.name = "defaults", .file = (root / "defaults.toml").string()},
                  {.name = "site", .file = (root / "app.yaml").string()},
                  {.name = "env", .kind = layer_options::layer_kind::environment, .prefix = "APP_"},
                  {.name = "flags", .kind = layer_options::layer_kind::flags, .flags = {"--server.port=9443", "--debug"}}};
    all.environment = [environment = std::move(environment)] { return environment; };
    auto made = config_files_provider::open(std::move(all));
    EXPECT_TRUE(made) << made.error().public_text;
    return *made;
  }
};

TEST_F(layered_set, are_merged_table_by_table_with_the_place_of_each_value) {
  const auto from = serve_layers();
  const auto merged = json_at(*from, "config://app/merged");
  EXPECT_EQ(merged.find("value")->to_text(),
            R"({"title":"app","server":{"host":"example.org","port":"9443","tags":["c"]},"log":"verbose","debug":true})");
  EXPECT_EQ(*merged.find("from"), json(R"([
    {"key":"title","layer":"defaults","file":"defaults.toml","line":1},
    {"key":"server.host","layer":"env","variable":"APP_SERVER__HOST",
     "overrides":[{"layer":"defaults","file":"defaults.toml","line":3}]},
    {"key":"server.port","layer":"flags","argument":1,
     "overrides":[{"layer":"env","variable":"APP_SERVER__PORT"},{"layer":"site","file":"app.yaml","line":2},
                  {"layer":"defaults","file":"defaults.toml","line":4}]},
    {"key":"server.tags","layer":"site","file":"app.yaml","line":3,
     "overrides":[{"layer":"defaults","file":"defaults.toml","line":5}]},
    {"key":"log","layer":"site","file":"app.yaml","line":4,
     "overrides":[{"layer":"defaults","file":"defaults.toml","line":6}]},
    {"key":"debug","layer":"flags","argument":2}])"))
      << merged.find("from")->to_text();
  EXPECT_EQ(*merged.find("layers"), json(R"([
    {"layer":"defaults","kind":"file","file":"defaults.toml"},{"layer":"site","kind":"file","file":"app.yaml"},
    {"layer":"env","kind":"environment","prefix":"APP_"},{"layer":"flags","kind":"flags"}])"));
}

TEST_F(layered_set, give_one_value_with_all_it_overrides) {
  const auto from = serve_layers();
  auto one = json_at(*from, "config://app/merged?key=server.port");
  EXPECT_EQ(*one.find("key"), value("server.port"));
  EXPECT_EQ(*one.find("value"), value("9443"));
  EXPECT_EQ(*one.find("from"), json(R"([{"key":"server.port","layer":"flags","argument":1,"overrides":[
    {"layer":"env","variable":"APP_SERVER__PORT","value":"9090"},
    {"layer":"site","file":"app.yaml","line":2,"value":8080},
    {"layer":"defaults","file":"defaults.toml","line":4,"value":80}]}])"));
  one = json_at(*from, "config://app/merged?key=server.tags.0");
  EXPECT_EQ(*one.find("value"), value("c"));
  EXPECT_EQ(*one.find("from"), json(R"([{"key":"server.tags.0","layer":"site","file":"app.yaml","line":3,"overrides":[
    {"layer":"defaults","file":"defaults.toml","line":5,"value":["a","b"]}]}])"));
  one = json_at(*from, "config://app/merged?key=log");
  EXPECT_EQ(*one.find("from"), json(R"([{"key":"log","layer":"site","file":"app.yaml","line":4,"overrides":[
    {"layer":"defaults","file":"defaults.toml","line":6,"value":{"level":"info"}}]}])"));
}

TEST_F(layered_set, say_which_keys_there_are_where_one_is_not) {
  const auto from = serve_layers();
  EXPECT_EQ(text_at(*from, "config://app/merged?key=server.prot"),
            "error: Unknown key in the merged configuration: below server the nearest keys are server.port, server.host, "
            "server.tags.");
  EXPECT_THAT(text_at(*from, "config://app/file/app.yaml?key=serv"),
              HasSubstr("at the top level the nearest keys are server, log."));
  EXPECT_EQ(error_at(*from, "config://app/merged?key=log.level"), errc::part_not_found);
  EXPECT_EQ(error_at(*from, "config://app/merged?key=a..b"), errc::invalid_argument);
  EXPECT_EQ(error_at(*from, "config://app/merged?format=json"), errc::invalid_argument);
}

TEST_F(layered_set, are_each_a_resource) {
  const auto from = serve_layers();
  EXPECT_EQ(json_at(*from, "config://app/layers/env"), json(R"({"set":"app","layer":"env","kind":"environment","prefix":"APP_",
    "value":{"server":{"host":"example.org","port":"9090"}},
    "from":[{"key":"server.host","layer":"env","variable":"APP_SERVER__HOST"},
            {"key":"server.port","layer":"env","variable":"APP_SERVER__PORT"}]})"));
  EXPECT_EQ(json_at(*from, "config://app/layers/site"), json(R"({"set":"app","layer":"site","kind":"file","file":"app.yaml",
    "value":{"server":{"port":8080,"tags":["c"]},"log":"verbose"},
    "from":[{"key":"server.port","layer":"site","file":"app.yaml","line":2},
            {"key":"server.tags","layer":"site","file":"app.yaml","line":3},
            {"key":"log","layer":"site","file":"app.yaml","line":4}]})"));
  EXPECT_EQ(text_at(*from, "config://app/layers/none"),
            "error: Unknown layer \"none\". The layers are defaults, site, env, flags.");
}

TEST_F(layered_set, differ_by_what_was_added_removed_and_changed) {
  const auto from = serve_layers();
  const auto found = json_at(*from, "config://app/diff/defaults..site");
  EXPECT_EQ(*found.find("added"), json("[]"));
  EXPECT_EQ(*found.find("removed"), json(R"([
    {"key":"title","value":"app","layer":"defaults","file":"defaults.toml","line":1},
    {"key":"server.host","value":"localhost","layer":"defaults","file":"defaults.toml","line":3}])"));
  EXPECT_EQ(*found.find("changed"), json(R"([
    {"key":"server.port","from":{"value":80,"layer":"defaults","file":"defaults.toml","line":4},
                         "to":{"value":8080,"layer":"site","file":"app.yaml","line":2}},
    {"key":"server.tags","from":{"value":["a","b"],"layer":"defaults","file":"defaults.toml","line":5},
                         "to":{"value":["c"],"layer":"site","file":"app.yaml","line":3}},
    {"key":"log","from":{"value":{"level":"info"},"layer":"defaults","file":"defaults.toml","line":6},
                 "to":{"value":"verbose","layer":"site","file":"app.yaml","line":4}}])"));
  const auto back = json_at(*from, "config://app/diff/site..defaults");
  EXPECT_EQ(*back.find("removed"), json("[]"));
  EXPECT_EQ(back.find("added")->as_array()->size(), 2u);
  const auto whole = json_at(*from, "config://app/diff/site..merged");
  EXPECT_EQ(*whole.find("to"), value("merged"));
  EXPECT_EQ(*whole.find("changed"), json(R"([
    {"key":"server.port","from":{"value":8080,"layer":"site","file":"app.yaml","line":2},
                         "to":{"value":"9443","layer":"flags","argument":1}}])"));
  EXPECT_EQ(error_at(*from, "config://app/diff/site..none"), errc::part_not_found);
  EXPECT_EQ(error_at(*from, "config://app/diff/site"), errc::invalid_argument);
}

TEST_F(layered_set, that_know_texts_only_are_compared_as_texts) {
  const auto from = serve_layers({{"APP_SERVER__PORT", "8080"}, {"APP_LOG", "verbose"}});
  const auto found = json_at(*from, "config://app/diff/site..env");
  EXPECT_EQ(*found.find("changed"), json("[]"));
  EXPECT_EQ(found.find("removed")->as_array()->size(), 1u);
}

TEST_F(layered_set, whose_file_is_not_there_have_nothing_to_say) {
  fs::remove(root / "app.yaml");
  const auto from = serve_layers();
  const auto merged = json_at(*from, "config://app/merged");
  EXPECT_EQ(*merged.find("value")->find("log"), json(R"({"level":"info"})"));
  EXPECT_EQ((*merged.find("layers")->as_array())[1],
            json(R"({"layer":"site","kind":"file","file":"app.yaml","missing":true})"));
  write("app.yaml", "");
  EXPECT_EQ(*json_at(*from, "config://app/merged").find("value"), *merged.find("value"));
}

TEST_F(layered_set, come_from_the_settings_the_process_and_files_of_variables) {
  write("app.env", "APP_SERVER__PORT=1234\nOTHER=1\nAPP_LOG__LEVEL='debug'\n");
  ::setenv("HONDANA_CONFIGURATION_TEST_SERVER__HOST", "from.process", 1);
  const auto from = serve(
      "name = \"app\"\nwatch = false\n"
      "[[layer]]\nname = \"base\"\nvalues = { \"server.port\" = \"1\", \"server.host\" = \"h\", \"log.level\" = \"warn\" }\n"
      "[[layer]]\nname = \"file\"\nfile = \"app.env\"\nenv_prefix = \"APP_\"\n"
      "[[layer]]\nname = \"process\"\nenv_prefix = \"HONDANA_CONFIGURATION_TEST_\"\n"
      "[[layer]]\nname = \"line\"\nflags = [\"-v\", \"--log.level\", \"error\", \"stray\", \"--a.b=c=d\", \"--\", \"--x\"]\n");
  ::unsetenv("HONDANA_CONFIGURATION_TEST_SERVER__HOST");
  const auto merged = json_at(*from, "config://app/merged");
  EXPECT_EQ(*merged.find("value"),
            json(R"({"log":{"level":"error"},"server":{"host":"from.process","port":"1234"},"v":true,"a":{"b":"c=d"}})"));
  const auto port = json_at(*from, "config://app/merged?key=server.port");
  EXPECT_EQ(*port.find("from"), json(R"([{"key":"server.port","layer":"file","file":"app.env","line":1,
    "overrides":[{"layer":"base","value":"1"}]}])"));
  const auto line = json_at(*from, "config://app/layers/line");
  EXPECT_EQ(*line.find("warnings"),
            json(R"(["argument 4 is left out: it is neither a flag nor the value of one","arguments after -- are left out"])"));
}

TEST_F(layered_set, are_refused_where_they_make_no_sense) {
  const auto wrong = [this](const std::string& layers) {
    const auto made = try_to_serve("name = \"app\"\n" + layers);
    return made ? "nothing is wrong" : made.error().public_text;
  };
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\n"), HasSubstr("a layer needs exactly one of file, env"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nflags = []\nvalues = {}\n"), HasSubstr("a layer needs exactly one of file, env"));
  EXPECT_THAT(wrong("[[layer]]\nnme = \"a\"\nflags = []\n"), HasSubstr("nme"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nenv_prefix = \"A_\"\nflags = []\n"),
              HasSubstr("flags: a layer needs exactly one of"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"merged\"\nflags = []\n"), HasSubstr("and not merged"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a.b\"\nflags = []\n"), HasSubstr("letters, digits"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nenv_prefix = \"\"\n"), HasSubstr("whole environment"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nflags = []\n[[layer]]\nname = \"a\"\nflags = []\n"),
              HasSubstr("another layer has this name"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nfile = \"app.yaml\"\nenv_prefix = \"A_\"\n"), HasSubstr("dotenv"));
  EXPECT_THAT(wrong("[[layer]]\nname = \"a\"\nfile = \"x.unknown\"\n"), HasSubstr("formats = { \"x.unknown\""));
  EXPECT_THAT(wrong(""), HasSubstr("name a configuration file or folder"));
  EXPECT_THAT(wrong("path = \"app.yaml\"\nlayers = 1\n"), HasSubstr("layers"));
  EXPECT_THAT(wrong("path = \"app.yaml\"\nformats = { \"*.x\" = \"xml\" }\n"), HasSubstr("or \"systemd\", not \"xml\""));
  EXPECT_THAT(wrong("path = \"nowhere\"\n"), HasSubstr("cannot be opened: No such file"));
  EXPECT_THAT(wrong("path = \"nowhere.toml\"\n"), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace hondana::config_files

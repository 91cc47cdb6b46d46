/// Servers that are started from one configuration with one index, as agents start one each.
#include <signal.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::patience;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

/// Files, and a configuration that serves them with an index.
class indexed : public folder {
 public:
  indexed() {
    put("shelf/a.md", "# Birds\n\nThe pelican dives.\n");
    put("shelf/b.md", "# Trees\n\nThe oak is old.\n");
    put("config.toml",
        "[search]\npath = \"index/search.db\"\nscan_interval_ms = 1000\ntokenizer = \"trigrams\"\n[[source]]\ntype = "
        "\"files\"\npath = \"shelf\"\n");
  }
  [[nodiscard]] std::vector<std::string> arguments() const { return {"--config", path("config.toml")}; }
};

std::string search(const served& on, const std::string& word) {
  const auto got = run({"search", word, "--on", on.url()});
  return got.output + got.errors;
}

/// Once it is there; false: it does not come.
bool comes(const served& on, const std::string& word, const std::string& name) {
  return hondana_test::eventually([&] { return search(on, word).find(name) != std::string::npos; });
}

TEST(program_search, a_second_server_follows_the_first_and_takes_over_when_that_one_is_killed) {
  const indexed shelf;
  auto first = std::make_unique<served>(shelf.arguments());
  ASSERT_TRUE(comes(*first, "pelican", "a.md")) << first->program().errors();
  served second(shelf.arguments());
  EXPECT_NE(second.program().errors().find("another process writes the index"), std::string::npos) << second.program().errors();
  EXPECT_NE(search(second, "pelican").find("a.md"), std::string::npos);
  shelf.put("shelf/c.md", "# Herons\n\nThe heron waits.\n");
  EXPECT_TRUE(comes(second, "heron", "c.md")) << second.program().errors();
  // One that only asks, with a server of its own.
  const auto asked = run({"search", "heron", "--", HONDANA_PROGRAM, "stdio", "--config", shelf.path("config.toml")});
  EXPECT_EQ(asked.how, well) << asked.errors;
  EXPECT_NE(asked.output.find("c.md"), std::string::npos) << asked.output << asked.errors;
  ASSERT_TRUE(first->stop(SIGKILL));
  first.reset();
  ASSERT_TRUE(second.program().error_line_with("this process writes the index", within(patience))) << second.program().errors();
  shelf.put("shelf/d.md", "# Owls\n\nThe owl sleeps.\n");
  EXPECT_TRUE(comes(second, "owl", "d.md")) << second.program().errors();
  served third(shelf.arguments());
  EXPECT_NE(search(third, "owl").find("d.md"), std::string::npos);
  EXPECT_EQ(second.stop(SIGTERM), well);
  ASSERT_TRUE(third.program().error_line_with("this process writes the index", within(patience))) << third.program().errors();
  const auto checked = run({"check", "--config", shelf.path("config.toml")});
  // The folder is one, too.
  EXPECT_NE(checked.output.find("has 5 resources, 5 passages"), std::string::npos) << checked.output << checked.errors;
}

TEST(program_search, below_a_folder_takes_its_name_as_people_write_it) {
  indexed shelf;
  shelf.put("shelf/設備 1/d.md", "# Gates\n\nThe pelican sits on the gate.\n");
  const served server(shelf.arguments());
  ASSERT_TRUE(comes(server, "gate", "d.md"));
  const auto got = run({"search", "pelican", "--on", server.url(), "--under", "file://" + shelf.path("shelf/設備 1/")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("d.md"), std::string::npos) << got.output << got.errors;
  EXPECT_EQ(got.output.find("a.md"), std::string::npos) << got.output;
}

TEST(program_search, below_a_word_that_no_listed_uri_begins_with_names_what_may_be_meant) {
  const indexed shelf;
  const served server(shelf.arguments());
  ASSERT_TRUE(comes(server, "pelican", "a.md"));
  for (const auto& on : {server.url(), shelf.path("shelf")}) {
    const auto under = [&on](const std::string& word) { return run({"search", "pelican", "--under", word, "--on", on}); };
    const auto part = under("FIL");
    EXPECT_EQ(part.how, well) << part.errors;
    EXPECT_NE(part.output.find("a.md"), std::string::npos) << part.output << part.errors;
    const auto name = under("a.md");
    EXPECT_EQ(name.how.exit_code, 1) << name.errors;
    EXPECT_EQ(name.output, "");
    const auto none = under("nonesuch");
    EXPECT_EQ(none.how.exit_code, 1);
    EXPECT_EQ(none.output, "");
    EXPECT_EQ(none.errors,
              "hondana: --under: no listed URI begins with \"nonesuch\", so nothing can be found below it. Give a URI or its "
              "beginning, as `hondana ls` prints it. Listed URIs begin with file://" +
                  shelf.path("shelf") + ".\n");
    const auto folder = under("shelf");
    EXPECT_EQ(folder.how.exit_code, 1);
    EXPECT_NE(folder.errors.find("Did you mean --under file://" + shelf.path("shelf") + "?"), std::string::npos)
        << folder.errors;
    for (const std::string uri : {"nonesuch:", "file:///nope"}) {
      const auto foreign = under(uri);
      EXPECT_EQ(foreign.how.exit_code, 1) << uri;
      EXPECT_EQ(foreign.output, "");
      EXPECT_EQ(foreign.errors, "hondana: --under: no source has URIs that begin with \"" + uri +
                                    "\", so nothing can be found below it. Give a URI or its beginning, as `hondana ls` prints "
                                    "it. Listed URIs begin with file://" +
                                    shelf.path("shelf") + ".\n");
    }
    EXPECT_EQ(under("file://" + shelf.path("shelf/later")).how, well) << "what a source can have may come to be";
  }
}

TEST(program_search, below_what_no_uri_begins_with_is_a_mistake_of_the_line) {
  const indexed shelf;
  const served server(shelf.arguments());
  for (const auto& on : {server.url(), shelf.path("shelf")}) {
    for (const auto* under : {"", "manual/a(1)", "docs://manual/50% off"}) {
      const auto got = run({"search", "pelican", "--under", under, "--on", on});
      EXPECT_EQ(got.how.exit_code, 1) << got.errors;
      EXPECT_EQ(got.output, "");
      EXPECT_NE(got.errors.find("--under: expected a URI or its beginning, as `hondana ls` prints it, not \"" +
                                std::string(under) + '"'),
                std::string::npos)
          << got.errors;
    }
  }
}

TEST(program_check, knows_what_is_listed_and_no_file_where_it_warns_of_prefixes_of_the_index) {
  const folder what;
  what.put("shelf.toml",
           "[[source]]\ntype = \"config\"\nname = \"app\"\npath = \"app\"\n"
           "[[source.layer]]\nname = \"base\"\nfile = \"app/base.yaml\"\n"
           "[[source.layer]]\nname = \"production\"\nfile = \"app/production.yaml\"\n"
           "[search]\nexclude = [\"config://app/merged\", \"config://app/merget\"]\n");
  what.put("app/base.yaml", "a: 1\n");
  what.put("app/production.yaml", "a: 2\n");
  const auto got = run({"check", "--config", what.path() + "/shelf.toml"});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.errors.find("begins with config://app/merget,"), std::string::npos) << got.errors;
  EXPECT_EQ(got.errors.find("begins with config://app/merged,"), std::string::npos) << got.errors;
}

}  // namespace

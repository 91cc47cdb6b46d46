/// `hondana check`, `hondana schemes` and usage errors: what is printed where, and the exit codes.
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::output_to;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::well;
using program_test::within;

constexpr departure misused{1, 0};
constexpr departure failed{5, 0};

TEST(program_check, prints_what_is_served_and_what_is_not) {
  const folder what;
  what.put("a.txt", "hello");
  what.put(".env", "KEY=1");
  const auto got = run({"check", what.path()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("  + a.txt\n"), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("  - .env  ("), std::string::npos) << got.output;
  EXPECT_TRUE(got.output.ends_with("2 served, 1 left out\n")) << got.output;
}

TEST(program_check, shows_skills_that_are_left_out_and_why) {
  const folder what;
  what.put("shelf.toml", "[[source]]\ntype = \"skills\"\npath = \"skills\"\n");
  what.put("skills/good/SKILL.md", "---\nname: good\ndescription: Good.\n---\n");
  what.put("skills/bad/SKILL.md", "---\ndescription: Bad.\n---\n");
  const auto got = run({"check", "--config", what.path() + "/shelf.toml"});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_EQ(got.output,
            "skills  skill://\n"
            "  + good/SKILL.md\n"
            "  - bad  (SKILL.md: the frontmatter has no \"name\" that is a text)\n"
            "1 served, 1 left out\n");
  EXPECT_NE(got.errors.find("the skill bad is left out: SKILL.md: "), std::string::npos) << got.errors;
}

TEST(program_check, prints_json_lines) {
  const folder what;
  what.put("a.txt", "hello");
  const auto got = run({"check", "--json", what.path()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("{\"name\":\"a.txt\",\"uri\":\"" + what.uri("a.txt") + "\",\"served\":true}\n"), std::string::npos)
      << got.output;
}

TEST(program_check, says_which_folder_is_missing) {
  const folder what;
  const auto got = run({"check", what.path("missing")});
  EXPECT_EQ(got.how, misused);
  EXPECT_EQ(got.output, "");
  EXPECT_NE(got.errors.find("\"" + what.path("missing") + "\": No such file or directory."), std::string::npos) << got.errors;
}

TEST(program_check, names_the_line_of_a_wrong_configuration) {
  const folder what;
  what.put("bad.toml", "\n\npage_size = \"many\"\n");
  const auto got = run({"check", "--config", what.path("bad.toml")});
  EXPECT_EQ(got.how, misused);
  EXPECT_NE(got.errors.find(what.path("bad.toml") + ":3: page_size"), std::string::npos) << got.errors;
  EXPECT_EQ(run({"check", "--config", what.path("none.toml")}).how, misused);
}

TEST(program_check, refuses_two_sources_for_one_folder) {
  const folder what;
  const auto source = "[[source]]\ntype = \"files\"\npath = \"" + what.path() + "\"\n";
  what.put("twice.toml", source + source);
  const auto got = run({"check", "--config", what.path("twice.toml")});
  EXPECT_EQ(got.how, misused) << got.output;
  EXPECT_NE(got.errors.find("file://" + what.path()), std::string::npos) << got.errors;
}

TEST(program, says_when_its_output_cannot_be_written) {
  const folder what;
  what.put("a.txt", "hello");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"check", what.path()},
                                                                     {"check", "--json", what.path()},
                                                                     {"schemes"},
                                                                     {"schemes", "--json"},
                                                                     {"--help"},
                                                                     {"--version"}}) {
    const auto got = run(arguments, output_to::full_disk);
    EXPECT_EQ(got.how, failed) << arguments.front();
    EXPECT_NE(got.errors.find("No space left on device"), std::string::npos) << arguments.front() << ": " << got.errors;
  }
}

TEST(program_stdio, says_when_its_output_cannot_be_written) {
  const folder what;
  process program({"stdio", what.path()}, output_to::full_disk);
  ASSERT_TRUE(program.write("nonsense\n", within(patience)));
  EXPECT_EQ(program.leaves(within(patience)), failed);
  EXPECT_NE(program.errors().find("No space left on device"), std::string::npos) << program.errors();
}

TEST(program_schemes, prints_the_uris) {
  const auto plain = run({"schemes"});
  EXPECT_EQ(plain.how, well);
  EXPECT_NE(plain.output.find("file://"), std::string::npos);
  EXPECT_EQ(plain.errors, "");
  const auto json = run({"schemes", "--json"});
  EXPECT_EQ(json.how, well);
  EXPECT_TRUE(json.output.starts_with("[{\"scheme\":\"file\",")) << json.output.substr(0, 100);
  EXPECT_TRUE(run({"schemes", "--markdown"}).output.starts_with("# URI schemes\n"));
}

TEST(program, prints_help_and_version_to_standard_output) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"stdio", "--help"}, {"serve", "-h"}, {"--version"}}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.how, well) << arguments.front();
    EXPECT_NE(got.output.find("hondana"), std::string::npos) << got.output;
    EXPECT_EQ(got.errors, "") << arguments.front();
  }
}

TEST(program, refuses_what_it_does_not_know) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{},
                                                                     {"frobnicate"},
                                                                     {""},
                                                                     {"--frobnicate"},
                                                                     {"check", "--frobnicate"},
                                                                     {"schemes", "extra"},
                                                                     {"stdio", "--config"}}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.how, misused) << got.errors;
    EXPECT_EQ(got.output, "");
    EXPECT_TRUE(got.errors.starts_with("hondana: ")) << got.errors;
    EXPECT_NE(got.errors.find("\nTry 'hondana "), std::string::npos) << got.errors;
    EXPECT_TRUE(got.errors.ends_with("--help'.\n")) << got.errors;
  }
  EXPECT_NE(run({"frobnicate"}).errors.find("there is no command \"frobnicate\""), std::string::npos);
}

}  // namespace

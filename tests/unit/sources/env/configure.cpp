/// `[[source]]` tables of variables.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "unit/sources/env/env_folders.hpp"

namespace hondana::env {
result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);
}  // namespace hondana::env

namespace {

using namespace hondana;
using namespace hondana::env;
using testing::ElementsAre;
using testing::HasSubstr;

struct env_settings : env_folders {
  result<std::shared_ptr<provider>> made(const std::string& text) {
    auto table = config::parse_toml(text, (root / "hondana.toml").string());
    if (!table) return tl::unexpected(std::move(table.error()));
    return configure(*table, {});
  }
  std::string refusal(const std::string& text) {
    const auto one = made(text);
    return one ? "none" : one.error().public_text;
  }
};

TEST_F(env_settings, serve_the_process_unless_they_name_files) {
  write("prod.env", "A=1\n");
  write("deploy/.env.staging", "A=1\n");
  EXPECT_THAT((*made("allow = [\"A\"]"))->claims(), ElementsAre("env:///"));
  EXPECT_THAT((*made("allow = [\"A\"]\nfile = \"prod.env\""))->claims(), ElementsAre("env://prod/"));
  EXPECT_THAT((*made("allow = [\"A\"]\nfile = \"prod.env\"\nname = \"live\""))->claims(), ElementsAre("env://live/"));
  EXPECT_THAT((*made("allow = [\"A\"]\nfiles = [\"prod.env\", \"deploy/.env.staging\"]\nprocess = true"))->claims(),
              ElementsAre("env:///", "env://prod/", "env://staging/"));
  EXPECT_EQ(text_at(dynamic_cast<env_provider&>(**made("allow = [\"A\"]\nfile = \"prod.env\"\nwatch = false")), "env://prod/A"),
            "1");
  EXPECT_EQ((*made("allow = [\"A\"]\nredact = false"))->traits().masking, secret_masking::none);
}

TEST_F(env_settings, choose_the_dialect_of_files) {
  write("prod.env", "A=a#b\n");
  const std::string common = "allow = [\"A\"]\nfile = \"prod.env\"\nwatch = false\n";
  EXPECT_EQ(text_at(dynamic_cast<env_provider&>(**made(common)), "env://prod/A"), "a");
  EXPECT_EQ(text_at(dynamic_cast<env_provider&>(**made(common + "dialect = \"dotenv\"")), "env://prod/A"), "a");
  EXPECT_EQ(text_at(dynamic_cast<env_provider&>(**made(common + "dialect = \"compose\"")), "env://prod/A"), "a#b");
  EXPECT_THAT(refusal(common + "dialect = \"shell\""), HasSubstr("dialect"));
}

TEST_F(env_settings, have_nothing_allowed_by_default) {
  for (const auto* text : {"", "allow = []", "redact = false"}) {
    EXPECT_THAT(refusal(text), HasSubstr("allow: no variable is allowed; name those to serve")) << text;
  }
}

TEST_F(env_settings, are_refused_with_the_key_and_what_to_write) {
  EXPECT_THAT(refusal("allow = \"PATH\""), HasSubstr("allow"));
  EXPECT_THAT(refusal("allow = [\"\"]"), HasSubstr("a pattern is empty"));
  EXPECT_THAT(refusal("allow = [\"A\"]\nname = \"x\""), HasSubstr("name: it is the name for the key file"));
  EXPECT_THAT(refusal("allow = [\"A\"]\nfile = \"a.env\"\nname = \"X Y\""), HasSubstr("name: expected 1 to 40"));
  EXPECT_THAT(refusal("allow = [\"A\"]\nprocess = false"), HasSubstr("process: nothing else is served"));
  EXPECT_THAT(refusal("allow = [\"A\"]\npaths = []"), HasSubstr("paths"));
  EXPECT_THAT(refusal("allow = [\"A\"]\nfile = \"none/a.env\""), HasSubstr("cannot be opened"));
  EXPECT_THAT(refusal("allow = [\"A\"]\nfiles = [\"a.env\", \"x/../.env.a\"]"),
              HasSubstr("two files would have the name \"a\""));
}

}  // namespace

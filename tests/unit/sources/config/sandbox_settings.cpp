/// The table `[sandbox]`: what it may say, and where a mistake is.
#include "sources/config/settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::config {
namespace {

TEST(sandbox_settings, everything_the_table_can_say_is_read) {
  for (const auto& [word, mode] : std::vector<std::pair<std::string, sandbox_mode>>{
           {"auto", sandbox_mode::best_effort}, {"required", sandbox_mode::required}, {"off", sandbox_mode::off}}) {
    const auto made =
        parse("[sandbox]\nmode = \"" + word + "\"\nfolders = [\"shelves\", \"/srv/more/\"]\n", "/etc/hondana/t.toml");
    ASSERT_TRUE(made) << made.error().public_text;
    EXPECT_EQ(made->sandbox.mode, mode);
    EXPECT_EQ(made->sandbox.folders, (std::vector<std::string>{"/etc/hondana/shelves", "/srv/more/"}));
  }
}

TEST(sandbox_settings, without_the_table_it_is_put_up_as_far_as_possible) {
  const auto made = parse("", "t.toml");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->sandbox, sandbox_settings{});
  EXPECT_EQ(made->sandbox.mode, sandbox_mode::best_effort);
}

TEST(sandbox_settings, a_mistake_is_named) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"mode = \"maybe\"", "sandbox.mode: expected \"auto\", \"required\" or \"off\""},
           {"mode = true", "sandbox.mode: expected a string"},
           {"folders = \"/srv\"", "sandbox.folders: expected"},
           {"folders = [\"\"]", "sandbox.folders: expected paths"},
           {"folders = [\"a\\u0000\"]", "sandbox.folders: expected paths"},
           {"level = 3", "sandbox.level: unknown key; known here: "}}) {
    const auto made = parse("[sandbox]\n" + text + '\n', "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_NE(made.error().public_text.find(wanted), std::string::npos) << made.error().public_text;
    EXPECT_TRUE(made.error().public_text.starts_with("t.toml:")) << made.error().public_text;
  }
}

}  // namespace
}  // namespace hondana::config

/// Files of variables that are watched.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/ear.hpp"
#include "unit/sources/env/env_folders.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;
using testing::ElementsAre;
using testing::HasSubstr;

struct watched_env : env_folders {
  std::shared_ptr<ear> told = std::make_shared<ear>();

  std::shared_ptr<env_provider> serve(env_options with) {
    with.watch = true;
    auto made = open(std::move(with));
    made->set_listener(told);
    return made;
  }
};

TEST_F(watched_env, tells_of_exactly_the_names_whose_values_changed) {
  write("prod.env", "A=1\nB=2\nC=3\nHIDDEN=1\n");
  const auto from = serve(with_file("prod.env", {"A", "B", "C", "D"}));
  from->watch("env://prod/A");
  grow("prod.env", "A=1\nB=changed\nC=3\nHIDDEN=2\n");
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/B"));
  EXPECT_EQ(told->lists(), 0);
  replace("prod.env", "A=by rename\nB=changed\nC=3\n");
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/A"));
  EXPECT_EQ(told->lists(), 0);
  EXPECT_EQ(text_at(*from, "env://prod/A"), "by rename");
}

TEST_F(watched_env, tells_of_names_that_come_and_go) {
  write("prod.env", "A=1\n");
  const auto from = serve(with_file("prod.env", {"A", "B"}));
  from->watch_list();
  grow("prod.env", "A=1\nB=2\nHIDDEN=3\n");
  EXPECT_TRUE(told->hears_lists(1));
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/B"));
  EXPECT_THAT(listed(*from), ElementsAre("env://prod/", "env://prod/A", "env://prod/B"));
  replace("prod.env", "B=2\n");
  EXPECT_TRUE(told->hears_lists(2));
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/A"));
  fs::remove(root / "prod.env");
  EXPECT_TRUE(told->hears_lists(3));
  EXPECT_EQ(text_at(*from, "env://prod/B"), "error: source_unavailable");
  write("prod.env", "B=2\n");
  EXPECT_TRUE(told->hears_lists(4));
}

TEST_F(watched_env, tells_of_a_file_that_was_not_there_yet) {
  const auto from = serve(with_file("prod.env"));
  EXPECT_THAT(log(), HasSubstr("does not exist"));
  EXPECT_FALSE(from->health().is_healthy);
  from->watch("env://prod/A");
  write("prod.env", "A=1\n");
  EXPECT_TRUE(told->hears("env://prod/A"));
  EXPECT_EQ(text_at(*from, "env://prod/A"), "1");
  EXPECT_TRUE(from->health().is_healthy);
}

TEST_F(watched_env, keeps_quiet_about_what_is_not_seen_to_change) {
  write("prod.env", "A=1\nDB_PASSWORD=first-1-Password\nHIDDEN=1\n");
  const auto from = serve(with_file("prod.env", {"A", "DB_PASSWORD"}));
  from->watch("env://prod/DB_PASSWORD");
  grow("prod.env", "A=1\nDB_PASSWORD=second-2-Password!\nHIDDEN=2\n");
  // A later change that is told, so that the one before has been looked at.
  EXPECT_EQ(text_at(*from, "env://prod/DB_PASSWORD"), "********");
  replace("prod.env", "A=2\nDB_PASSWORD=third-3-Password\n");
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/A"));
  EXPECT_EQ(told->lists(), 0);
}

TEST_F(watched_env, keeps_what_was_understood_and_tells_when_it_is_mended) {
  write("prod.env", "A=1\n");
  const auto from = serve(with_file("prod.env"));
  from->watch("env://prod/A");
  grow("prod.env", "A=\"half\n");
  EXPECT_EQ(text_at(*from, "env://prod/A"), "1");
  grow("prod.env", "A=\"half\nand whole\"\n");
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/A"));
  EXPECT_EQ(text_at(*from, "env://prod/A"), "half\nand whole");
}

TEST_F(watched_env, hears_of_two_files_in_one_folder) {
  write("prod.env", "A=1\n");
  write("b.env", "A=1\n");
  auto with = with_file("prod.env");
  with.files.push_back({"b", (root / "b.env").string()});
  const auto from = serve(std::move(with));
  from->watch("env://b/A");
  replace("b.env", "A=2\n");
  EXPECT_THAT(told->until("env://b/"), ElementsAre("env://b/", "env://b/A"));
  replace("prod.env", "A=2\n");
  EXPECT_THAT(told->until("env://prod/"), ElementsAre("env://prod/", "env://prod/A"));
}

TEST_F(watched_env, hears_of_a_folder_that_is_made_again) {
  write("in/prod.env", "A=1\n");
  const auto from = serve(with_file("in/prod.env"));
  from->watch("env://prod/A");
  // In two steps, so that the file is found missing while its folder is there.
  fs::remove(root / "in/prod.env");
  EXPECT_TRUE(told->hears_lists(1));
  fs::remove(root / "in");
  write("in/prod.env", "A=2\n");
  EXPECT_TRUE(told->hears_lists(2));
  told->take();
  replace("in/prod.env", "A=3\n");
  EXPECT_TRUE(told->hears("env://prod/A"));
}

TEST_F(watched_env, finds_changes_by_questions_when_it_is_not_watched) {
  write("prod.env", "A=1\n");
  const auto from = open(with_file("prod.env"));
  from->set_listener(told);
  replace("prod.env", "A=2\n");
  EXPECT_EQ(text_at(*from, "env://prod/A"), "2");
  EXPECT_THAT(told->take(), ElementsAre("env://prod/", "env://prod/A"));
  from->set_listener(nullptr);
  replace("prod.env", "A=3\n");
  EXPECT_EQ(text_at(*from, "env://prod/A"), "3");
  EXPECT_THAT(told->take(), ElementsAre());
}

}  // namespace

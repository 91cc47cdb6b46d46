/// Sets that are watched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

struct watched_configuration : served_set {
  std::shared_ptr<ear> told = std::make_shared<ear>();
  std::shared_ptr<config_files_provider> from;

  void SetUp() override {
    write("conf/app.toml", "port = 80\n");
    write("conf/other.toml", "x = 1\n");
    write("etc/site.yaml", "port: 8080\n");
  }
  void TearDown() override { from.reset(); }
  void serve_watched(const std::string& more = {}) {
    from = serve("path = \"conf\"\nname = \"app\"\n" + more +
                 "[[layer]]\nname = \"base\"\nfile = \"conf/app.toml\"\n"
                 "[[layer]]\nname = \"site\"\nfile = \"etc/site.yaml\"\n"
                 "[[layer]]\nname = \"flags\"\nflags = [\"--debug\"]\n");
    from->set_listener(told);
  }
};

TEST_F(watched_configuration, tells_of_files_and_of_what_is_made_of_them) {
  serve_watched();
  settle("etc/site.yaml");
  ASSERT_EQ(listed(*from).size(), 9u);
  replace("conf/other.toml", "x = 2\n");
  EXPECT_THAT(told->until("config://app/file/other.toml"), ElementsAre("config://app/file/other.toml"));
  replace("etc/site.yaml", "port: 8081\n");
  EXPECT_TRUE(told->hears("config://app/merged"));
  EXPECT_TRUE(told->hears("config://app/layers/site"));
  const auto all = told->take();
  EXPECT_THAT(all,
              IsSupersetOf({"config://app/file/site.yaml", "config://app/layers/site", "config://app/merged",
                            "config://app/diff/base..site", "config://app/diff/site..base", "config://app/diff/site..flags",
                            "config://app/diff/base..merged", "config://app/diff/merged..flags"}));
  EXPECT_EQ(std::count(all.begin(), all.end(), "config://app/diff/base..flags"), 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), "config://app/layers/base"), 0);
  EXPECT_EQ(*json_at(*from, "config://app/merged").at("/value/port"), value(8081));
}

TEST_F(watched_configuration, tells_of_files_that_come_and_go) {
  serve_watched();
  ASSERT_FALSE(listed(*from).empty());
  const auto lists = told->lists();
  write("conf/deep/new.ini", "a = 1\n");
  EXPECT_TRUE(told->hears("config://app/file/deep/new.ini"));
  EXPECT_TRUE(told->hears_lists(lists + 1));
  EXPECT_TRUE(told->hears("config://app/file/deep"));
  told->take();
  write("conf/deep/new.ini", "a = 2\n");
  EXPECT_TRUE(told->hears("config://app/file/deep/new.ini"));
  const auto more = told->lists();
  told->take();
  fs::remove_all(root / "conf/deep");
  EXPECT_TRUE(told->hears("config://app/file/deep/new.ini"));
  EXPECT_TRUE(told->hears_lists(more + 1));
}

TEST_F(watched_configuration, tells_what_comes_before_the_first_look) {
  settle("etc/site.yaml");
  for (int round = 0; round < 10; ++round) {
    serve_watched();
    from->watch("config://app/merged");
    replace("etc/site.yaml", "port: " + std::to_string(round) + "\n");
    ASSERT_TRUE(told->hears("config://app/merged")) << round;
    told->take();
    from.reset();
  }
  serve_watched();
  settle("conf/other.toml");
  from->watch_list();
  const auto lists = told->lists();
  write("conf/come.toml", "x = 1\n");
  EXPECT_TRUE(told->hears_lists(lists + 1));
}

TEST_F(watched_configuration, tells_of_a_folder_that_is_exchanged_by_a_link) {
  write("maps/..2026_01/app.yaml", "a: 1\n");
  write("maps/..2026_02/app.yaml", "a: 2\n");
  fs::create_directory_symlink("..2026_01", root / "maps/..data");
  fs::create_symlink("..data/app.yaml", root / "maps/app.yaml");
  for (const auto* path : {"maps", "maps/app.yaml"}) {
    from = serve("path = \"" + std::string(path) + "\"\nname = \"maps\"\n");
    from->set_listener(told);
    ASSERT_EQ(listed(*from).size(), 2u);
    for (const auto* next : {"..2026_02", "..2026_01"}) {
      fs::create_directory_symlink(next, root / "maps/..data_tmp");
      fs::rename(root / "maps/..data_tmp", root / "maps/..data");
      EXPECT_TRUE(told->hears("config://maps/file/app.yaml")) << path << next;
      told->take();
    }
    // And what is written into it.
    write("maps/..2026_01/app.yaml", "a: 3\n");
    EXPECT_TRUE(told->hears("config://maps/file/app.yaml")) << path;
    told->take();
    write("maps/..2026_01/app.yaml", "a: 1\n");
  }
}

TEST_F(watched_configuration, knows_what_was_good_although_nobody_asked) {
  serve_watched();
  from->watch("config://app/merged");
  ASSERT_TRUE(hondana_test::eventually([&] { return from->health().detail != "not listed yet"; }));
  told->take();
  replace("etc/site.yaml", "port: [1,\n");  // never empty, however slow this is
  EXPECT_TRUE(told->hears("config://app/merged"));
  const auto merged = json_at(*from, "config://app/merged");
  EXPECT_EQ(*merged.at("/value/port"), value(8080));
  EXPECT_THAT(*merged.at("/layers/1/stale/error")->as_string(), HasSubstr("line "));
  EXPECT_EQ(text_at(*from, "config://app/file/site.yaml"), "port: ***\n");
  told->take();
  replace("etc/site.yaml", "port: 1\n");
  EXPECT_TRUE(told->hears("config://app/merged"));
  EXPECT_EQ(*json_at(*from, "config://app/merged").at("/value/port"), value(1));
}

TEST_F(watched_configuration, hears_of_named_files_in_folders_that_are_not_walked) {
  write("conf/.private/a.toml", "x = 1\n");
  settle("conf/.private/a.toml");
  from = serve("paths = [\"conf\", \"conf/.private/a.toml\", \"conf/.private/b.toml.d/../a.toml\"]\nname = \"app\"\n");
  from->set_listener(told);
  ASSERT_THAT(listed(*from), IsSupersetOf({std::string("config://app/file/.private/a.toml")}));
  replace("conf/.private/a.toml", "x = 2\n");
  EXPECT_TRUE(told->hears("config://app/file/.private/a.toml"));
}

TEST_F(watched_configuration, that_is_not_watched_tells_what_a_question_finds) {
  serve_watched("watch = false\n");
  ASSERT_FALSE(listed(*from).empty());
  replace("conf/other.toml", "x = 2\n");
  ASSERT_FALSE(listed(*from).empty());
  EXPECT_TRUE(told->hears("config://app/file/other.toml"));
}

}  // namespace
}  // namespace hondana::config_files

/// Where a set never leads: out of its folders, through links or to files of the server's own.
#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Pair;

struct confined_set : served_set {};

TEST_F(confined_set, never_leaves_its_folder) {
  write("outside/secret.toml", "x = 1\n");
  write("conf/inside/a.toml", "x = 2\n");
  write("conf/.hidden/b.toml", "x = 3\n");
  write("conf/.ssh/c.toml", "x = 4\n");
  fs::create_symlink("inside/a.toml", root / "conf/link.toml");
  fs::create_symlink(".hidden/b.toml", root / "conf/shown.toml");
  fs::create_symlink(".ssh/c.toml", root / "conf/keys.toml");
  fs::create_symlink("../outside/secret.toml", root / "conf/out.toml");
  fs::create_symlink("../conf/inside/a.toml", root / "conf/out_and_in.toml");
  fs::create_symlink(root / "conf/inside/a.toml", root / "conf/absolute.toml");
  fs::create_symlink("/dev/zero", root / "conf/device.toml");
  fs::create_symlink("dangling", root / "conf/dangling.toml");
  fs::create_symlink("loop.toml", root / "conf/loop.toml");
  fs::create_directory_symlink("../outside", root / "conf/folder");
  fs::create_directory_symlink("..", root / "conf/up");
  fs::create_directory_symlink("inside", root / "conf/again");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_THAT(listed(*from), ElementsAre("config://conf/file", "config://conf/file/inside", "config://conf/file/inside/a.toml",
                                         "config://conf/file/link.toml"));
  EXPECT_EQ(text_at(*from, "config://conf/file/link.toml"), "x = 2\n");
  for (const auto* name : {"shown.toml", "again/a.toml", "keys.toml", "out.toml", "out_and_in.toml", "absolute.toml",
                           "device.toml", "dangling.toml", "loop.toml", "folder/secret.toml", "up/outside/secret.toml"}) {
    EXPECT_EQ(error_at(*from, std::string("config://conf/file/") + name), errc::resource_not_found) << name;
    EXPECT_EQ(error_at(*from, std::string("config://conf/file/") + name + "?key=x"), errc::resource_not_found) << name;
  }
  EXPECT_THAT(left_out(*from), IsSupersetOf({Pair(std::string("out.toml"), HasSubstr("leads out of its folder"))}));
}

TEST_F(confined_set, never_leaves_its_folder_while_links_are_exchanged) {
  write("outside.toml", "x = 'outside'\n");
  write("conf/a.toml", "x = 1\n");
  fs::create_directory(root / "other");
  write("other/a.toml", "x = 'outside'\n");
  fs::create_directory(root / "conf/d");
  write("conf/d/a.toml", "x = 1\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  std::atomic<bool> is_over{false};
  std::thread exchanging([&] {
    for (int i = 0; !is_over; ++i) {
      fs::create_symlink(i % 2 == 0 ? "../outside.toml" : "a.toml", root / "conf/tmp.link");
      fs::rename(root / "conf/tmp.link", root / "conf/b.toml");
      fs::create_symlink(i % 2 == 0 ? "../other" : "d", root / "conf/tmp.link");
      fs::rename(root / "conf/tmp.link", root / "conf/e");
    }
  });
  int given = 0;
  // On a busy machine the links can stay outside for long.
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  for (int i = 0; i < 3000 || (given == 0 && std::chrono::steady_clock::now() < until); ++i) {
    for (const auto* uri : {"config://conf/file/b.toml", "config://conf/file/e/a.toml", "config://conf/file/b.toml?key=x"}) {
      const auto text = text_at(*from, uri);
      EXPECT_THAT(text, testing::Not(HasSubstr("outside"))) << uri;
      given += text == "x = 1\n" ? 1 : 0;
    }
  }
  is_over = true;
  exchanging.join();
  EXPECT_GT(given, 0);
}

TEST_F(confined_set, never_serves_what_is_kept_back) {
  write("conf/hondana.toml", "x = 1\n");
  write("conf/a.toml", "x = 1\n");
  fs::create_symlink("hondana.toml", root / "conf/b.toml");
  fs::create_hard_link(root / "conf/hondana.toml", root / "conf/c.toml");
  const auto own = fs::canonical(root / "conf/hondana.toml").string();
  const auto from = serve("paths = [\"conf\", \"conf/hondana.toml\"]\nname = \"conf\"\nwatch = false\n", {own});
  EXPECT_THAT(listed(*from), ElementsAre("config://conf/file", "config://conf/file/a.toml"));
  for (const auto* name : {"hondana.toml", "b.toml", "c.toml"}) {
    EXPECT_EQ(error_at(*from, std::string("config://conf/file/") + name), errc::resource_not_found) << name;
  }
}

TEST_F(confined_set, follows_a_folder_that_is_exchanged_as_a_whole) {
  write("conf/..2026_01/app.yaml", "a: 1\n");
  write("conf/..2026_02/app.yaml", "a: 2\n");
  fs::create_directory_symlink("..2026_01", root / "conf/..data");
  fs::create_symlink("..data/app.yaml", root / "conf/app.yaml");
  for (const auto* path : {"conf", "conf/app.yaml"}) {
    const auto from = serve("path = \"" + std::string(path) + "\"\nname = \"set\"\nwatch = false\n");
    EXPECT_THAT(listed(*from), ElementsAre("config://set/file", "config://set/file/app.yaml"));
    EXPECT_EQ(text_at(*from, "config://set/file/app.yaml?format=json"), R"({"a":1})");
    fs::create_directory_symlink("..2026_02", root / "conf/..data_tmp");
    fs::rename(root / "conf/..data_tmp", root / "conf/..data");
    EXPECT_EQ(text_at(*from, "config://set/file/app.yaml?format=json"), R"({"a":2})");
    fs::create_directory_symlink("..2026_01", root / "conf/..data_tmp");
    fs::rename(root / "conf/..data_tmp", root / "conf/..data");
  }
}

TEST_F(confined_set, declares_its_folders) {
  write("conf/app.toml", "x = 1\n");
  write("etc/b.yaml", "x: 1\n");
  const auto from = serve("paths = [\"conf\", \"etc/b.yaml\"]\nname = \"x\"\n");
  std::vector<std::string> paths;
  for (const auto& one : from->requirements().folders) paths.push_back(one.path);
  EXPECT_THAT(paths, ElementsAre((root / "conf").string(), (root / "etc").string()));
  EXPECT_EQ(from->traits().masking, secret_masking::by_source);
  EXPECT_THAT(from->claims(), ElementsAre("config://x"));
  for (const auto& one : from->templates()) EXPECT_TRUE(uri_template::compile(one.uri_template)) << one.uri_template;
}

TEST_F(confined_set, opens_a_folder_again_that_was_made_again) {
  write("conf/app.toml", "x = 1\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml"), "x = 1\n");
  fs::remove_all(root / "conf");
  EXPECT_EQ(error_at(*from, "config://conf/file/app.toml"), errc::source_unavailable);
  EXPECT_THAT(listed(*from), ElementsAre(HasSubstr("is gone")));
  write("conf/app.toml", "x = 2\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml"), "x = 2\n");
}

}  // namespace
}  // namespace hondana::config_files

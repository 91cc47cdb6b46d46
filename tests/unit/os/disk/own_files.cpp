/// Files of the server's own, and what may look like them.
#include "os/disk/private_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace hondana::disk {
namespace {

TEST(own_files, are_named_so_with_whatever_rotation_locks_and_editors_put_around_it) {
  const own_files own({"/srv/shelf/conf/hondana.toml", "/srv/shelf/audit.jsonl", "/srv/shelfs/other"}, "/srv/shelf");
  for (const char* path :
       {"conf/hondana.toml", "conf/hondana.toml~", "conf/hondana.toml-old", "conf/hondana.toml_old", "conf/hondana.toml.lock",
        "conf/.hondana.toml.swp", "conf/#hondana.toml#", "conf/.#hondana.toml", "audit.jsonl", "audit.jsonl.1",
        "audit.jsonl-20261122", "audit.jsonl-20261122.gz", "audit.jsonl-torn-7", "audit.jsonl.d/1"})
    EXPECT_TRUE(own.has_name(path)) << path;
  for (const char* path : {"hondana.toml", "conf/hondana.tomlet", "conf/my-hondana.toml", "conf", "other", "s/other",
                           "conf/audit.jsonl", "deep/conf/hondana.toml", "conf/#other#"})
    EXPECT_FALSE(own.has_name(path)) << path;
  EXPECT_TRUE(own_files({"/etc/passwd"}, "/").has_name("etc/passwd"));
  EXPECT_FALSE(own_files().has_name("a"));
}

TEST(own_files, are_the_same_under_other_names) {
  std::string folder = (std::filesystem::temp_directory_path() / "own-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto own_path = folder + "/tokens";
  std::ofstream(own_path) << "x";
  std::ofstream(folder + "/other") << "x";
  ASSERT_EQ(::link(own_path.c_str(), (folder + "/alias").c_str()), 0);
  ASSERT_EQ(::link((folder + "/other").c_str(), (folder + "/another").c_str()), 0);
  const own_files own({own_path, folder + "/missing"}, "/elsewhere");
  const auto facts_of = [&folder](const char* name) {
    struct stat facts{};
    EXPECT_EQ(::stat((folder + '/' + name).c_str(), &facts), 0);
    return facts;
  };
  EXPECT_TRUE(own.is_hard_link(facts_of("alias")));
  EXPECT_FALSE(own.is_hard_link(facts_of("another")));
  EXPECT_FALSE(own.is_hard_link(facts_of("")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hondana::disk

/// Folders that become links to what is outside while their repository is served.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/hostile_pair.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(git_swapped_places, a_work_tree_that_becomes_a_link_is_not_looked_into) {
  const hostile_pair pair;
  const auto above = pair.inside.above();
  std::filesystem::create_directory(above + "/base");
  std::filesystem::rename(pair.git_folder(), above + "/base/shelf");
  std::filesystem::create_directory(above + "/base/tree");
  append_to(above + "/base/shelf/config", "[core]\nworktree = " + above + "/base/tree\n");
  git_options with;
  with.folders = {above + "/base"};
  const served_repository shelf(with);
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("`a.txt`: deleted"));
  for (const std::string way : {"before", "after"}) {
    std::filesystem::rename(above + "/base/tree", above + "/base/aside");
    std::filesystem::create_directory_symlink(pair.outside.path(), above + "/base/tree");
    EXPECT_THAT(shelf.error("git://shelf/changes").public_text, Not(HasSubstr("secret"))) << way;
    EXPECT_THAT(shelf.error("git://shelf/overview").public_text, Not(HasSubstr("secret"))) << way;
    std::filesystem::remove(above + "/base/tree");
    std::filesystem::rename(above + "/base/aside", above + "/base/tree");
    EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("`a.txt`: deleted")) << way;
  }
}

TEST(git_swapped_places, a_folder_above_a_work_tree_that_becomes_a_link_is_not_followed) {
  const hostile_pair pair;
  const auto above = pair.inside.above();
  std::filesystem::create_directories(above + "/base/deep");
  std::filesystem::rename(pair.inside.path(), above + "/base/deep/shelf");
  std::filesystem::create_directory(above + "/elsewhere");
  std::filesystem::rename(pair.outside.path(), above + "/elsewhere/shelf");
  git_options with;
  with.folders = {above + "/base"};
  const served_repository shelf(with);
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr("first"));
  std::filesystem::rename(above + "/base/deep", above + "/base/aside");
  std::filesystem::create_directory_symlink(above + "/elsewhere", above + "/base/deep");
  for (const std::string uri : {"git://shelf/log", "git://shelf/changes", "git://shelf/tree/HEAD"})
    EXPECT_THAT(shelf.error(uri).public_text, Not(HasSubstr("secret"))) << uri;
}

TEST(git_swapped_places, the_list_of_work_trees_is_not_read_through_a_link) {
  const hostile_pair pair;
  std::filesystem::create_directories(pair.outside.path() + "/alice-secret");
  std::filesystem::create_directory_symlink(pair.outside.path(), pair.git_folder() + "/worktrees");
  const served_repository shelf(pair.inside);
  const auto why = shelf.error("git://shelf/worktrees");
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_THAT(why.public_text, HasSubstr(".git/worktrees"));
  EXPECT_THAT(why.public_text, Not(HasSubstr("alice")));
}

}  // namespace
}  // namespace hondana::git
